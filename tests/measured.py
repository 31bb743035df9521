"""Numbers as records have them, made by hand."""

from mlmodelscope.record.number import MeasuredNumber
from mlmodelscope.types import Interval


def share(number: Interval, samples: int = 0) -> MeasuredNumber:
    return MeasuredNumber(
        value=number.value, low=number.low, high=number.high, confidence=number.confidence, samples=samples
    )
