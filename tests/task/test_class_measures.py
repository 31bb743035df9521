"""Further measures of classes are those of scikit-learn, and say what they lack."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from sklearn import metrics

from mlmodelscope.errors import MetricError
from mlmodelscope.task.class_answer import CLASS_TASKS, ClassAnswer
from mlmodelscope.task.measure import MEASURES, find_measure
from mlmodelscope.task.task import Terms, task_named

OF_SCORES = ("log-loss", "brier", "roc-auc", "roc-auc-ovr")
ALL = ("class-f1", "class-f1-micro", "class-f1-macro", "class-f1-weighted", "mcc", "class-accuracy", *OF_SCORES)
Rows = list[tuple[int, ClassAnswer | None]]


def drawn(seed: int, classes: int, samples: int = 80) -> tuple[np.ndarray, np.ndarray, Rows]:
    """(labels, probabilities, rows with all of them); many probabilities are equal."""
    chance = np.random.default_rng(seed)
    labels = chance.integers(0, classes, samples)
    labels[:classes] = np.arange(classes)
    counts = chance.integers(1, 9, (samples, classes)) + 4.0 * (labels[:, None] == np.arange(classes))
    probable = counts / counts.sum(axis=1, keepdims=True)
    return labels, probable, [(int(label), answer(row)) for label, row in zip(labels, probable, strict=True)]


def answer(probable: Sequence[float], kept: int | None = None) -> ClassAnswer:
    order = sorted(range(len(probable)), key=lambda at: -probable[at])[:kept]
    return ClassAnswer(tuple(order), tuple(float(probable[at]) for at in order))


def measured(rows: Rows, *names: str) -> list[float]:
    return [MEASURES[name].number(rows) for name in names]


@pytest.mark.parametrize("classes", [2, 3, 7])
@pytest.mark.parametrize("seed", range(5))
def test_counts_of_classes_give_the_numbers_of_scikit_learn(seed: int, classes: int) -> None:
    labels, probable, rows = drawn(seed, classes)
    said = probable.argmax(axis=1)
    averages = ("micro", "macro", "weighted")
    found = measured(rows, *(f"class-f1-{each}" for each in averages), "mcc", "class-accuracy")
    expected = [metrics.f1_score(labels, said, average=each, zero_division=0) for each in averages]
    expected += [metrics.matthews_corrcoef(labels, said), metrics.balanced_accuracy_score(labels, said)]
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_two_classes_give_the_numbers_of_scikit_learn(seed: int) -> None:
    labels, probable, rows = drawn(seed, 2)
    expected = [
        metrics.f1_score(labels, probable.argmax(axis=1)),
        metrics.log_loss(labels, probable),
        metrics.brier_score_loss(labels, probable[:, 1]),
        metrics.roc_auc_score(labels, probable[:, 1]),
    ]
    assert measured(rows, "class-f1", "log-loss", "brier", "roc-auc") == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("classes", [3, 7])
@pytest.mark.parametrize("seed", range(5))
def test_probabilities_of_several_classes_give_the_numbers_of_scikit_learn(seed: int, classes: int) -> None:
    labels, probable, rows = drawn(seed, classes)
    expected = [
        metrics.log_loss(labels, probable),
        metrics.brier_score_loss(labels, probable),
        metrics.roc_auc_score(labels, probable, multi_class="ovr", average="macro"),
    ]
    assert measured(rows, "log-loss", "brier", "roc-auc-ovr") == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("labels", [[0, 0, 0], [1, 1, 1], [0, 1, 0]])
@pytest.mark.parametrize("said", [0, 1])
def test_a_model_that_always_says_the_same_has_the_numbers_of_scikit_learn(labels: list[int], said: int) -> None:
    rows: Rows = [(label, ClassAnswer((said, 1 - said), (1.0, 0.0))) for label in labels]
    answers = [said] * len(labels)
    expected = [
        metrics.f1_score(labels, answers, zero_division=0),
        metrics.f1_score(labels, answers, average="macro", zero_division=0),
        0.0,
        metrics.log_loss(labels, [[1.0 - said, float(said)]] * len(labels), labels=[0, 1]),
    ]
    assert measured(rows, "class-f1", "class-f1-macro", "mcc", "log-loss") == pytest.approx(expected, abs=1e-12)


def test_one_class_alone_has_no_roc_curve() -> None:
    rows: Rows = [(0, ClassAnswer((0, 1), (0.75, 0.25)))] * 3
    with pytest.raises(MetricError, match="no label is the class 1"):
        MEASURES["roc-auc"].number(rows)
    with pytest.raises(MetricError, match="every label is the class 0"):
        MEASURES["roc-auc-ovr"].number(rows)


def test_a_sample_that_failed_was_not_found() -> None:
    rows: Rows = [(1, None), (1, ClassAnswer((1, 0), (0.9, 0.1))), (0, ClassAnswer((0, 1), (0.9, 0.1)))]
    assert measured(rows, "class-f1", "class-f1-micro") == pytest.approx([2 / 3, 4 / 5])


@pytest.mark.parametrize("name", OF_SCORES)
def test_scores_that_were_not_kept_are_the_reason_and_there_is_a_way_out(name: str) -> None:
    labels, probable, _ = drawn(0, 7)
    rows: Rows = [(int(label), answer(row, kept=3)) for label, row in zip(labels, probable, strict=True)]
    with pytest.raises(MetricError, match="evaluate with a larger --top-k"):
        MEASURES[name].number(rows)


def test_a_label_that_no_output_stands_for_is_named() -> None:
    rows: Rows = [(5, ClassAnswer((0, 1), (0.9, 0.1)))]
    with pytest.raises(MetricError, match="no score for the class 5"):
        MEASURES["brier"].number(rows)
    with pytest.raises(MetricError, match="there is a class 5"):
        MEASURES["class-f1"].number(rows)


def tallied(task: str, rows: Any, *claimed: str, **parameters: Any) -> Any:
    tally = task_named(task).tally(Terms({"top_k": 5, "probabilities": True, **parameters}, claimed=claimed))
    tally.take(rows)
    return tally.outcome()


@pytest.mark.parametrize("task", CLASS_TASKS)
def test_records_keep_them_where_they_are_claimed(task: str) -> None:
    _, _, rows = drawn(1, 2)
    assert not {*ALL} & {*tallied(task, rows).numbers}
    found = tallied(task, rows, *ALL)
    assert {*ALL} <= {*found.numbers} and not {*ALL} & {*found.refused}
    assert found.numbers["top1"].value == tallied("classification", rows).numbers["top1"].value


def test_logits_and_too_few_scores_are_refused_for_what_is_claimed_alone() -> None:
    _, _, rows = drawn(1, 7)
    kept = [(label, ClassAnswer(own.classes[:5], own.scores[:5])) for label, own in rows if own is not None]
    found = tallied("text_classification", kept, "brier", "roc-auc-ovr")
    assert "--top-k" in found.refused["brier"] and "--top-k" in found.refused["roc-auc-ovr"]
    assert "log-loss" not in found.refused
    found = tallied("text_classification", rows, "log-loss", probabilities=False)
    assert "softmax" in found.refused["log-loss"] and "brier" not in found.refused


def test_intervals_are_drawn_though_some_draws_lack_a_class() -> None:
    rows: Rows = [(at % 4 == 0, answer([0.6, 0.4] if at % 3 else [0.3, 0.7])) for at in range(8)]
    found = MEASURES["roc-auc"].interval(rows)
    assert 0 <= found.low < found.value < found.high <= 1
    assert MEASURES["roc-auc"].difference(rows, rows)[0] == 0.0


@pytest.mark.parametrize(
    ("published", "name"), [("Matthews_corrcoef", "mcc"), ("balanced-accuracy", "class-accuracy"), ("AUROC", "roc-auc")]
)
def test_they_are_found_by_what_papers_call_them(published: str, name: str) -> None:
    found = find_measure(published)
    assert found is not None and found.name == name


@pytest.mark.parametrize("task", CLASS_TASKS)
def test_the_family_has_one_table_one_headline_and_one_set_of_measures(task: str) -> None:
    own, first = task_named(task), task_named("classification")
    assert (own.name, own.columns, own.headline, own.roles) == (task, first.columns, first.headline, first.roles)
    assert [each.name for each in own.measures] == [each.name for each in first.measures] and not own.is_ruled
