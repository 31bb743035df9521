"""Tokens are cut and filled up as the library `tokenizers` cuts and fills them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from budget import tries
from mlmodelscope_worker.parameters import ParameterError
from mlmodelscope_worker.pipeline import STEPS
from mlmodelscope_worker.pipeline.tokens import SPECIAL, Tokens
from mlmodelscope_worker.pipeline.value import SampleError
from worker_package.vocabularies import PIECES, bert_file, byte_pairs, run, tokenized, word_pieces

tokenizers = pytest.importorskip("tokenizers", reason="it is what our steps are compared with")
CLS, SEP, PAD = (PIECES.index(each) for each in ("[CLS]", "[SEP]", "[PAD]"))
SENTENCES = st.lists(
    st.sampled_from(["the", "cat", "sat", "on", "unaffable", "playing", ".", ",", "Q", "中国", "café"]), max_size=9
).map(" ".join)
HOW = settings(max_examples=tries(40, 2000), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bert_file(tmp_path_factory.mktemp("bert"))


def same(made: Tokens, expected: Any) -> bool:
    (line,) = made.lines
    parts = [SPECIAL if each is None else each for each in expected.sequence_ids]
    spans = [None if part == SPECIAL else span for part, span in zip(parts, expected.offsets, strict=True)]
    return (list(line.ids), list(line.types), list(line.mask), line.parts, line.spans) == (
        expected.ids,
        expected.type_ids,
        expected.attention_mask,
        parts,
        spans,
    )


@pytest.mark.parametrize("side", ["right", "left"])
@given(text=SENTENCES, length=st.integers(2, 12), special=st.booleans())
@HOW
def test_truncate_cuts_a_text_as_the_library_does(file: Path, side: str, text: str, length: int, special: bool) -> None:
    library = tokenizers.Tokenizer.from_file(str(file))
    library.enable_truncation(length, direction=side)
    made = run("truncate", tokenized(file, text, special_tokens=special), {"length": length, "side": side})
    assert same(made, library.encode(text, add_special_tokens=special))


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("strategy", ["longest_first", "only_first", "only_second"])
@given(text=SENTENCES, pair=SENTENCES, length=st.integers(4, 20), special=st.booleans())
@HOW
def test_truncate_cuts_a_pair_as_the_library_does(
    file: Path, side: str, strategy: str, text: str, pair: str, length: int, special: bool
) -> None:
    library = tokenizers.Tokenizer.from_file(str(file))
    library.enable_truncation(length, strategy=strategy, direction=side)
    whole = tokenized(file, text, pair, special_tokens=special)
    try:
        expected = library.encode(text, pair, add_special_tokens=special)
    except BaseException as error:  # a panic in old releases
        assert "too short" in str(error)
        with pytest.raises(SampleError, match="may be cut, and of its"):
            run("truncate", whole, {"length": length, "side": side, "strategy": strategy})
        return
    assert same(run("truncate", whole, {"length": length, "side": side, "strategy": strategy}), expected)


@pytest.mark.parametrize("side", ["right", "left"])
@given(text=SENTENCES, pair=st.none() | SENTENCES)
@HOW
def test_pad_tokens_fills_a_row_as_the_library_does(file: Path, side: str, text: str, pair: str | None) -> None:
    library = tokenizers.Tokenizer.from_file(str(file))
    library.enable_padding(direction=side, pad_id=7, length=60)
    made = run("pad_tokens", tokenized(file, text, pair, special_tokens=True), {"length": 60, "token": 7, "side": side})
    assert same(made, library.encode(text, pair)) and made.array.shape == (60,)


def test_truncate_refuses_what_cannot_be_cut(file: Path) -> None:
    pair = tokenized(file, "the cat", "sat", special_tokens=True)
    with pytest.raises(SampleError, match="only the second text may be cut, and of its 1 tokens 2 are too many"):
        run("truncate", pair, {"length": 4, "strategy": "only_second"})
    with pytest.raises(SampleError, match="the special tokens alone are more than `truncate` leaves room for"):
        run("truncate", pair, 2)


def test_pad_tokens_refuses_a_row_that_is_longer(file: Path) -> None:
    with pytest.raises(SampleError, match="4 tokens do not fit into 3: `truncate` first"):
        run("pad_tokens", tokenized(file, "the cat", special_tokens=True), {"length": 3})


def test_pad_tokens_without_a_length_leaves_it_to_the_batch(file: Path) -> None:
    made = run("pad_tokens", tokenized(file, "the cat"), {"token": 9, "side": "left"})
    assert len(made.array) == 2 and made.fill == (9, "left") and made.frame.side == "left"
    assert made.tensor("ids").fill == (9, "left") and made.tensor("mask").fill == (0, "left")
    assert made.tensor("length").fill is None


@given(text=SENTENCES, pair=st.none() | SENTENCES)
@HOW
def test_special_tokens_are_those_of_berts_template(file: Path, text: str, pair: str | None) -> None:
    library = tokenizers.Tokenizer.from_file(str(file))
    made = run("special_tokens", tokenized(file, text, pair), {"first": CLS, "between": SEP, "last": SEP})
    assert same(made, library.encode(text, pair))


def test_special_tokens_of_type_0_and_of_one_kind(file: Path) -> None:
    made = run("special_tokens", tokenized(file, "the", "cat"), {"first": 1, "types": "none"})
    assert made.lines[0].ids == [1, *tokenized(file, "the cat").lines[0].ids] and made.lines[0].types == [0, 0, 0]
    twice = run("special_tokens", made, {"last": 2})
    assert twice.lines[0].ids[-1] == 2 and min(twice.lines[0].types) == 0


@pytest.mark.parametrize(
    ("tensor", "expected"), [("mask", [1, 1, 0]), ("types", [0, 0, 0]), ("positions", [0, 1, 2]), ("ones", [1, 1, 1])]
)
def test_take_chooses_a_tensor(file: Path, tensor: str, expected: list[int]) -> None:
    made = run("take", run("pad_tokens", tokenized(file, "the cat"), {"length": 3}), tensor)
    assert made.array.tolist() == expected and made.array.dtype == np.int64 and made.kind == "tensor"


def test_take_of_the_length_is_a_number_of_real_tokens(file: Path) -> None:
    made = run("take", run("pad_tokens", tokenized(file, "the cat"), {"length": 3}), "length")
    assert made.array.shape == () and made.array == 2


def test_tokenize_makes_one_row_of_a_pair_or_two_or_leaves_the_second_out(file: Path) -> None:
    one, two = (tokenized(file, each).lines[0].ids for each in ("the cat", "sat on mat"))
    together = tokenized(file, "the cat", "sat on mat")
    assert [line.ids for line in together.lines] == [one + two] and not together.several
    apart = tokenized(file, "the cat", "sat on mat", pair="apart")
    assert [line.ids for line in apart.lines] == [one, two] and apart.several and len(apart.rows) == 2
    first = tokenized(file, "the cat", "sat on mat", pair="first")
    assert [line.ids for line in first.lines] == [one] and not first.several


@pytest.mark.parametrize("pair", ["together", "apart", "first"])
def test_tokenize_swaps_a_pair_and_still_knows_which_text_is_which(file: Path, pair: str) -> None:
    made = tokenized(file, "the cat", "sat on mat", pair=pair, order="swapped")
    assert made.lines[0].ids[:3] == tokenized(file, "sat on mat").lines[0].ids
    assert made.frame.text_of(0, 0) == 1 and made.frame.original(made.frame.text_of(0, 0)) == "sat on mat"
    alone = tokenized(file, "the cat", pair=pair, order="swapped")
    assert alone.lines[0].ids == tokenized(file, "the cat").lines[0].ids and not alone.is_swapped


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "\u200b\u200d"])
def test_a_text_of_nothing_has_no_tokens_but_special_ones(file: Path, text: str) -> None:
    assert tokenized(file, text).array.tolist() == []
    assert tokenized(file, text, special_tokens=True).array.tolist() == [CLS, SEP]


def test_rows_of_a_frame_leave_out_what_was_filled_up(file: Path) -> None:
    right, left = (run("pad_tokens", tokenized(file, "the cat"), {"side": side}).frame for side in ("right", "left"))
    numbers = np.arange(5)
    assert right.of_row(numbers, 0).tolist() == [0, 1] and left.of_row(numbers, 0).tolist() == [3, 4]
    with pytest.raises(SampleError, match="the model answered about 1 of 2 tokens"):
        right.of_row(numbers[:1], 0)


def test_tokenize_refuses_special_tokens_of_files_that_have_none() -> None:
    with pytest.raises(ParameterError, match="does not say which special tokens there are") as found:
        STEPS["tokenize"].resolve({"file": "vocabulary", "library": "wordpiece", "special_tokens": True})
    assert found.value.hint == "leave `special_tokens` out, and say them in a step `special_tokens`"


def test_the_truncation_that_a_file_asks_for_is_not_done_behind_the_plans_back(file: Path, tmp_path: Path) -> None:
    library = tokenizers.Tokenizer.from_file(str(file))
    library.enable_truncation(3)
    library.enable_padding(length=9)
    library.save(str(tmp_path / "cut.json"))
    assert len(tokenized(tmp_path / "cut.json", "the cat sat on the mat").array) == 6


def test_a_wordpiece_file_and_a_bpe_file_make_tokens_without_a_library(file: Path, tmp_path: Path) -> None:
    plain = tokenized(word_pieces(tmp_path), "The cat", library="wordpiece", lowercase=True)
    assert plain.array.tolist() == tokenized(file, "The cat").array.tolist()
    pairs = byte_pairs(tmp_path)
    assert tokenized(pairs, "the cat", library="bpe").array.tolist() == tokenized(pairs, "the cat").array.tolist()
