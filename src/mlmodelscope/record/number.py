"""A number that was measured, with its interval and what it counts."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from mlmodelscope.types import Interval


class Part(BaseModel):
    """Of a record: frozen, and unknown fields are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class MeasuredNumber(Part):
    """A number over all samples that did not fail."""

    value: float
    title: str = Field(default="", description="What people call it.")
    low: float | None = Field(default=None, description="Lower end of its interval, where it has one.")
    high: float | None = None
    confidence: float = Field(default=0.95, description="How sure the interval is.")
    unit: str = Field(default="share", description="`share` is a number between 0 and 1.")
    better: Literal["higher", "lower"] = "higher"
    samples: int = Field(default=0, description="Samples that it is made of.")

    @property
    def interval(self) -> Interval | None:
        if self.low is None or self.high is None:
            return None
        return Interval(self.value, self.low, self.high, self.confidence)
