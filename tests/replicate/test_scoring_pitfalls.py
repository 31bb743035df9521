"""How texts, scores and forecasts are compared: what else may have been meant, and for which tasks."""

from __future__ import annotations

from typing import Any

import pytest

from mlmodelscope.plan.plan import Plan
from mlmodelscope.replicate.pitfall import PITFALLS
from mlmodelscope.replicate.pitfall.scoring import NORMALIZATIONS
from mlmodelscope.task.task import task_named

from .planned import plan_of


def of_task(task: str, **measure: Any) -> Plan:
    plan = plan_of("drawn-maps", "scenes")
    return plan.model_copy(update={"task": task, "measure": task_named(task).settle(measure)})


def edits(name: str, plan: Plan) -> dict[str, dict[str, Any]]:
    """What each edit changes about how answers are scored."""
    found = {}
    for words, other in PITFALLS[name].edits(plan):
        task_named(plan.task).settle(other.measure)  # an option that exists, with a value that it may have
        found[words] = {key: value for key, value in other.measure.items() if value != plan.measure.get(key)}
    return found


def test_text_normalization_of_speech_has_the_usual_forms() -> None:
    found = edits("text-normalization", of_task("speech_recognition"))
    assert len(found) == len(NORMALIZATIONS) - 1
    assert found["texts compared lower case"] == {"normalization": ["lowercase", "squeeze_spaces"]}
    lower = of_task("speech_recognition", normalization=["lowercase", "squeeze_spaces"])
    assert edits("text-normalization", lower)["texts compared as they are"] == {"normalization": []}


def test_text_normalization_of_answers_and_translations() -> None:
    assert edits("text-normalization", of_task("question_answering")) == {
        "texts compared as they are": {"normalization": "none"}
    }
    found = edits("text-normalization", of_task("translation"))
    assert found == {"capitals taken for small letters": {"lowercase": True}, "stems compared": {"stemming": True}}


def test_bleu_tokens() -> None:
    found = edits("bleu-tokens", of_task("translation"))
    assert found["words by `char`"] == {"tokenize": "char"} and found["smoothing `none`"] == {"smoothing": "none"}


@pytest.mark.parametrize(
    ("task", "words", "value"),
    [
        ("speech_recognition", "the mean of the utterances' rates", "utterances"),
        ("anomaly_detection", "all samples of all groups together", "pooled"),
    ],
)
def test_averaging(task: str, words: str, value: str) -> None:
    assert edits("averaging", of_task(task))[words] == {"averaging": value}


def test_partial_auc() -> None:
    found = edits("partial-auc", of_task("anomaly_detection"))
    assert found["area by its width"] == {"standardized": False}
    assert found["up to 20 % of false alarms"] == {"max_fpr": 0.2}


def test_seasonality() -> None:
    assert edits("seasonality", of_task("time_series_forecasting"))["a season of 12"] == {"season": 12}


def test_candidate_ties() -> None:
    found = edits("candidate-ties", of_task("recommendation"))
    assert found["ties in its favor"] == {"ties": "in favor"} and found["the first 5 looked at"] == {"k": 5}


def test_vector_comparison() -> None:
    found = edits("vector-comparison", of_task("embedding"))
    assert found["compared by dot"] == {"similarity": "dot"}


@pytest.mark.parametrize("task", ["classification", "object_detection", "image_enhancement", "regression"])
def test_other_tasks_have_none_of_them(task: str) -> None:
    plan = of_task(task)
    ours = [name for name, each in PITFALLS.items() if each.edits.__module__.endswith(".scoring")]
    assert len(ours) == 7 and not any(edits(name, plan) for name in ours)
