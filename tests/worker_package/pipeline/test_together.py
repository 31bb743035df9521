"""Samples that go through steps together come to what each of them comes to alone, and fail alone."""

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mlmodelscope_worker.pipeline import STEPS, Pipeline
from mlmodelscope_worker.pipeline.block import InBlock
from mlmodelscope_worker.pipeline.text import Text
from mlmodelscope_worker.pipeline.together import Failed, Together, joined
from mlmodelscope_worker.pipeline.value import SampleError
from worker_package.tasks import steps
from worker_package.vocabularies import LINES, bert_file, byte_pairs, word_pieces

pytest.importorskip("tokenizers", reason="the library `tokenizers` is not installed")
TEXTS = [
    Text("the cat sat on the mat"),
    Text("a"),
    Text("the cat", "unaffable playing cats sat"),
    *map(Text, LINES),
    Text("naïve café", "the"),
    Text("the cat " * 40, "mat " * 30),
]


def pipeline(tokenize: dict[str, Any], *others: Any) -> Pipeline:
    return Pipeline(steps(STEPS, [("tokenize", tokenize), *others]))


def same(alone: Any, together: Any) -> None:
    assert alone.several == together.several
    assert alone.fill == together.fill
    assert [(row.dtype, row.tolist()) for row in alone.rows] == [(row.dtype, row.tolist()) for row in together.rows]
    if hasattr(alone.frame, "lines"):
        assert [line.spans for line in alone.frame.lines] == [line.spans for line in together.frame.lines]
        assert [line.parts for line in alone.frame.lines] == [line.parts for line in together.frame.lines]
        assert alone.frame.side == together.frame.side


def compare(made: Pipeline, texts: list[Text]) -> list[Any]:
    found = made.all(Together(texts)).listed()
    for text, value in zip(texts, found, strict=True):
        same(made(text), value)
    return found


@pytest.mark.parametrize("tensor", ["ids", "mask", "types", "positions", "length", "ones", "zeros"])
@pytest.mark.parametrize(
    "pad", [{"token": 7}, {"token": 7, "side": "left"}, {"length": 90}, {"length": 90, "side": "left"}]
)
def test_every_tensor_is_the_same_together(tmp_path: Path, tensor: str, pad: dict[str, Any]) -> None:
    ways = product(["together", "apart", "first"], ["as_given", "swapped"], [9, 80], [True, False])
    for pair, order, length, special in ways:
        tokenize = {"file": str(bert_file(tmp_path)), "pair": pair, "order": order, "special_tokens": special}
        cut = {"length": length, "side": pad.get("side", "right")}
        made = pipeline(tokenize, ("truncate", cut), ("pad_tokens", pad), ("take", tensor), ("cast", "int64"))
        found = compare(made, TEXTS)
        assert tensor == "length" or all(isinstance(each, InBlock) for each in found)


@pytest.mark.parametrize("file", [byte_pairs, bert_file])
@pytest.mark.parametrize("element_type", ["int32", "float32", "int64"])
def test_other_vocabularies_and_element_types(tmp_path: Path, file: Any, element_type: str) -> None:
    cast = ("cast", {"element_type": element_type})
    compare(pipeline({"file": str(file(tmp_path))}, ("pad_tokens", None), ("take", "ids"), cast), TEXTS)


def test_a_library_without_a_form_for_many_texts_gives_the_same(tmp_path: Path) -> None:
    tokenize = {"file": str(word_pieces(tmp_path)), "library": "wordpiece", "lowercase": True}
    compare(
        pipeline(tokenize, ("special_tokens", {"first": 2, "last": 3}), ("pad_tokens", None), ("take", "mask")), TEXTS
    )


def test_texts_of_one_call_are_cut_in_one_call_of_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mlmodelscope_worker.pipeline.library import tokenizers

    counts: list[int] = []

    def counted(self: Any, given: Any, special: bool, cut: Any = tokenizers.Fast.lines) -> Any:
        counts.append(len(given))
        return cut(self, given, special)

    monkeypatch.setattr(tokenizers.Fast, "lines", counted)
    monkeypatch.setattr(tokenizers.Fast, "line", panic)
    made = pipeline({"file": str(bert_file(tmp_path))}, ("truncate", 9), ("pad_tokens", None), ("take", "ids"))
    found = made.all(Together([Text("the cat"), Text("sat")])).listed()
    assert counts == [2] and not any(isinstance(each, Failed) for each in found)


def test_rows_that_nothing_fills_up_stay_as_long_as_they_are(tmp_path: Path) -> None:
    found = compare(pipeline({"file": str(bert_file(tmp_path))}, ("take", "ids")), TEXTS)
    assert len({each.rows[0].shape for each in found}) > 1


def test_only_the_text_that_cannot_be_cut_fails(tmp_path: Path) -> None:
    only_first = {"length": 12, "strategy": "only_first"}
    made = pipeline({"file": str(bert_file(tmp_path))}, ("truncate", only_first), ("pad_tokens", None), ("take", "ids"))
    found = made.all(Together(TEXTS)).listed()
    reasons = {place: str(each.error) for place, each in enumerate(found) if isinstance(each, Failed)}
    assert list(reasons) == [len(TEXTS) - 1]
    with pytest.raises(SampleError) as alone:
        made(TEXTS[-1])
    assert reasons[len(TEXTS) - 1] == str(alone.value)
    for text, value in zip(TEXTS[:-1], found, strict=False):
        same(made(text), value)


def test_all_may_fail_and_none_may_be_there(tmp_path: Path) -> None:
    made = pipeline({"file": str(bert_file(tmp_path)), "special_tokens": True}, ("truncate", 1), ("take", "ids"))
    assert [type(each) for each in made.all(Together(TEXTS[:2])).listed()] == [Failed, Failed]
    assert made.all(Together([])).listed() == []


def panic(*values: Any) -> Any:
    raise BaseException("as libraries in Rust panic")


def test_a_form_that_fails_or_miscounts_leaves_each_to_itself() -> None:
    for at_once in (panic, lambda values: values[:1], lambda values: [*values, 0]):
        assert Together([1, 2]).step(lambda value: value + 1, {}, at_once).listed() == [2, 3]


def test_what_failed_in_one_pipeline_has_failed_in_all() -> None:
    def odd(value: int) -> int:
        if value % 2 == 0:
            raise SampleError(f"{value} is even")
        return value

    one, two = Together([1, 2, 3, 4]).each(odd), Together([1, 2, 3, 4]).each(lambda value: 6 // (value - 3))
    found = joined([one, two]).listed()
    assert found[0] == (1, -3)
    assert [str(each.error) for each in found[1:]] == [
        "2 is even", "integer division or modulo by zero", "4 is even"
    ]  # fmt: skip


def test_a_sample_of_a_block_is_not_changed_in_place(tmp_path: Path) -> None:
    tokenize = {"file": str(bert_file(tmp_path))}
    more = (("pad_tokens", None), ("take", "ids"), ("cast", "float32"), ("mean", 1), ("rescale", 2))
    made = pipeline(tokenize, *more)
    texts = TEXTS[:2]
    found = made.all(Together(texts)).listed()
    for text, value in zip(texts, found, strict=True):
        assert np.array_equal(made(text).rows[0], value.rows[0])
