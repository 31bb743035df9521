"""Why some work lies above the machine's roof, though the roof is called the best."""

from __future__ import annotations

from collections.abc import Sequence

from mlmodelscope.analysis.measured import ABOVE, CACHE, Work
from mlmodelscope.report import words


def above_roof_notes(works: Sequence[Work], what: str) -> list[str]:
    """`what` is one of them, such as a layer."""
    cached, above = (sum(work.bound == bound for work in works) for bound in (CACHE, ABOVE))
    notes = []
    if cached:
        notes.append(
            f"{words.plural(cached, what)} of {len(works)} moved bytes faster than memory can: they came from a cache "
            "(bound by: cache), so the best is that of arithmetic alone"
        )
    if above:
        notes.append(
            f"{words.plural(above, what)} of {len(works)} computed faster than the machine's measured best, so no "
            "share of it is given: they need fewer operations than we count, as Winograd's convolutions do, or the "
            "machine was busy when its best was measured; profile again when it is quiet"
        )
    return notes
