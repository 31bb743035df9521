"""Answers of two stacks: whether rounding explains how far they are apart."""

import math

import pytest

from mlmodelscope.analysis.answer_distance import AnswerDistance, Told, answer_distance


def classes(**scores: float) -> Told:
    order = sorted(scores, key=lambda name: -scores[name])
    return Told([int(name[1:]) for name in order], [scores[name] for name in order])


def judged(one: Told, other: Told, precision: str = "float32") -> AnswerDistance:
    return answer_distance([(one, other)], precision)


def test_the_last_digits_are_rounding_and_more_is_a_fault() -> None:
    first = classes(c1=12.0, c2=3.0)
    assert judged(first, first).judgment == "same bits"
    assert judged(first, classes(c1=12.0001, c2=3.0)).judgment == "rounding"
    assert judged(first, classes(c1=12.005, c2=3.0)).judgment == "unclear"
    found = judged(first, classes(c1=12.5, c2=3.0))
    assert (found.judgment, found.largest) == ("fault", 0.5)
    assert found.relative == pytest.approx(0.5 / 12.5)


def test_a_coarser_type_may_be_further_apart() -> None:
    first, second = classes(c1=12.0, c2=3.0), classes(c1=12.05, c2=3.0)
    assert judged(first, second).judgment == "fault"
    assert judged(first, second, "float16").judgment == "rounding"
    assert judged(first, classes(c1=12.4, c2=3.0), "int8").judgment == "rounding"


def test_two_classes_that_changed_places_by_rounding_are_no_fault() -> None:
    assert judged(classes(c1=0.400001, c2=0.4), classes(c1=0.4, c2=0.400001)).judgment == "rounding"


def test_a_class_that_only_one_side_kept_is_as_far_as_the_least_that_the_other_kept() -> None:
    found = judged(classes(c1=0.5, c2=0.3), classes(c1=0.5, c3=0.1))
    assert found.largest == pytest.approx(0.2) and found.judgment == "fault"


def test_a_score_that_is_not_a_number_is_a_fault() -> None:
    found = judged(classes(c1=0.5, c2=0.3), classes(c1=math.nan, c2=0.3))
    assert found.judgment == "fault" and found.largest == math.inf
    both = judged(classes(c1=math.nan, c2=0.3), Told([1, 2], [float("nan"), 0.3]))
    assert both.largest == 0.0


def box(score: float, left: float = 10.0, label: int = 3) -> dict[str, object]:
    return {"class": label, "score": score, "box": [left, 20.0, 300.0, 400.0]}


def test_scores_are_compared_with_scores_and_places_with_places() -> None:
    """A score that is off by 0.1 is far, though a place may be 400."""
    first = Told(answer=[box(0.9)])
    assert judged(first, Told(answer=[box(0.9, left=10.0001)])).judgment == "rounding"
    assert judged(first, Told(answer=[box(0.8)])).judgment == "fault"


def test_answers_of_another_build_are_unclear_not_equal() -> None:
    """A threshold lets rounding add a box: numbers alone do not tell."""
    first = Told(answer=[box(0.9)])
    found = judged(first, Told(answer=[box(0.9), box(0.5)]))
    assert (found.judgment, found.reshaped) == ("unclear", 1) and "number of things" in found.words
    assert judged(first, Told(answer=[box(0.9, label=4)])).reshaped == 1
    assert judged(Told(answer="a word"), Told(answer="a ward")).judgment == "unclear"


def test_nothing_to_compare_and_only_zeros_do_not_fail() -> None:
    assert answer_distance([], "float32").judgment == "same bits"
    assert judged(Told([1], [0.0]), Told([1], [-0.0])).largest == 0.0
