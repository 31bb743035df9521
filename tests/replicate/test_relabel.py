"""Answers under another name: offsets and orders of labels need no new call of the model."""

import pytest

from mlmodelscope.dataset.sample import Dataset
from mlmodelscope.plan.plan import PlannedAnswer
from mlmodelscope.replicate.relabel import ORDERS, relabelled
from mlmodelscope.task.class_answer import ClassAnswer as Answer

TWELVE = [f"class {number}" for number in range(12)]


def output(offset: int = 0, order: str = "") -> PlannedAnswer:
    return PlannedAnswer(probabilities=True, top_k=5, label_offset=offset, label_order=order, names=None)


def read(number: int, other: PlannedAnswer, names: list[str] | None = None, classes: list[str] | None = None) -> int:
    answer = Answer((number,), (0.9,))
    found = relabelled(answer, output(), other, names or [], Dataset([], classes or TWELVE))
    assert found.scores == answer.scores
    return found.classes[0]


def test_an_offset_moves_every_class() -> None:
    assert [read(number, output(1)) for number in (1, 5)] == [0, 4]


def test_classes_that_were_sorted_as_text_find_their_numbers() -> None:
    as_text = ["0", "1", "10", "11", "2", "3", "4", "5", "6", "7", "8", "9"]
    assert [read(place, output(order="numbers as text")) for place in range(12)] == [int(text) for text in as_text]


@pytest.mark.parametrize("order", ["numbers as text", "alphabet"])
def test_what_is_undone_is_as_it_was(order: str) -> None:
    classes = ["pear", "Apple", "fig", "banana", *TWELVE[4:]]
    for number in range(12):
        there = read(number, output(order=order), classes=classes)
        assert read(there, output(order=f"{order}, undone"), classes=classes) == number


def test_classes_are_matched_by_their_names() -> None:
    names = ["n01440764 tench, Tinca tinca", "hot dog", "goldfish"]  # as the model lists them
    classes = ["goldfish", "tench", "hot_dog"]  # as the dataset lists them
    assert [read(number, output(order="names"), names, classes) for number in range(3)] == [1, 2, 0]
    assert read(2, output(order="names"), ["a", "b", "c"], classes) == 2  # other classes altogether: as they are


def test_a_number_that_no_class_has_stays_what_it_is() -> None:
    assert {read(99, output(order=order)) for order in ORDERS} == {99}
