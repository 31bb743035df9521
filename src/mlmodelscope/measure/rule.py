"""What a task's ruler must do, and the rulers by the name of their tasks."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

Arrays = Mapping[str, np.ndarray]


class ScoreError(ValueError):
    """A target or an answer that cannot be scored; the sample fails with this reason."""


class Rule(Protocol):
    """How one task scores samples and sums scores up."""

    def score(self, arrays: Arrays, fields: Mapping[str, Any], target: Any, options: Mapping[str, Any]) -> bytes:
        """A few numbers about one sample, from its answer and what is true of it."""

    def numbers(self, scores: Sequence[bytes], names: Sequence[str], weights: np.ndarray | None) -> dict[str, float]:
        """Measures over samples, each counted as often as its weight says; what cannot be computed is left out."""

    def details(self, scores: Sequence[bytes]) -> dict[str, Any]:
        """What single numbers cannot tell."""


@runtime_checkable
class SpreadRule(Rule, Protocol):
    """A rule that knows how sure its numbers are, by a formula or by leaving samples out in turn."""

    def deviations(self, scores: Sequence[bytes], names: Sequence[str]) -> dict[str, float]:
        """Standard deviation of each number; what cannot be computed is left out."""


_OURS = {
    "object_detection": "mlmodelscope.measure.detection",
    "semantic_segmentation": "mlmodelscope.measure.segmentation",
    "image_enhancement": "mlmodelscope.measure.enhancement",
    "instance_segmentation": "mlmodelscope.measure.instances",
    "keypoint_detection": "mlmodelscope.measure.keypoints",
    "multilabel_classification": "mlmodelscope.measure.multilabel",
}


def rule_of(task: str) -> Rule:
    """The rule of a task; a package of somebody else names its own module."""
    module = importlib.import_module(_OURS.get(task, task))
    found: Rule = module.RULE
    return found


def scores_of(
    rule: Rule, items: Sequence[tuple[Arrays, Mapping[str, Any], Any]], options: Mapping[str, Any]
) -> list[bytes | ScoreError]:
    """A score for each sample, or why there is none; a rule may be quicker with some samples at once."""
    together = getattr(rule, "score_together", None)
    if together is not None:
        found: list[bytes | ScoreError] = together(items, options)
        return found
    found = []
    for arrays, fields, target in items:
        try:
            found.append(rule.score(arrays, fields, target, options))
        except ScoreError as error:
            found.append(error)
    return found
