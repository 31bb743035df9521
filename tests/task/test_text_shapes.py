"""Texts in which something is marked: entities, and words that an answer changed."""

import pytest

from mlmodelscope.cli.prediction_table import show_shapes
from mlmodelscope.report.marked_text import marked_texts
from mlmodelscope.task.shape import DifferenceShape, SpansShape, TextShape, read_shapes, summary

WORDS = DifferenceShape("answer", (("equal", "the", "the"), ("replace", "cat", "<b>at"), ("insert", "", "sat")))


def test_a_text_is_cut_where_a_span_begins_or_ends() -> None:
    shape = SpansShape("truth", "Anna lives in Rome.", ((0, 4, "PER", None), (14, 18, "LOC", 0.5)))
    assert shape.pieces() == [("Anna", ("PER",)), (" lives in ", ()), ("Rome", ("LOC",)), (".", ())]
    assert summary([shape], "truth") == "PER Anna, LOC Rome"


def test_overlapping_spans_are_marked_piece_by_piece() -> None:
    shape = SpansShape("answer", "abcd", ((0, 3, "<b>", None), (2, 9, "Y", None), (-5, 1, "Z", None)))
    assert shape.pieces() == [("a", ("<b>", "Z")), ("b", ("<b>",)), ("c", ("<b>", "Y")), ("d", ("Y",))]
    assert marked_texts([shape], "answer")[0][0] == ("mark", "a", "<b>, Z")


def test_spans_of_a_text_that_is_not_known_are_places() -> None:
    ((piece,),) = marked_texts([SpansShape("answer", "", ((0, 4, "PER", None),))], "answer")
    assert piece.text == "PER 0–4"


def test_changed_words_are_struck_out_and_put_in() -> None:
    ((*pieces,),) = marked_texts([WORDS], "answer")
    assert "".join(f"<{each.kind}>{each.text}" for each in pieces if each.text != " ") == (
        "<plain>the <del>cat<ins><b>at<ins>sat"
    )
    assert summary([WORDS], "answer") == "the <b>at sat"


def test_predict_prints_changed_words_as_programs_do_that_compare_them(capsys: pytest.CaptureFixture[str]) -> None:
    show_shapes([WORDS], 0.3)
    assert "the [-cat-]{+<b>at+} {+sat+}" in capsys.readouterr().out


def test_long_texts_are_cut() -> None:
    long = SpansShape("answer", "word " * 10_000, tuple((5 * at, 5 * at + 4, "X", None) for at in range(10_000)))
    changed = DifferenceShape("answer", (("insert", "", "word"),) * 10_000)
    for shape in (long, changed, TextShape("answer", "word " * 10_000)):
        ((*pieces, last),) = marked_texts([shape], "answer")
        assert last.text == "…" and sum(len(each.text) for each in pieces) == 4000


def test_texts_are_read_as_json_had_them() -> None:
    plain = [
        {"kind": "difference", "side": "answer", "parts": [["insert", "", "x"]]},
        {"kind": "spans", "side": "truth", "text": "ab", "spans": [[0, 1, "X", None]]},
    ]
    assert read_shapes(plain) == (
        DifferenceShape("answer", (("insert", "", "x"),)),
        SpansShape("truth", "ab", ((0, 1, "X", None),)),
    )
