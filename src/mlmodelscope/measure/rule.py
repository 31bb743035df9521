"""What a task's rule must do, and the rules by the name of their tasks."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np

from mlmodelscope.errors import MetricError
from mlmodelscope.measure.facts import facts_of
from mlmodelscope.plugins.registry import Registry
from mlmodelscope_worker.registry import add

Arrays = Mapping[str, np.ndarray]
Made = TypeVar("Made", bound="type[Rule]")
_LONGEST_REASON = 300


class ScoreError(ValueError):
    """A target or an answer that cannot be scored; the sample fails with this reason."""


@runtime_checkable
class Rule(Protocol):
    """How one task scores samples and sums scores up.

    A rule may also have `without_interval`, names of measures that no interval can be given for, and
    `reasons(scores, names)`, which says by name why these measures cannot be computed of these scores. Where samples
    are right or wrong, `counts(scores, names)` gives (right, all) by name, and the interval follows from that.
    """

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


RULES: Registry[Any] = Registry(
    "rule",
    "rules",
    {},
    object,
    type,
    names="[a-z][a-z0-9_]*",
    built_in={
        "object_detection": "mlmodelscope.measure.detection",
        "semantic_segmentation": "mlmodelscope.measure.segmentation",
        "image_enhancement": "mlmodelscope.measure.enhancement",
        "instance_segmentation": "mlmodelscope.measure.instances",
        "keypoint_detection": "mlmodelscope.measure.keypoints",
        "multilabel_classification": "mlmodelscope.measure.multilabel",
        "regression": "mlmodelscope.measure.regression",
        "tabular_regression": "mlmodelscope.measure.regression",
        "time_series_forecasting": "mlmodelscope.measure.forecasting",
        "text_similarity": "mlmodelscope.measure.similarity",
        "anomaly_detection": "mlmodelscope.measure.anomaly",
        "embedding": "mlmodelscope.measure.embedding",
        "recommendation": "mlmodelscope.measure.recommendation",
        "token_classification": "mlmodelscope.measure.tokens",
        "question_answering": "mlmodelscope.measure.answering",
        "translation": "mlmodelscope.measure.translation",
        "summarization": "mlmodelscope.measure.translation",
        "speech_recognition": "mlmodelscope.measure.speech",
        "multiple_choice": "mlmodelscope.measure.choice",
        "language_modeling": "mlmodelscope.measure.likelihood",
        "text_generation": "mlmodelscope.measure.generation",
    },
)
"""Rules of ours and of installed packages; only the measuring process loads them."""


def task_rule(task: str) -> Callable[[Made], Made]:
    """Register a class, made without arguments, as the rule of a task."""

    def register(made: Made) -> Made:
        rule = made()
        if not isinstance(rule, Rule):
            raise TypeError(f"{made!r} is registered as a rule and lacks `score`, `numbers` or `details`")
        add(RULES.things, task, rule, RULES.code)
        return made

    return register


def rule_of(task: str) -> Rule:
    """The rule of a task; PluginError where the package that has it is broken."""
    found: Rule | None = RULES.find(task)
    if found is None:
        raise MetricError(
            f"no rule says how answers for `{task}` are scored",
            hint="the package that adds the task needs an entry point in mlmodelscope.rules: docs/extend.md",
        )
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


def reasons_of(rule: Rule, scores: Sequence[bytes], names: Sequence[str]) -> dict[str, str]:
    """Why numbers are left out, where the rule can tell: its `reasons`, by the names of the measures."""
    told = getattr(rule, "reasons", None)
    found = told(scores, names) if told is not None and names else {}
    return {str(name): str(reason)[:_LONGEST_REASON] for name, reason in found.items()}


def refuse_scores(told: Sequence[bytes | ScoreError], due: int) -> None:
    """A stranger's scores that the host could not read."""
    if len(told) != due:
        raise ValueError(f"it gave {len(told)} scores for {due} samples")
    for each in told:
        if isinstance(each, ScoreError):
            continue
        try:
            quality = facts_of(each).get("quality", 0.0)
        except Exception:  # whatever it is, `pack` did not write it
            raise ValueError(f"its score {str(each)[:60]} was not made by mlmodelscope.measure.pack") from None
        if not isinstance(quality, int | float) or not 0 <= quality <= 1:
            raise ValueError(f"the quality of a sample is {str(quality)[:60]}, which is not between 0 and 1")


def refuse_numbers(found: Mapping[str, Any], details: Mapping[str, Any]) -> None:
    """A stranger's numbers that no record could keep; one that cannot be computed is to be left out."""
    for name, value in found.items():
        if not isinstance(value, int | float) or not math.isfinite(value):
            raise ValueError(f"it computed {str(value)[:60]} for `{name}`, which is not a finite number")
    try:
        json.dumps(details, allow_nan=False)
    except (ValueError, TypeError, RecursionError) as error:
        raise ValueError(f"its details are not JSON: {str(error)[:200]}") from None
