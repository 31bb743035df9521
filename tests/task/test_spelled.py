"""What a record keeps of a prompt: read as our workers write it, and refused where a stranger wrote something else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mlmodelscope.task.choice import task as choice
from mlmodelscope.task.generation import place_of
from mlmodelscope.task.generation import task as generation
from mlmodelscope.task.shape import ChoicesShape, SpansShape, TextShape, TokensShape, named_by, summary
from mlmodelscope.task.spelled import read_spelled, tokens_with_logs

WORDS = {"text": "ab", "omitted": 0, "end": "", "tokens": [1, 2], "pieces": ["a", "b"], "more": 0}
ROW = {**WORDS, "context": 0, "choice": 0, "alone": False}
TOLD = {"call": "choose", "contexts": [{**WORDS, "dropped": 3, "turns": None}], "rows": [ROW, {**ROW, "choice": 1}]}


def changed(**changes: Any) -> str:
    return json.dumps({**TOLD, **changes})


def test_logarithms_stand_beside_their_tokens() -> None:
    found = read_spelled(json.dumps(TOLD))
    assert found is not None and found.contexts[0].dropped == 3
    first, second = tokens_with_logs(found, [-1.0, -2.0, -3.0], [2, 2])
    assert first == [("a", 1, -1.0), ("b", 2, -2.0)] and second == [("a", 1, -3.0), ("b", 2, None)]
    assert tokens_with_logs(found, None, None)[0] == [("a", 1, None), ("b", 2, None)]
    assert tokens_with_logs(found, [float("nan"), float("-inf")], [2])[0] == [("a", 1, None), ("b", 2, None)]


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "{",
        '"x"',
        "[" * 100_000,
        changed(call="steal"),
        changed(rows=[{**ROW, "pieces": ["a"]}]),
        changed(rows=[{**ROW, "tokens": ["1", "2"]}]),
        changed(rows=[{**ROW, "tokens": [-1, 2]}]),
        changed(rows=[{**ROW, "context": None}]),
        changed(rows=[{**ROW, "text": 5}]),
        changed(contexts=[{**WORDS, "turns": [{"role": 1}]}]),
        changed(contexts=7),
        changed(rows=None),
    ],
)
def test_what_a_stranger_wrote_is_refused(text: str) -> None:
    with pytest.raises((ValueError, RecursionError)):
        read_spelled(text)


def test_what_is_left_out_is_said() -> None:
    found = read_spelled(changed(rows=[{**ROW, "omitted": 1234, "end": "z"}]))
    assert found is not None and found.rows[0].words.whole == "ab[… 1,234 characters …]z"


def test_choices_are_compared_by_every_rule_that_can_be_told() -> None:
    row = {"choices": '["ab", "b"]', "sums": [-4.0, -3.0], "characters": [2, 1], "bytes": [2, 1], "tokens": [2, 2]}
    row |= {"alone": [-1.0, -2.5], "target": '{"answers": [1]}', "kept": json.dumps(TOLD), "logs": [-1, -3, -1, -2]}
    shapes = choice.shapes(row, None, named_by(()))
    (bars,) = (each for each in shapes if isinstance(each, ChoicesShape))
    assert {name: chosen for name, _, chosen in bars.rules} == {
        "none": 1,
        "characters": 0,
        "bytes": 0,
        "tokens": 1,
        "unconditional": 1,
    }
    assert bars.right == (1,) and [each.name for each in shapes if isinstance(each, TokensShape)] == [
        "choice 0",
        "choice 1",
    ]
    assert summary(shapes, "truth") == "b"


def test_a_choice_without_length_is_not_divided_by_it() -> None:
    row = {"choices": '["", "b"]', "sums": [-4.0, -3.0], "characters": [0, 1], "bytes": [0, 1], "tokens": [1, 1]}
    (bars,) = (each for each in choice.shapes(row, None, named_by(())) if isinstance(each, ChoicesShape))
    assert [name for name, _, _ in bars.rules] == ["none", "tokens"]


@pytest.mark.parametrize(
    ("text", "taken", "is_last", "place"),
    [
        ("1 + 1 = 1", "1", True, (8, 9)),
        ("1 + 1 = 1", "1", False, (0, 1)),
        ("it is 1,000 pets", "1000", True, (6, 11)),
        ("It Is B", "b", False, (6, 7)),
        ("nothing", "7", True, None),
        ("x" * 300, "y" * 250, True, None),
    ],
)
def test_the_part_that_counts_is_found_in_the_answer(text: str, taken: str, is_last: bool, place: Any) -> None:
    assert place_of(text, taken, is_last) == place


def test_an_answer_that_was_cut_off_says_so_and_what_counts_is_marked() -> None:
    row = {"text": "one 2 three", "extracted": "2", "ending": "length", "tokens": 3, "target": '{"answers": ["2"]}'}
    truth, answer = generation.shapes(row, None, named_by(()))
    assert isinstance(answer, SpansShape) and answer.spans == ((4, 5, "extracted", None),)
    assert answer.remark == "cut off at 3 tokens" and isinstance(truth, TextShape) and truth.text == "2"
    (_, empty) = generation.shapes({**row, "extracted": ""}, None, named_by(()))
    assert isinstance(empty, TextShape) and empty.remark == "nothing could be extracted, cut off at 3 tokens"
