"""Stems are those of NLTK's PorterStemmer, which rouge-score uses."""

import random
import re
from pathlib import Path

import pytest

from mlmodelscope.measure.porter import stem

ENDINGS = (
    "sses ies ss s eed ed ing ied y ational tional enci anci izer bli alli entli eli ousli ization ation ator alism"
)
ENDINGS += (
    " iveness fulness ousness aliti iviti biliti fulli logi icate ative alize iciti ical ful ness al ance ence er ic"
)
ENDINGS += " able ible ant ement ment ent ion ou ism ate iti ous ive ize e ll"


@pytest.fixture(scope="module")
def theirs() -> object:
    return pytest.importorskip("nltk.stem.porter").PorterStemmer()


@pytest.mark.parametrize(
    ("word", "expected"),
    [("running", "run"), ("runs", "run"), ("skies", "sky"), ("relational", "relat"), ("enjoy", "enjoy"), ("be", "be")],
)
def test_words_have_the_stems_that_everybody_expects(word: str, expected: str) -> None:
    assert stem(word) == expected


def test_words_of_these_pages_have_the_stems_of_nltk(theirs: object) -> None:
    pages = " ".join(path.read_text() for path in sorted((Path(__file__).parents[2] / "docs").glob("*.md")))
    words = sorted(set(re.findall("[a-z0-9]+", pages.lower())))
    assert len(words) > 2000
    assert [stem(each) for each in words] == [theirs.stem(each) for each in words]  # type: ignore[attr-defined]


def test_made_up_words_have_the_stems_of_nltk(theirs: object) -> None:
    chance = random.Random(0)
    for _ in range(20_000):
        word = "".join(chance.choices("aeioybcdlnstwxz", k=chance.randint(0, 5)))
        word += "".join(chance.choices(ENDINGS.split(), k=chance.randint(1, 2)))
        assert stem(word) == theirs.stem(word), word  # type: ignore[attr-defined]
