"""How good the answer to one sample is, from 0 to 1, so that samples can be sorted: a fact of its score.

A rule of `measure/` that packs a fact `quality` with its scores has its samples sorted; nothing else is needed.
"""

from __future__ import annotations

from mlmodelscope.measure.facts import facts_of


def quality_of(score: bytes | None) -> float | None:
    """None where there is no score, or one that says nothing of it."""
    found = facts_of(score).get("quality") if score else None
    return float(found) if isinstance(found, int | float) else None
