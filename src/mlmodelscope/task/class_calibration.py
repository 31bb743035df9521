"""Calibration: does a confidence of 80 % mean right in 80 of 100 cases?"""

from __future__ import annotations

from typing import Any

from mlmodelscope.errors import MetricError
from mlmodelscope.task.class_answer import ClassAnswer


class Calibration:
    """Expected calibration error over 15 equal bins of confidence, and the bins themselves."""

    bins = 15

    def __init__(self) -> None:
        self._count = [0] * self.bins
        self._right = [0] * self.bins
        self._confidence = [0.0] * self.bins

    def update(self, label: int, answer: ClassAnswer) -> None:
        confidence = min(max(answer.scores[0], 0.0), 1.0)
        index = min(int(confidence * self.bins), self.bins - 1)
        self._count[index] += 1
        self._right[index] += answer.classes[0] == label
        self._confidence[index] += confidence

    def compute(self) -> dict[str, Any]:
        seen = sum(self._count)
        if not seen:
            raise MetricError("a calibration error of no samples is not a number")
        filled = [index for index in range(self.bins) if self._count[index]]
        error = sum(abs(self._right[index] - self._confidence[index]) for index in filled) / seen
        return {
            "ece": error,
            "bins": [
                {
                    "low": index / self.bins,
                    "high": (index + 1) / self.bins,
                    "count": self._count[index],
                    "confidence": self._confidence[index] / self._count[index],
                    "accuracy": self._right[index] / self._count[index],
                }
                for index in filled
            ],
        }


class CalibrationError(Calibration):
    """The expected calibration error alone."""

    def compute(self) -> float:  # type: ignore[override]
        error: float = super().compute()["ece"]
        return error
