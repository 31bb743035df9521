"""What is done to the characters of a text, and where each of them was before."""

import itertools
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget import tries
from mlmodelscope_worker.pipeline import STEPS
from mlmodelscope_worker.pipeline.text import MOST_CHARACTERS, Text, read_text
from mlmodelscope_worker.pipeline.value import SampleError

FORMS = ("keep", "NFC", "NFD", "NFKC", "NFKD")
CASES = ("keep", "lower", "upper", "fold")
BLANKS = ("keep", "strip", "squeeze")
LETTERS = "aZé\u0301\u0323ßİΣςﬁ½한\u1112\u1161\u11ab中हि\u09c7\u09be\u0345ᾳǅ ̈¨\t\u00a0\u2003\u3000\n\x00\x1f\u200d😀K"


def normalized(text: str, pair: str | None = None, **parameters: object) -> Text:
    found: Text = STEPS["normalize_text"].function(
        Text(text, pair), **STEPS["normalize_text"].resolve(dict(parameters))
    )
    return found


def test_normalize_text_does_what_unicode_says() -> None:
    assert normalized("Ａ\u0301ﬁ", form="NFKC").text == unicodedata.normalize("NFKC", "Ａ\u0301ﬁ")
    assert normalized("Straße ΟΔΟΣ", case="lower").text == "straße οδος"
    assert normalized("Straße", case="fold").text == "strasse" and normalized("ß", case="upper").text == "SS"
    assert normalized("Crème brûlée", accents="strip").text == "Creme brulee"
    assert normalized(" a \t b\n", whitespace="strip").text == "a \t b"
    assert normalized(" a \t b\n", whitespace="squeeze").text == "a b"
    assert normalized("a\x00\tb\x07", control=True).text == "a\tb"


def test_normalize_text_changes_both_texts_of_a_pair() -> None:
    made = normalized("A", "B", case="lower")
    assert (made.text, made.pair) == ("a", "b") and made.original == ("A", "B")


@pytest.mark.parametrize(("form", "case", "accents"), list(itertools.product(FORMS, CASES, ("keep", "strip"))))
@given(text=st.text(LETTERS, max_size=12), blanks=st.sampled_from(BLANKS), control=st.booleans())
@settings(max_examples=tries(15, 400), deadline=None)
def test_every_character_knows_where_it_was(
    form: str, case: str, accents: str, text: str, blanks: str, control: bool
) -> None:
    made = normalized(text, form=form, case=case, accents=accents, whitespace=blanks, control=control)
    places = made.places(0)
    assert places is not None and len(places) == len(made.text)
    assert all(0 <= start < end <= len(text) for start, end in places)
    assert places == sorted(places)
    only = {"form": form, "case": case, "accents": accents, "control": control}
    for each, (start, end) in zip(made.text, places, strict=True):
        of = normalized(text[start:end], **only).text
        assert each in of.replace("σ", "σς") or (each == " " and any(map(str.isspace, of)))


@given(text=st.text(max_size=30), form=st.sampled_from(FORMS), case=st.sampled_from(CASES))
@settings(max_examples=tries(100, 5000), deadline=None)
def test_any_text_can_be_followed(text: str, form: str, case: str) -> None:
    made = normalized(text, form=form, case=case, accents="strip", whitespace="squeeze")
    places = made.places(0)
    assert places is not None and len(places) == len(made.text)


def test_a_dropped_blank_or_mark_does_not_stretch_the_word_before_it() -> None:
    made = normalized("  Ren\u0301e\u0301  \x07ran \n", form="NFC", accents="strip", whitespace="squeeze", control=True)
    places = made.places(0)
    assert made.text == "Rene ran" and places is not None
    assert (places[0][0], places[3][1]) == (2, 8), "René with its marks, without the blanks around it"
    assert (places[5][0], places[7][1]) == (11, 14)


def test_steps_one_behind_the_other_are_followed_to_the_original() -> None:
    once = normalized("  STRASSE  ẞ ", case="fold")
    twice = STEPS["normalize_text"].function(once, **STEPS["normalize_text"].resolve({"whitespace": "squeeze"}))
    assert twice.text == "strasse ss" and twice.original == ("  STRASSE  ẞ ", None)
    assert twice.places(0)[:2] == [(2, 3), (3, 4)] and twice.places(0)[-2:] == [(11, 12), (11, 12)]


def test_a_change_that_cannot_be_followed_is_not_guessed() -> None:
    from mlmodelscope_worker.pipeline.text import follow_characters

    shuffled = Text("ab").changed(lambda text: text[::-1], follow_characters(lambda text: text[::-1]))
    assert shuffled.text == "ba" and shuffled.places(0) is None


def test_marks_without_end_take_no_time_without_end() -> None:
    made = normalized("e" + "\u0301" * 50000 + "中" * 10, form="NFC")
    places = made.places(0)
    assert places is not None and places[-1] == (50010, 50011)


@pytest.mark.parametrize("content", [{}, {"text": None}, {"text": 3}, {"text": ["a"]}])
def test_what_is_no_text_is_refused(content: dict) -> None:
    with pytest.raises(SampleError, match="it has no text"):
        read_text(content)


def test_a_text_without_end_and_half_a_character_are_refused() -> None:
    with pytest.raises(SampleError, match=r"a text of 10000000 characters; at most 2097152"):
        read_text({"text": "x" * 10_000_000})
    with pytest.raises(SampleError, match="its character 2 is half of a surrogate pair"):
        read_text({"text": "ab\ud800"})
    assert len(read_text({"text": "x" * MOST_CHARACTERS})) == MOST_CHARACTERS and read_text({"text": ""}) == ""


def test_a_text_is_not_numbers_yet_and_says_what_makes_them() -> None:
    with pytest.raises(SampleError, match="this is text, not numbers yet: `tokenize` makes them"):
        _ = Text("a").array
