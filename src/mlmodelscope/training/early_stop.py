"""When a training is given up: most of the final result is there after a quarter of the way."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from mlmodelscope.errors import UsageError
from mlmodelscope.manifest.schema import ReferenceLog
from mlmodelscope.worker.client import Progress


@dataclass(frozen=True)
class EarlyStop:
    """When a training is given up."""

    at: float = 0.25
    """Share of the training after which its metric is compared with the reference's."""
    within: float = 0.1
    """How much worse than the reference it may be, as a share of the reference."""
    metric: str | None = None
    """Which metric; by default the first that both curves have, a quality before a loss."""


class Judge:
    """Compares a curve with the reference's, once, when enough of the training is done."""

    def __init__(self, log: ReferenceLog, rule: EarlyStop) -> None:
        self._log = log
        self._rule = rule
        self._curves: dict[str, list[tuple[float, float]]] = {}
        for point in log.curve:
            for name, value in point.metrics.items():
                if math.isfinite(value):
                    self._curves.setdefault(name, []).append((point.progress, value))
        if rule.metric is not None and rule.metric not in self._curves:
            raise UsageError(
                f"the curve of {log.reference} has no metric `{rule.metric}`\n"
                f"known: {', '.join(self._curves) or 'none, it has no curve'}",
            )
        self.compared = False

    def verdict(self, point: Progress) -> str | None:
        """Why the training should stop, or nothing. At its end there is nothing left to save."""
        if self.compared or not self._rule.at <= point.progress < 1:
            return None
        name = self._metric(point)
        expected = interpolate(self._curves[name], point.progress) if name is not None else None
        if name is None or expected is None:
            return None  # perhaps the next one can be compared
        self.compared = True
        found = point.metrics[name]
        if not self._is_worse(name, found, expected):
            return None
        return (
            f"at {100 * point.progress:.0f} % of the training {name} is {found:.4g} where {self._log.reference} had "
            f"{expected:.4g}: more than {100 * self._rule.within:.0f} % worse, so the rest is not worth its cost"
        )

    def _metric(self, point: Progress) -> str | None:
        shared = [name for name in point.metrics if name in self._curves]
        if self._rule.metric is not None:
            return self._rule.metric if self._rule.metric in shared else None
        return next((name for name in shared if not smaller_is_better(name)), shared[0] if shared else None)

    def _is_worse(self, name: str, found: float, expected: float) -> bool:
        if not math.isfinite(found):
            return True
        margin = self._rule.within * abs(expected)
        return found > expected + margin if smaller_is_better(name) else found < expected - margin


def smaller_is_better(name: str) -> bool:
    return any(word in name.lower() for word in ("loss", "error", "perplexity", "mse", "mae"))


def interpolate(points: Sequence[tuple[float, float]], at: float) -> float | None:
    """The curve's value at a moment, between its neighbours; nothing before its beginning."""
    ordered = sorted(points)
    if not ordered or at < ordered[0][0] - 1e-9:
        return None
    before = ordered[0]
    for point in ordered:
        if point[0] >= at:
            span = point[0] - before[0]
            return point[1] if span <= 0 else before[1] + (point[1] - before[1]) * (at - before[0]) / span
        before = point
    return before[1]
