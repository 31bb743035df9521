"""What a search is to explain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mlmodelscope.plan.claim import Claim
from mlmodelscope.task.class_answer import ClassAnswer


@dataclass(frozen=True)
class Goal:
    """What is to be explained."""

    claim: Claim
    own: float
    """The plan's own number."""
    low: float
    high: float
    """What may be measured and still be what was claimed."""
    noise: float = 0.0
    """Standard deviation of a number measured here as a stand-in for the claim's dataset."""
    theirs: Mapping[int, ClassAnswer] | None = None
    """The claimant's own answers by sample, where they are known."""

    @property
    def gap(self) -> float:
        return self.claim.value - self.own
