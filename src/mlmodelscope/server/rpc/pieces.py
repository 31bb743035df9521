"""A file in pieces, each small enough for any client."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from mlmodelscope.ledger.tokens import Person
from mlmodelscope.server.desk import Desk
from mlmodelscope.server.rpc.asked import Asked

Stream = Callable[[Desk, Person, Asked], AsyncIterator[Mapping[str, Any]]]
PIECE = 1 << 20  # clients take 4 MiB at once unless they are told otherwise


def pieces(whole: bytes) -> list[Mapping[str, Any]]:
    return [{"data": whole[start : start + PIECE]} for start in range(0, len(whole), PIECE)]
