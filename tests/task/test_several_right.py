"""Samples of which several classes are right, as ImageNet-ReaL has them: an answer is right that is any of them."""

import pytest

from mlmodelscope.dataset.sample import Sample
from mlmodelscope.task.class_answer import ClassAnswer, label_of
from mlmodelscope.task.measure import find_measure
from mlmodelscope.task.task import Terms, task_named

ANSWERS = [
    ([3, 8], ClassAnswer((8, 3, 1, 2, 4), (0.5, 0.2, 0.1, 0.1, 0.1))),
    ([3, 8], ClassAnswer((1, 2, 4, 3, 5), (0.5, 0.2, 0.1, 0.1, 0.1))),
    ([0], ClassAnswer((0, 1, 2, 3, 4), (0.9, 0.1, 0.0, 0.0, 0.0))),
    ([6, 7], ClassAnswer((0, 1, 2, 3, 4), (0.9, 0.1, 0.0, 0.0, 0.0))),
]


def right(k: int) -> float:
    """As the authors of the labels count: any of the first k answers is any of the labels."""
    return sum(any(each in target for each in answer.classes[:k]) for target, answer in ANSWERS) / len(ANSWERS)


@pytest.mark.parametrize(("name", "k"), [("top1", 1), ("top5", 5)])
def test_accuracies_are_those_of_the_authors(name: str, k: int) -> None:
    tally = task_named("classification").tally(Terms())
    tally.take(ANSWERS)
    assert tally.outcome().numbers[name].value == right(k)
    measure = find_measure(name)
    assert measure is not None and measure.number(ANSWERS) == right(k)
    error = find_measure(f"{name}-error")
    assert error is not None and error.number(ANSWERS) == pytest.approx(1 - right(k))


@pytest.mark.parametrize("name", ["class-accuracy", "ece", "log-loss", "class-f1-macro"])
def test_other_measures_take_the_likeliest_of_the_right_classes(name: str) -> None:
    measure = find_measure(name)
    assert measure is not None
    whole = [(label_of(target, answer), answer) for target, answer in ANSWERS[:3]]
    assert measure.number(ANSWERS[:3]) == measure.number(whole)


def test_a_record_keeps_the_class_that_the_sample_counted_as() -> None:
    values = task_named("classification").values
    assert [values(*each, None)["label"] for each in ANSWERS] == [8, 3, 0, 6]
    assert [values(*each, None)["right"] for each in ANSWERS] == [True, False, True, False]
    assert values([3, 8], None, None)["label"] == 3


def test_a_class_that_ties_with_the_last_one_kept_is_likelier_than_one_that_is_lower() -> None:
    answer = ClassAnswer((1, 2), (0.4, 0.2), tied=((7, 9),))
    assert label_of([5, 8], answer) == 8 and label_of([5, 6], answer) == 5 and label_of([5, 2], answer) == 2


def test_a_sample_counts_as_one_class_for_each_answer() -> None:
    sample = Sample("a", {}, "", [3, 8])
    assert sample.label == 3 and sample.label_for(ANSWERS[0][1]) == 8 and sample.label_for(None) == 3
