"""What is said about tokens, brought back to the characters of the text."""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget import tries
from mlmodelscope_worker.output import ANSWER_STEPS
from mlmodelscope_worker.output.boxes import Refused
from mlmodelscope_worker.output.spans import entities, words_of
from mlmodelscope_worker.parameters import ParameterError
from mlmodelscope_worker.pipeline.text import Text
from mlmodelscope_worker.pipeline.tokens import Line, Tokens
from worker_package.vocabularies import run, word_pieces

LABELS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]


def step(name: str, values: dict[str, Any], frame: Any, parameters: Any = None) -> Any:
    declared = ANSWER_STEPS[name]
    return declared.function(values, frame, **declared.resolve(parameters))


def tokens_at(text: str, spans: list[tuple[int, int]]) -> Tokens:
    """Tokens of one text at these places, between two special ones."""
    parts: list[int] = [-1, *[0] * len(spans), -1]
    return Tokens(Text(text), [Line(list(range(len(parts))), None, parts, [None, *spans, None])])


def scored(tags: list[str], labels: list[str]) -> np.ndarray:
    """Scores of the tokens between two special ones, where each has one tag."""
    made = np.zeros((len(tags) + 2, len(labels)), np.float32)
    for place, tag in enumerate(tags, 1):
        made[place, labels.index(tag)] = 1
    return made


def conlleval(tags: list[str]) -> list[tuple[str, int, int]]:
    """(type, first, last) of each entity, as conlleval and seqeval find them, by a rule for every pair of tags."""
    found, begun, before = [], 0, ("O", "")
    for place, tag in enumerate([*tags, "O"]):
        letter, kind = (tag[0], tag[2:]) if tag != "O" else ("O", "")
        was, of = before
        ends = was in "ES" or (was in "BI" and letter in "BSO") or (was not in "O" and kind != of)
        starts = (
            letter in "BS"
            or (was in "ES" and letter in "IE")
            or (was == "O" and letter in "EI")
            or (letter != "O" and kind != of)
        )
        if was != "O" and ends:
            found.append((of, begun, place - 1))
        if starts:
            begun = place
        before = (letter, kind)
    return found


@pytest.mark.parametrize(("scheme", "letters"), [("BIO", "BI"), ("IOB1", "BI"), ("BIOES", "BIES"), ("BILOU", "BILU")])
@given(data=st.data())
@settings(max_examples=tries(200, 5000), deadline=None)
def test_entities_are_those_of_conlleval(scheme: str, letters: str, data: st.DataObject) -> None:
    known = ["O", *(f"{letter}-{kind}" for letter in letters for kind in ("PER", "LOC"))]
    tags = data.draw(st.lists(st.sampled_from(known), max_size=8))
    tagged = [(tag, place, place + 1, 1.0) for place, tag in enumerate(tags)]
    alike = [tag.replace("L-", "E-").replace("U-", "S-") if scheme == "BILOU" else tag for tag in tags]
    expected = [(first, last + 1, kind) for kind, first, last in conlleval(alike)]
    assert [each[:3] for each in entities(tagged, scheme)] == expected


@pytest.mark.parametrize(
    ("scheme", "tags", "whole"),
    [
        ("BIO", ["I-PER", "O", "B-PER", "I-PER"], [(2, 4)]),
        ("BIO", ["B-PER", "I-LOC"], [(0, 1)]),
        ("IOB1", ["I-PER", "I-PER", "B-PER"], [(0, 2), (2, 3)]),
        ("BILOU", ["B-PER", "I-PER", "O", "U-PER", "B-PER", "L-PER"], [(3, 4), (4, 6)]),
        ("BIOES", ["E-PER", "S-PER", "B-PER", "E-PER", "I-PER"], [(1, 2), (2, 4)]),
        ("plain", ["PER", "PER", "O", "PER"], [(0, 2), (3, 4)]),
    ],
)
def test_strays_can_be_dropped(scheme: str, tags: list[str], whole: list[tuple[int, int]]) -> None:
    tagged = [(tag, place, place + 1, 1.0) for place, tag in enumerate(tags)]
    assert [each[:2] for each in entities(tagged, scheme, only_whole=True)] == whole
    kept = len(whole) if scheme in ("IOB1", "plain") else len(whole) + 1
    assert len(entities(tagged, scheme)) >= kept


def test_join_tags_gives_characters_of_the_text() -> None:
    text = "Mr. Bob Smith of Oslo"
    spans = [(0, 2), (2, 3), (4, 7), (8, 13), (14, 16), (17, 21)]
    values = {"logits": scored(["O", "O", "B-PER", "I-PER", "O", "B-LOC"], LABELS)}
    made = step("join_tags", values, tokens_at(text, spans).frame, {"labels": LABELS})["spans"]
    assert made == [[4, 13, "PER", 1.0], [17, 21, "LOC", 1.0]]


def test_join_tags_finds_the_original_of_a_changed_text(tmp_path: Path) -> None:
    text = Text("  CAFE\u0301   naive  Cat ")
    text = run("normalize_text", text, {"case": "lower", "form": "NFC", "accents": "strip", "whitespace": "squeeze"})
    cut = run("tokenize", text, {"file": str(word_pieces(tmp_path)), "library": "wordpiece"})
    values = {"tensor": scored(["B-LOC", "O", "B-PER"], LABELS)[1:-1]}
    made = step("join_tags", values, cut.frame, {"labels": LABELS})["spans"]
    original = text.original[0]
    assert [(original[start:end], kind) for start, end, kind, _ in made] == [("CAFE\u0301", "LOC"), ("Cat", "PER")]


@pytest.mark.parametrize(
    ("words", "expected"),
    [("first", ["PER"]), ("best", ["LOC"]), ("mean", ["LOC"]), ("apart", ["PER", "LOC"])],
)
def test_join_tags_lets_the_pieces_of_a_word_speak_together(words: str, expected: list[str]) -> None:
    cut = tokens_at("playing", [(0, 4), (4, 7)])
    scores = np.array([[0, 0, 0, 0, 0], [0, 0.5, 0, 0.2, 0], [0, 0.1, 0, 0.9, 0], [0, 0, 0, 0, 0]], np.float32)
    made = step("join_tags", {"logits": scores}, cut.frame, {"labels": LABELS, "words": words})["spans"]
    assert [each[2] for each in made] == expected
    assert made[0][:2] == [0, 7] if words != "apart" else [each[:2] for each in made] == [[0, 4], [4, 7]]


@pytest.mark.parametrize(
    ("text", "spans", "groups"),
    [
        ("un##able", [(0, 2), (2, 4), (4, 8)], [[1], [2], [3]]),
        ("unable", [(0, 2), (2, 6)], [[1, 2]]),
        ("U.S.", [(0, 1), (1, 2), (2, 3), (3, 4)], [[1], [2], [3], [4]]),
        ("москва", [(0, 3), (3, 6)], [[1, 2]]),
        ("हिन्दी", [(0, 2), (2, 4), (4, 6)], [[1, 2, 3]]),
        ("中国人", [(0, 1), (1, 3)], [[1], [2]]),
        ("中A1", [(0, 1), (1, 2), (2, 3)], [[1], [2, 3]]),
        ("a bc", [(0, 1), (1, 3), (3, 4)], [[1], [2, 3]]),
        ("é", [(0, 1), (0, 1)], [[1, 2]]),
        ("a  ", [(0, 1), (1, 3)], [[1]]),
        ("", [], []),
    ],
)
def test_words_are_tokens_that_touch(text: str, spans: list[tuple[int, int]], groups: list[list[int]]) -> None:
    assert words_of(tokens_at(text, spans).lines[0], text) == groups


def test_words_that_blanks_alone_part_keep_their_punctuation() -> None:
    text, spans = "Jean-Paul ran.", [(0, 4), (4, 5), (5, 9), (9, 13), (13, 14)]
    line = tokens_at(text, spans).lines[0]
    assert words_of(line, text, "blank") == [[1, 2, 3], [4, 5]]
    assert words_of(line, text) == [[1], [2], [3], [4], [5]]


@pytest.mark.parametrize(
    ("labels", "scheme", "reason"),
    [
        (["O", "S-PER"], "BIO", "`S-PER` is not a tag of the scheme BIO"),
        (["O", "L-PER"], "BIOES", "`L-PER` is not a tag of the scheme BIOES"),
        (["PER", "LOC"], "BIO", "`labels` has no tag of the scheme BIO"),
    ],
)
def test_join_tags_refuses_tags_of_another_scheme(labels: list[str], scheme: str, reason: str) -> None:
    with pytest.raises(ParameterError, match=reason):
        ANSWER_STEPS["join_tags"].resolve({"labels": labels, "scheme": scheme})
    assert ANSWER_STEPS["join_tags"].resolve({"labels": ["[PAD]", "O", "B-PER", "I-PER"]})


def test_join_tags_refuses_other_shapes() -> None:
    frame = tokens_at("a", [(0, 1)]).frame
    with pytest.raises(Refused, match="the model has 3 classes of tokens, and `labels` names 5"):
        step("join_tags", {"logits": np.zeros((3, 3))}, frame, {"labels": LABELS})
    with pytest.raises(Refused, match="this has 1 axes"):
        step("join_tags", {"logits": np.zeros(3)}, frame, {"labels": LABELS})
    with pytest.raises(Refused, match="there is boxes"):
        step("join_tags", {"boxes": np.zeros((3, 5))}, frame, {"labels": LABELS})
    with pytest.raises(Refused, match="not made by `tokenize`"):
        step("join_tags", {"logits": np.zeros((3, 5))}, object(), {"labels": LABELS})


QUESTION, CONTEXT = "who ran", "Yesterday Ann Lee ran home"
SPANS = [(0, 9), (10, 13), (14, 17), (18, 21), (22, 26)]


def asked(swapped: bool = False) -> Tokens:
    """[CLS] question [SEP] context [SEP]"""
    first, second = [(0, 3), (4, 7)], SPANS
    if swapped:
        first, second = second, first
    spans = [None, *first, None, *second, None]
    parts = [-1, *[0] * len(first), -1, *[1] * len(second), -1]
    line = Line(list(range(len(parts))), None, parts, spans)
    return Tokens(Text(QUESTION, CONTEXT), [line], is_swapped=swapped, is_pair=True)


@given(
    starts=st.lists(st.integers(-5, 5), min_size=10, max_size=10),
    ends=st.lists(st.integers(-5, 5), min_size=10, max_size=10),
    longest=st.integers(1, 6),
    may_be_none=st.booleans(),
)
@settings(max_examples=tries(200, 5000), deadline=None)
def test_answer_span_is_the_best_of_all_spans(
    starts: list[int], ends: list[int], longest: int, may_be_none: bool
) -> None:
    values = {"start": np.array(starts, np.float32), "end": np.array(ends, np.float32)}
    made = step("answer_span", values, asked().frame, {"longest": longest, "may_be_none": may_be_none})
    every = {
        CONTEXT[SPANS[one][0] : SPANS[two][1]]: starts[4 + one] + ends[4 + two]
        for one, two in itertools.combinations_with_replacement(range(5), 2)
        if two < one + longest
    }
    none, best = starts[0] + ends[0], max(every.values())
    if may_be_none and none > best:
        assert made == {"text": "", "score": none}
    else:
        assert made["score"] == best and every[made["text"]] == best


def test_answer_span_tries_so_many_of_the_best_and_knows_which_text_has_the_answer() -> None:
    starts, ends = np.zeros(10, np.float32), np.zeros(10, np.float32)
    starts[7], starts[5], ends[5], ends[6] = 3, 2, 5, 4
    values = {"start": starts, "end": ends}
    assert step("answer_span", values, asked().frame)["text"] == "Ann"
    assert step("answer_span", values, asked().frame, {"best": 1})["text"] == "", "the best end is before the start"
    turned = {"start": np.roll(starts, -3), "end": np.roll(ends, -3)}
    assert step("answer_span", turned, asked(swapped=True).frame, {"within": "first"})["text"] == "Ann"


def test_answer_span_without_an_answer_needs_a_margin() -> None:
    starts, ends = np.zeros(10, np.float32), np.zeros(10, np.float32)
    starts[0], starts[5] = 2, 1
    values = {"start": starts, "end": ends}
    assert step("answer_span", values, asked().frame, {"may_be_none": True})["text"] == ""
    assert step("answer_span", values, asked().frame, {"may_be_none": True, "margin": 1.0})["text"] == "Ann"
    assert step("answer_span", values, asked().frame)["text"] == "Ann"


def test_answer_span_of_a_text_without_tokens_and_of_ruled_out_ones() -> None:
    empty = Tokens(Text("who", ""), [Line([1, 2, 3], None, [-1, 0, -1], [None, (0, 3), None])], is_pair=True)
    values = {"start": np.zeros(3, np.float32), "end": np.zeros(3, np.float32)}
    assert step("answer_span", values, empty.frame)["text"] == ""
    assert step("answer_span", values, empty.frame, {"within": "first"})["text"] == "who"
    out = {"start": np.full(10, -np.inf, np.float32), "end": np.zeros(10, np.float32)}
    assert step("answer_span", out, asked().frame)["score"] is None
    with pytest.raises(Refused, match="outputs `start` and `end` about tokens are needed; there is logits"):
        step("answer_span", {"logits": np.zeros(3)}, asked().frame)
