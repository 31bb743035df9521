"""Tokens become words: the best of a CTC model, and every kind of vocabulary read backwards."""

import base64
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget import tries
from mlmodelscope_worker.generation import NO_TOKEN
from mlmodelscope_worker.output import ANSWER_STEPS
from mlmodelscope_worker.output.boxes import Refused
from mlmodelscope_worker.output.step import Share
from mlmodelscope_worker.pipeline import library as libraries
from mlmodelscope_worker.pipeline.value import SampleError, Tensor
from mlmodelscope_worker.predictor import ModelError
from mlmodelscope_worker.stacking import Prepared
from mlmodelscope_worker.task.reader import WHOLE, Read, reader_of
from worker_package import vocabularies
from worker_package.vocabularies import tokenized

TEXT = "the cat sat on the mat"


def step(name: str, values: dict[str, Any], parameters: Any = None) -> Any:
    declared = ANSWER_STEPS[name]
    return declared.function(values, WHOLE if declared.share else None, **declared.resolve(parameters))


def scored(best: list[int], classes: int = 4) -> np.ndarray:
    """Moments x classes, with these as the best."""
    return np.eye(classes, dtype=np.float32)[best].reshape(len(best), classes)


def slow_ctc(best: list[int], blank: int) -> list[int]:
    found, before = [], None
    for each in best:
        if each != before and each != blank:
            found.append(each)
        before = each
    return found


@given(best=st.lists(st.integers(0, 3), max_size=12), blank=st.integers(0, 3))
@settings(max_examples=tries(100, 3000), deadline=None)
def test_ctc_joins_repetitions_and_drops_blanks(best: list[int], blank: int) -> None:
    made = step("ctc", {"logits": scored(best)}, {"blank": blank})
    assert made["tokens"].tolist() == slow_ctc(best, blank)


@pytest.mark.parametrize(
    ("best", "expected"),
    [([], []), ([0, 0, 0], []), ([1, 1, 1], [1]), ([1, 0, 1], [1, 1]), ([0, 1, 2, 2, 0, 2], [1, 2, 2])],
)
def test_ctc_by_hand(best: list[int], expected: list[int]) -> None:
    assert step("ctc", {"probability": scored(best)})["tokens"].tolist() == expected


@pytest.mark.parametrize(
    ("values", "blank", "words"),
    [
        ({"logits": np.zeros((2, 3, 4))}, 0, "one output of moments x classes is needed; there is logits"),
        ({"logits": scored([1]), "probability": scored([1])}, 0, "there is logits, probability"),
        ({"text": "a"}, 0, "one output of moments x classes is needed; there is text"),
        ({"logits": scored([1])}, 4, "`blank` is 4, and the model has 4 classes"),
        ({"logits": np.zeros((3, 0))}, 0, "`blank` is 0, and the model has 0 classes"),
    ],
)
def test_ctc_refuses_what_it_cannot_read(values: dict[str, Any], blank: int, words: str) -> None:
    with pytest.raises(Refused, match=words):
        step("ctc", values, {"blank": blank})


def heard(folder: Path, best: list[list[int]], lengths: list[int], fill: Any) -> Read:
    """What a CTC model says of sounds of these lengths that share a batch."""
    (folder / "letters.txt").write_text("_\na\nb\nc\n")
    parameters = {"file": str(folder / "letters.txt"), "library": "wordpiece"}
    steps = [("ctc", None), ("detokenize", parameters)]
    answer = {"steps": [{"name": name, "parameters": ANSWER_STEPS[name].resolve(given)} for name, given in steps]}
    reader = reader_of("speech_recognition", [{"role": "logits", "steps": []}], answer)
    values = [Tensor(np.zeros(length, np.float32), fill=fill) for length in lengths]
    return reader([np.stack([scored(each) for each in best])], [Prepared((each,), each) for each in values])


def texts(read: Read) -> list[str]:
    assert not read.failed
    return [each["fields"]["text"] for each in read.content["answers"]]


@pytest.mark.parametrize("side", ["right", "left"])
def test_ctc_does_not_read_what_a_sound_was_filled_up_with(tmp_path: Path, side: str) -> None:
    own, fill, whole = [1, 0, 2, 2, 1], [3, 0, 3, 3, 0], [1, 2, 3, 0, 1, 2, 3, 0, 1, 2]
    row = own + fill if side == "right" else fill + own
    assert texts(heard(tmp_path, [whole, row], [1600, 800], (0.0, side))) == ["a b c a b c a b", "a b a"]
    assert texts(heard(tmp_path, [own], [800], (0.0, side))) == ["a b a"]  # as it is told alone
    assert texts(heard(tmp_path, [row, row], [800, 800], None)) != ["a b a", "a b a"]


def test_a_moment_that_is_partly_the_sounds_own_is_read(tmp_path: Path) -> None:
    row = [1, 0, 2, 3, 1]
    assert texts(heard(tmp_path, [row, row], [1000, 601], (0.0, "right"))) == ["a b c a", "a b c"]
    assert texts(heard(tmp_path, [row, row], [1000, 600], (0.0, "right"))) == ["a b c a", "a b"]


def test_a_share_of_everything_is_everything() -> None:
    assert Share(3, 3).of([1, 2]) == [1, 2] and Share(1, 4).of([1, 2]) == [1] and Share(0, 4, "left").of([1, 2]) == []


MADE = {
    "tokenizers": vocabularies.bert_file,
    "sentencepiece": vocabularies.sentence_pieces,
    "tiktoken": vocabularies.ranks,
    "wordpiece": vocabularies.word_pieces,
    "bpe": vocabularies.byte_pairs,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("vocabularies")


def vocabulary(folder: Path, library: str) -> Path:
    pytest.importorskip(libraries.PACKAGES[library][0])
    if library == "bpe":
        pytest.importorskip("tokenizers", reason="it trains the vocabulary")
    return MADE[library](folder)


def pieces(folder: Path, *known: bytes) -> Path:
    """A vocabulary in which each piece stands behind its length."""
    path = folder / f"{len(known)}-{sum(map(len, known))}.pieces"
    made = b""
    for each in known:
        count = len(each)
        made += (bytes([count]) if count < 128 else bytes([128 + count % 128, count // 128])) + each
    path.write_bytes(made)
    return path


@pytest.mark.parametrize("library", MADE)
def test_tokens_become_the_text_that_they_were_made_of(folder: Path, library: str) -> None:
    path = vocabulary(folder, library)
    text = "the cat’s hat, don't you know" if library in ("tiktoken", "bpe") else "the cat"
    ids = tokenized(path, text, library=library).lines[0].ids
    asked = {"file": str(path), "library": library}
    assert step("detokenize", {"tokens": np.array([*ids, NO_TOKEN])}, asked) == {"text": text}
    assert step("detokenize", {"tokens": np.array([], np.int64)}, asked) == {"text": ""}
    first = step("detokenize", {"tokens": np.array(ids)}, {**asked, "leave_out": [int(ids[0])]})["text"]
    assert first != text and text.endswith(first.strip())


def test_every_library_is_tried() -> None:
    assert {*MADE, "pieces"} == set(libraries.DETOKENIZERS)


@pytest.mark.parametrize("library", ["sentencepiece", "tiktoken"])
@pytest.mark.parametrize("token", [10**6, 2**40, -7])
def test_a_token_beyond_the_vocabulary_fails_its_sample_alone(folder: Path, library: str, token: int) -> None:
    asked = {"file": str(vocabulary(folder, library)), "library": library}
    with pytest.raises(SampleError, match=f"{library} cannot make a text of the tokens: "):
        step("detokenize", {"tokens": np.array([token])}, asked)


def test_pieces_of_words_are_joined_and_unknown_numbers_left_out(folder: Path) -> None:
    known = vocabularies.PIECES
    tokens = [known.index(each) for each in ("un", "##aff", "##able", "cat")]
    asked = {"file": str(vocabularies.word_pieces(folder)), "library": "wordpiece"}
    assert step("detokenize", {"tokens": np.array([*tokens, 99999, tokens[-1]])}, asked)["text"] == "unaffable cat cat"


def test_words_can_be_read_from_a_vocabulary_without_an_unknown_one(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("a\nb\n")
    asked = {"file": str(tmp_path / "vocab.txt"), "library": "wordpiece"}
    assert step("detokenize", {"tokens": np.array([1, 0])}, asked)["text"] == "b a"


def test_bytes_of_one_letter_may_be_several_tokens(tmp_path: Path) -> None:
    path = tmp_path / "bytes.tiktoken"
    path.write_bytes(b"".join(base64.b64encode(bytes([each])) + b" %d\n" % each for each in range(256)))
    pytest.importorskip("tiktoken")
    asked = {"file": str(path), "library": "tiktoken"}
    assert step("detokenize", {"tokens": np.array(list("né".encode()))}, asked)["text"] == "né"
    assert step("detokenize", {"tokens": np.array([0xC3])}, asked)["text"] == "\ufffd"


def test_without_tokens_there_is_no_text(folder: Path) -> None:
    with pytest.raises(Refused, match="there are no tokens, only logits"):
        step("detokenize", {"logits": np.zeros(3)}, {"file": str(pieces(folder, b"a")), "library": "pieces"})


def test_small_pieces_and_long_ones_are_read(tmp_path: Path) -> None:
    long = b"x" * 300
    path = pieces(tmp_path, b"", "\u2581the".encode(), b"\xe4\xb8", b"\xad", b"y" * 127, b"z" * 128, long)
    asked = {"file": str(path), "library": "pieces"}
    made = step("detokenize", {"tokens": np.array([1, 0, 2, 3, 1, 4, 5, 6])}, asked)["text"]
    assert made == "the中 the" + "y" * 127 + "z" * 128 + long.decode()
    with pytest.raises(ModelError, match="the vocabulary has 7 pieces, and the model said 7"):
        step("detokenize", {"tokens": np.array([1, 7])}, asked)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\x03ab", "piece 0 of the vocabulary would end behind the file"),
        (b"\x01a\x05b", "piece 1 of the vocabulary would end behind the file"),
        (b"\x01a\x85", "the vocabulary ends within a length"),
        (b"\x85\x02ab", "piece 0 of the vocabulary would end behind the file"),
        (bytes((1 << 20) + 1), "the vocabulary has more than 1048576 pieces"),
    ],
)
def test_a_vocabulary_that_is_garbage_is_told_before_the_first_sample(
    tmp_path: Path, content: bytes, words: str
) -> None:
    (tmp_path / "garbage").write_bytes(content)
    written = ANSWER_STEPS["detokenize"].resolve({"file": str(tmp_path / "garbage"), "library": "pieces"})
    outputs = [{"role": "tokens", "steps": []}]
    with pytest.raises(ModelError, match=words):
        reader_of("translation", outputs, {"steps": [{"name": "detokenize", "parameters": written}]})
