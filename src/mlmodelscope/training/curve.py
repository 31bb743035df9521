"""The metrics in the course of a training, as its record keeps them."""

from __future__ import annotations

import math

from mlmodelscope.record.record import CurvePoint
from mlmodelscope.worker.client import Progress


class Curve:
    """The metrics in the course of a training.

    Neither JSON nor databases know NaN: a record with one could be written, but never be read again. A metric that is
    no finite number is left out, and when that began is remembered.
    """

    def __init__(self) -> None:
        self._points: list[CurvePoint] = []
        self.odd: dict[str, float] = {}

    def add(self, event: Progress, wall_s: float) -> None:
        finite = {name: value for name, value in event.metrics.items() if math.isfinite(value)}
        for name in event.metrics:
            if name not in finite:
                self.odd.setdefault(name, event.progress)
        at = event.at or {}
        self._points.append(
            CurvePoint(
                progress=event.progress,
                wall_s=at.get("wall_s", wall_s),
                metrics=finite,
                step=int(at["step"]) if at else None,
                epoch=at.get("epoch"),
                samples=int(at["samples"]) if at else None,
            )
        )

    def points(self) -> tuple[CurvePoint, ...]:
        return tuple(self._points)
