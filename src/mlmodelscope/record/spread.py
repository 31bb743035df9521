"""How latencies of several records spread: counted in the same bins, so that one can be laid over the other."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any

_BINS = 60
_TAIL = 0.995
"""What is longer than this share of a record's latencies would press all the others together: it is counted beside."""
_FAR_APART = 8.0
"""Times; from here on bins grow with what they hold."""


def spread(known: Mapping[str, Sequence[float]]) -> dict[str, Any]:
    """Seconds by record, as shares of each in bins that all have in common."""
    ordered = {name: sorted(values) for name, values in known.items()}
    low = min(values[0] for values in ordered.values())
    high = max(values[min(len(values) - 1, int(_TAIL * len(values)))] for values in ordered.values())
    grows = low > 0 and high / low > _FAR_APART
    edges = _edges(low, high, grows)
    return {
        "edges_s": edges,
        "logarithmic": grows,
        "items": [
            {
                "record": name,
                "count": len(values),
                "shares": _shares(values, edges),
                "longer": sum(value > edges[-1] for value in values) / len(values),
                "longest_s": values[-1],
            }
            for name, values in ordered.items()
        ],
    }


def _edges(low: float, high: float, grows: bool) -> list[float]:
    if high <= low:
        low, high = low * 0.99, low * 1.01 or 1.0
    if grows:
        step = math.log(high / low) / _BINS
        return [low * math.exp(step * place) for place in range(_BINS)] + [high]
    return [low + (high - low) * place / _BINS for place in range(_BINS)] + [high]


def _shares(values: Sequence[float], edges: Sequence[float]) -> list[float]:
    counts = [0] * (len(edges) - 1)
    for value in values:
        if value <= edges[-1]:
            counts[min(len(counts) - 1, max(0, bisect_right(edges, value) - 1))] += 1
    return [count / len(values) for count in counts]
