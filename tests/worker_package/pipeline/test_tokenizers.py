"""What cuts texts into tokens: libraries give what they give, and plain Python gives the same as they do."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from budget import tries
from mlmodelscope_worker.pipeline import library as libraries
from mlmodelscope_worker.pipeline import tokens
from mlmodelscope_worker.pipeline.value import SampleError
from mlmodelscope_worker.predictor import ModelError
from worker_package.vocabularies import (
    PIECES,
    bert_file,
    byte_pairs,
    ranks,
    rewritten,
    sentence_pieces,
    tokenized,
    word_pieces,
)

HOW = settings(
    max_examples=tries(150, 5000), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
KNOWN = [
    "the",
    "cat",
    "unaffable",
    "playing",
    "café",
    "É",
    "Σ",
    "ы",
    "naive",
    "中国",
    "12",
    "😀",
    ",",
    ".",
    "-",
    "'",
    "#",
    "$",
    "`",
    "^",
    "(",
    "’",
    "«",
    "。",
]
ANY = st.characters(
    codec="utf-8", min_codepoint=0, max_codepoint=0x4FF, categories=("L", "M", "N", "P", "S", "Z", "Cc")
) | st.sampled_from("中国한ㅎ\u3000\u2003\u2028\u200b\u200d\ufeff\ufffd\u0301\u0323\U00020000\uf900हिन्दी😀ﬁİΣς\u1e9eก")
TEXTS = st.lists(st.sampled_from(KNOWN) | st.text(ANY, max_size=6), max_size=8).flatmap(
    lambda parts: st.sampled_from(["", " ", "  ", "\t"]).map(lambda between: between.join(parts))
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("vocabularies")
    word_pieces(made)
    return made


def listed(found: Any) -> list[tuple[int, tuple[int, int]]]:
    return list(zip(found.lines[0].ids, found.lines[0].spans, strict=True))


@pytest.mark.parametrize("lowercase", [True, False])
@given(text=TEXTS)
@HOW
def test_wordpiece_is_berts(folder: Path, lowercase: bool, text: str) -> None:
    pytest.importorskip("tokenizers")
    expected = tokenized(bert_file(folder, lowercase), text)
    made = tokenized(folder / "vocab.txt", text, library="wordpiece", lowercase=lowercase)
    assert listed(made) == listed(expected)


def test_wordpiece_takes_a_very_long_word_as_unknown(folder: Path) -> None:
    made = tokenized(folder / "vocab.txt", "a" * 101 + " cat", library="wordpiece")
    assert listed(made) == [(PIECES.index("[UNK]"), (0, 101)), (PIECES.index("cat"), (102, 105))]


@pytest.mark.parametrize("prefix", [False, True])
@given(text=TEXTS)
@HOW
def test_bpe_is_the_librarys_byte_level_bpe(folder: Path, prefix: bool, text: str) -> None:
    pytest.importorskip("tokenizers")
    path = folder / f"bpe-{prefix}.json"
    path = path if path.exists() else byte_pairs(folder, prefix)
    assert listed(tokenized(path, text, library="bpe")) == listed(tokenized(path, text))


def test_bpe_of_one_long_word_takes_no_time_without_end(folder: Path) -> None:
    pytest.importorskip("tokenizers")
    path, text = byte_pairs(folder), "thethe" * 20000
    assert tokenized(path, text, library="bpe").lines[0].ids == tokenized(path, text).lines[0].ids


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"normalizer": {"type": "NFC"}}, "normalizer"),
        ({"pre_tokenizer": {"type": "Whitespace"}}, "pre_tokenizer"),
        ({"pre_tokenizer": {"type": "ByteLevel", "use_regex": False}}, "pre_tokenizer"),
        ({"pre_tokenizer": None}, "pre_tokenizer"),
    ],
)
def test_bpe_refuses_a_file_that_asks_for_more(folder: Path, changes: dict, reason: str) -> None:
    pytest.importorskip("tokenizers")
    path = rewritten(byte_pairs(folder), **changes)
    tokens.opened.cache_clear()
    with pytest.raises(ModelError, match=f"this file's `{reason}` needs the library `tokenizers`"):
        tokenized(path, "the", library="bpe")


def test_bpe_says_which_piece_the_vocabulary_lacks(folder: Path) -> None:
    path = folder / "short.json"
    model = {"type": "BPE", "vocab": {"a": 5}, "merges": []}
    pre = {"type": "ByteLevel", "add_prefix_space": False}
    path.write_text(json.dumps({"model": model, "pre_tokenizer": pre}))
    with pytest.raises(ModelError, match="the vocabulary has no `b`: say in `unknown`"):
        tokenized(path, "ab", library="bpe")
    assert tokenized(path, "ab", library="bpe", unknown=9).array.tolist() == [5, 9]


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
@pytest.mark.parametrize("text", ["The cat's hat", "  ﬁ  café 😀 中国 Q ", "", "   ", "हिन्दी\n12"])
def test_sentencepiece_is_the_library(folder: Path, kind: str, text: str) -> None:
    library = pytest.importorskip("sentencepiece")
    path = folder / f"{kind}.model"
    path = path if path.exists() else sentence_pieces(folder, kind)
    made = tokenized(path, text, library="sentencepiece")
    assert made.lines[0].ids == library.SentencePieceProcessor(model_file=str(path)).encode(text)
    starts = [span[0] for span in made.lines[0].spans]
    assert starts == sorted(starts) and all(0 <= start <= end <= len(text) for start, end in made.lines[0].spans)


def test_sentencepiece_knows_where_its_pieces_lie(folder: Path) -> None:
    pytest.importorskip("sentencepiece")
    made = tokenized(sentence_pieces(folder, "bpe"), "  naïve  café", library="sentencepiece")
    seen = "".join("  naïve  café"[start:end] for start, end in made.lines[0].spans)
    assert seen.replace(" ", "") == "naïvecafé"


@given(text=TEXTS)
@HOW
def test_tiktoken_gives_back_the_text_and_where_each_piece_lies(folder: Path, text: str) -> None:
    pytest.importorskip("tiktoken")
    path = folder / "small.tiktoken"
    path = path if path.exists() else ranks(folder)
    made = tokenized(path, text, library="tiktoken")
    known = {rank: piece for piece, rank in _ranks_of(path).items()}
    assert b"".join(known[each] for each in made.lines[0].ids) == text.encode()
    for token, (start, end) in listed(made):
        assert known[token] in text[start:end].encode()


def _ranks_of(path: Path) -> dict[bytes, int]:
    import base64

    lines = [line.split() for line in path.read_bytes().splitlines()]
    return {base64.b64decode(piece): int(rank) for piece, rank in lines}


def test_tiktoken_joins_by_rank(folder: Path) -> None:
    pytest.importorskip("tiktoken")
    made = tokenized(ranks(folder), "the cat é€", library="tiktoken")
    assert [span for _, span in listed(made)][:2] == [(0, 3), (3, 7)]
    assert [span for _, span in listed(made)][-3:] == [(9, 10)] * 3, "three bytes of one character"


GARBAGE = [b"", b"\x00\xff" * 100, b"{}", b'{"model": null}', b"[1, 2]", b"[PAD]\n[CLS]\n", b"AAAA x\n", b"= 1\n"]


@pytest.mark.parametrize("library", libraries.TOKENIZERS)
@pytest.mark.parametrize("content", GARBAGE)
def test_a_file_that_is_garbage_is_the_models_fault(tmp_path: Path, library: str, content: bytes) -> None:
    pytest.importorskip({"wordpiece": "json", "bpe": "json"}.get(library, library))
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(ModelError) as found:
        tokens.opened(library, str(tmp_path / "file"), False, None)
    assert "\n" not in str(found.value) and len(str(found.value)) < 300


def without_a(folder: Path) -> Path:
    """Ranks of single letters; text of any other cannot be cut."""
    (folder / "few.tiktoken").write_text("YQ== 0\nYg== 1\n")
    return folder / "few.tiktoken"


def with_a_pattern_that_takes_for_ever(folder: Path) -> Path:
    split = {"type": "Split", "pattern": {"Regex": "(a+)+$"}, "behavior": "Isolated", "invert": False}
    model = {"type": "WordLevel", "vocab": {"a": 0, "[UNK]": 1}, "unk_token": "[UNK]"}
    nothing = dict.fromkeys(("truncation", "padding", "normalizer", "post_processor", "decoder"))
    file = {"version": "1.0", **nothing, "added_tokens": [], "pre_tokenizer": split, "model": model}
    (folder / "slow.json").write_text(json.dumps(file))
    return folder / "slow.json"


@pytest.mark.parametrize(
    ("library", "make", "good", "bad"),
    [
        ("tiktoken", without_a, "abba", "abcba"),
        ("tokenizers", with_a_pattern_that_takes_for_ever, "a", "a" * 40 + "!"),
    ],
)
def test_a_file_that_does_not_fit_a_text_fails_that_sample(
    tmp_path: Path, library: str, make: Callable[[Path], Path], good: str, bad: str
) -> None:
    """The library panics, which is no Exception and would end the worker."""
    pytest.importorskip(library)
    path = make(tmp_path)
    assert tokenized(path, good, library=library).lines[0].ids
    with pytest.raises(SampleError, match=f"{library} cannot cut the text: ") as found:
        tokenized(path, bad, library=library)
    assert "\n" not in str(found.value) and len(str(found.value)) < 300


def test_tokens_that_the_file_does_not_know_fail_their_sample(tmp_path: Path) -> None:
    pytest.importorskip("tiktoken")
    with pytest.raises(SampleError, match="tiktoken cannot make a text of the tokens: "):
        tokens.opened("tiktoken", str(without_a(tmp_path)), False, None).text([7])


def test_a_file_that_is_not_there_or_huge_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModelError, match="wordpiece cannot read the tokenizer's file: .*No such file"):
        tokens.opened("wordpiece", str(tmp_path / "none"), False, None)
    monkeypatch.setattr(tokens, "MOST_BYTES", 10)
    with pytest.raises(ModelError, match=r"the tokenizer's file has \d+ bytes; at most 10"):
        tokens.opened("wordpiece", str(word_pieces(tmp_path)), False, None)


@pytest.mark.parametrize("name", libraries.TOKENIZERS)
def test_a_library_that_is_missing_is_named_with_what_installs_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if name in ("wordpiece", "bpe"):
        assert libraries.PACKAGES[name] == ("numpy",)
        return
    import sys

    monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, f"{libraries.__name__}.{name}", raising=False)
    with pytest.raises(libraries.MissingLibrary, match=f"pip install {name}$"):
        libraries.load(name)
