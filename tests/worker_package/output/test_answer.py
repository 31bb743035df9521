"""Whatever a manifest's own post-processing returns is an answer, or a failed sample with its reason."""

import json
from typing import Any

import numpy as np
import pytest

from mlmodelscope_worker.output.answer import AnswerError, classify, keep, plain, spell

NAMES = ["cat", "dog", "7"]


@pytest.mark.parametrize(
    ("answer", "classes", "scores"),
    [
        (3, [3], [1.0]),
        (np.int64(3), [3], [1.0]),
        (np.array(3), [3], [1.0]),
        (np.array([3]), [3], [1.0]),
        (3.0, [3], [1.0]),
        ("3", [3], [1.0]),
        (b"3", [3], [1.0]),
        ("dog", [1], [1.0]),
        ([0.1, 0.7, 0.2], [1, 2], [0.7, 0.2]),
        (np.float32([[0.1, 0.7, 0.2]]), [1, 2], [0.7, 0.2]),
        ("[0.1, 0.7, 0.2]", [1, 2], [0.7, 0.2]),
        ({"classes": [5, 4, 3], "scores": [0.5, 0.3, 0.2]}, [5, 4], [0.5, 0.3]),
        ({"classes": np.array([[5, 4]]), "scores": np.float64([[0.5, 0.3]])}, [5, 4], [0.5, 0.3]),
        ({"classes": ["dog", "cat"]}, [1, 0], [1.0, 1.0]),
        ({"classes": 9}, [9], [1.0]),
        ([{"index": 1, "probability": 0.2}, {"index": 8, "probability": 0.8}], [8, 1], [0.8, 0.2]),
        ([{"probability": 0.9, "classification": {"index": 4, "label": "x"}}], [4], [0.9]),
        ({"label": "dog", "confidence": 0.6}, [1], [0.6]),
        ('{"index": 2, "score": 0.25}', [2], [0.25]),
    ],
)
def test_a_class_may_be_told_in_many_ways(answer: Any, classes: list[int], scores: list[float]) -> None:
    found = classify(answer, 2, NAMES)
    assert found[0] == classes and found[1] == pytest.approx(scores)


def test_a_class_whose_name_looks_like_a_number_is_found_by_its_name() -> None:
    assert classify("7", 1, NAMES) == ([2], [1.0])
    assert classify("null", 1, ["null"]) == ([0], [1.0])


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (None, "None is no class"),
        (True, "True is no class"),
        (2.5, "2.5 is no class"),
        ([], "an answer without content"),
        (np.zeros((0, 3)), "an answer without content"),
        ([[], []], "an answer without content"),
        ("bird", "`bird` is not the name of a class"),
        ({"classes": []}, "an answer without classes"),
        ({"classes": [1, 2], "scores": [1]}, "2 classes and 1 scores"),
        ({"classes": [1], "scores": [float("nan")]}, "not numbers"),
        ([0.1, float("nan")], "not numbers"),
        ([{"index": 1, "probability": float("nan")}], "not numbers"),
        (1 << 40, "there is no class number 1099511627776"),
        ({"classes": [-(1 << 40)]}, "there is no class number"),
        (["a", "b"], "a list of neither scores nor features"),
        ([{"probability": 1}], "a feature without `index` or `label`"),
        (object(), "a object is no answer"),
        ({1, 2}, "a set is no answer"),
    ],
)
def test_what_is_no_class_says_why(answer: Any, reason: str) -> None:
    with pytest.raises(AnswerError, match=reason):
        classify(answer, 5, NAMES)


def test_classes_without_scores_come_in_their_own_order() -> None:
    assert classify([{"index": 9}, {"index": 3}], 2)[0] == [9, 3]


def test_an_answer_is_spelled_the_same_whatever_its_types() -> None:
    one = {"boxes": np.float64([[1, 2.5]]), "b": (1, np.uint8(2)), 3: b"\xc3\xa9", "n": None}
    assert spell(one) == spell(json.dumps({"3": "é", "n": None, "b": [1, 2], "boxes": [[1.0, 2.5]]}))
    assert spell(one) == '{"3":"é","b":[1,2],"boxes":[[1.0,2.5]],"n":null}'


def test_text_inside_an_answer_stays_text() -> None:
    assert plain({"a": "12", "b": b"12"}) == {"a": "12", "b": "12"}
    assert plain("12") == 12


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), np.float32("-inf"), "[NaN]", {"a": [np.nan]}])
def test_what_json_does_not_know_is_no_answer(odd: Any) -> None:
    with pytest.raises(AnswerError, match="JSON does not know"):
        spell(odd)


def test_an_answer_without_end_is_none() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises((AnswerError, RecursionError)):
        spell(endless)


def test_half_a_character_is_kept_as_ascii() -> None:
    assert spell("caf\udce9").encode("utf-8") == rb'"caf\udce9"'


def test_arrays_of_other_libraries_are_arrays() -> None:
    class Tensor:
        def tolist(self) -> list[float]:
            return [0.25, 0.75]

    assert classify(Tensor(), 1) == ([1], [0.75])
    assert spell({"t": Tensor()}) == '{"t":[0.25,0.75]}'
    assert spell(np.longdouble(2)) == "2.0"


def test_a_trainings_result_is_kept_as_far_as_it_can_be() -> None:
    assert keep({"top1": np.float32(0.5), "n": 3}) == {"top1": 0.5, "n": 3}
    assert keep({"loss": float("nan"), "a": [float("inf")]}) == {"loss": None, "a": [None]}
    assert keep({"model": object(), "top1": 0.5}) == {"model": "(object, not kept)", "top1": 0.5}
    assert keep({"model": np.zeros((9999, 9999), np.uint8), "top1": 1}) == {
        "model": "(ndarray [9999, 9999], not kept)",
        "top1": 1,
    }
    assert keep(np.zeros((600, 600))) == "(ndarray [600, 600], not kept)"
    assert keep(None) is None


@pytest.mark.parametrize(
    "answer",
    [
        [0.1, 0.4, 0.4, 0.1],
        np.float32([0.1, 0.4, 0.4, 0.1]),
        [{"index": 2, "probability": 0.4}, {"index": 1, "probability": 0.4}, {"index": 0, "probability": 0.1}],
        "[0.1, 0.4, 0.4, 0.1]",
    ],
)
def test_of_equal_scores_the_lowest_class_comes_first_in_every_form(answer: object) -> None:
    assert classify(answer, 3)[0] == [1, 2, 0]
