"""How good the answer to one sample is, from 0 to 1, so that samples can be sorted: a fact of its score.

A rule of `measure/` that packs a fact `quality` with its scores has its samples sorted; nothing else is needed.
"""

from __future__ import annotations

import struct

from mlmodelscope.measure.facts import facts_of


def quality_of(score: bytes | None) -> float | None:
    """None where there is no score, or one that says nothing of it, or is damaged."""
    try:
        found = float(facts_of(score)["quality"]) if score else None
    except (ValueError, TypeError, LookupError, OverflowError, RecursionError, struct.error):  # a stranger's
        return None
    return found if found is not None and 0 <= found <= 1 else None
