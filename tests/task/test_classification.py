"""The measures of classification count right, and refuse to speak of nothing."""

import pytest

from mlmodelscope.errors import MetricError
from mlmodelscope.task.class_accuracy import Confusion, PerClass
from mlmodelscope.task.class_answer import ClassAnswer
from mlmodelscope.task.class_calibration import Calibration
from mlmodelscope.task.measure import CountedMeasure, find_measure
from mlmodelscope.task.task import Terms, task_named


def said(*classes: int, score: float = 1.0) -> ClassAnswer:
    return ClassAnswer(classes, (score,) * len(classes))


def test_top_1_and_top_5_count_what_they_say() -> None:
    rows = [(label, said(3, 1, 2, 4, 5, score=0.2)) for label in (3, 1, 9, 5)]
    found = {each.name: each.number(rows) for each in task_named("classification").measures if each.outcome is not None}
    assert found == {"top1": 0.25, "top5": 0.75, "top1-error": 0.75, "top5-error": 0.25}


@pytest.mark.parametrize("each", task_named("classification").measures, ids=lambda each: each.name)
def test_every_measure_refuses_on_no_data(each: CountedMeasure) -> None:
    with pytest.raises(MetricError, match="is not a number"):
        each.make().compute()
    with pytest.raises(MetricError, match="of no samples is not a number"):
        each.interval([])


@pytest.mark.parametrize("name", ["top1", "Top-1", "top_1", "ACC@1", "accuracy"])
def test_a_measure_is_found_however_it_is_spelled(name: str) -> None:
    found = find_measure(name)
    assert found is not None and found.name == "top1"


def test_an_accumulator_and_the_outcome_of_each_sample_count_the_same() -> None:
    rows = [(label % 7, said(*((label + shift) % 11 for shift in range(5)))) for label in range(50)]
    for each in task_named("classification").measures:
        assert isinstance(each, CountedMeasure)
        if each.name in ("class-f1", "log-loss", "brier", "roc-auc", "roc-auc-ovr"):
            with pytest.raises(MetricError):  # there are many classes, and the scores of some are not kept
                each.number(rows)
            continue
        accumulator = each.make()
        for target, answer in rows:
            accumulator.update(target, answer)
        computed = accumulator.compute()
        assert getattr(computed, "value", computed) == pytest.approx(each.number(rows), abs=1e-15)


def test_a_sample_that_failed_counts_as_wrong_in_a_share_and_in_the_mean_of_the_classes() -> None:
    rows = [(1, None), (1, said(1)), (2, said(2))]
    known = {each.name: each for each in task_named("classification").measures}
    assert known["top1"].number(rows) == pytest.approx(2 / 3) and known["top1-error"].number(rows) == pytest.approx(
        1 / 3
    )
    assert known["class-accuracy"].number(rows) == 0.75


def test_per_class_counts_each_class() -> None:
    found = PerClass()
    for label, answer in ((0, 0), (0, 1), (2, 2)):
        found.update(label, said(answer))
    assert found.compute() == [{"class": 0, "right": 1, "seen": 2}, {"class": 2, "right": 1, "seen": 1}]


def test_confusion_lists_the_most_frequent_mistakes_first() -> None:
    found = Confusion()
    for label, answer in ((0, 1), (0, 1), (5, 6), (7, 7)):
        found.update(label, said(answer))
    assert found.compute() == [{"label": 0, "answer": 1, "count": 2}, {"label": 5, "answer": 6, "count": 1}]


def test_a_model_that_is_as_sure_as_it_is_right_has_no_calibration_error() -> None:
    found = Calibration()
    for index in range(10):
        found.update(0, said(0 if index < 8 else 1, score=0.8))
    assert found.compute()["ece"] == pytest.approx(0)


def test_a_model_that_is_always_sure_and_always_wrong_has_the_largest_one() -> None:
    found = Calibration()
    found.update(0, said(1))
    assert found.compute()["ece"] == pytest.approx(1)


def test_what_the_answers_do_not_suffice_for_is_refused_with_the_reason() -> None:
    tally = task_named("classification").tally(Terms({"top_k": 2, "probabilities": False}))
    tally.take([(1, said(1, 2))])
    found = tally.outcome()
    assert set(found.numbers) == {"top1"} and "only the 2 best" in found.refused["top5"]
    assert "softmax" in found.refused["ece"] and "softmax" in found.refused["calibration"]


def test_a_task_that_nobody_declared_has_no_numbers() -> None:
    found = task_named("reinforcement_learning")
    tally = found.tally(Terms())
    tally.take([(1, "anything")])
    assert (tally.outcome().numbers, found.measures, found.headline) == ({}, [], ())
