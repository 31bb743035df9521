"""What the host reads of a score without numpy: the few facts in its header."""

from __future__ import annotations

import json
import struct
from typing import Any

HEAD = struct.Struct("<I")


def facts_of(score: bytes) -> dict[str, Any]:
    """`quality` is how good the answer is for this one sample, between 0 and 1."""
    (length,) = HEAD.unpack_from(score)
    facts: dict[str, Any] = json.loads(score[HEAD.size : HEAD.size + length])[1]
    return facts
