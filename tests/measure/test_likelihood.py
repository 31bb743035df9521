"""Perplexities and bits follow from sums of logarithms and what they are divided by."""

import math
from typing import Any

import numpy as np
import pytest

from mlmodelscope.measure.interval import intervals
from mlmodelscope.measure.likelihood import MEASURES, LanguageModeling
from mlmodelscope.measure.rule import ScoreError
from mlmodelscope.measure.sums import jackknifed

RULE = LanguageModeling()
assert set(MEASURES) == {
    "perplexity",
    "perplexity-word",
    "perplexity-byte",
    "bits-per-byte",
    "perplexity-text",
    "greedy-accuracy",
}


def score(*windows: tuple[float, int], words: Any = 2, size: Any = 9, likeliest: bool = True) -> bytes:
    arrays = {
        "sums": np.array([each[0] for each in windows]),
        "tokens": np.array([each[1] for each in windows], np.int32),
        "likeliest": np.array([likeliest] * len(windows), np.uint8),
    }
    return RULE.score(arrays, {"words": words, "bytes": size}, None, {})


def test_texts_count_as_much_as_they_are_long() -> None:
    found = RULE.numbers([score((-3.0, 4), (-2.0, 3)), score((-9.0, 5), words=3, size=21)], list(MEASURES), None)
    assert found["perplexity"] == pytest.approx(math.exp(14 / 12))
    assert found["perplexity-word"] == pytest.approx(math.exp(14 / 5))
    assert found["perplexity-byte"] == pytest.approx(math.exp(14 / 30))
    assert found["bits-per-byte"] == pytest.approx(14 / 30 / math.log(2))
    assert found["perplexity-text"] == pytest.approx(math.exp(7))
    assert found["greedy-accuracy"] == 1.0


@pytest.mark.parametrize(("unit", "count"), [("tokens", 4), ("words", 2), ("bytes", 9)])
def test_perplexity_is_of_the_unit_that_is_declared(unit: str, count: int) -> None:
    arrays = {"sums": np.array([-3.0]), "tokens": np.array([4], np.int32)}
    made = RULE.score(arrays, {"words": 2, "bytes": 9}, None, {"unit": unit})
    found = RULE.numbers([made], list(MEASURES), None)
    assert found["perplexity"] == pytest.approx(math.exp(3 / count))
    assert found["perplexity-word"] == pytest.approx(math.exp(3 / 2))


def test_greedy_accuracy_needs_every_token_of_a_text() -> None:
    found = RULE.numbers([score((-1.0, 1)), score((-1.0, 1), likeliest=False)], ["greedy-accuracy"], None)
    assert found == {"greedy-accuracy": 0.5}
    ends = intervals(RULE, [score((-1.0, 1))] * 2, {"greedy-accuracy": 1.0})["greedy-accuracy"]
    assert 0 < ends[1] < 0.5 and ends[2] == 1.0


def test_an_unlikely_text_overflows_to_no_number() -> None:
    assert RULE.numbers([score((-1e9, 1))], ["perplexity", "bits-per-byte"], None).keys() == {"bits-per-byte"}


def test_a_record_says_of_how_much_its_numbers_are() -> None:
    details = RULE.details([score((-3.0, 4)), score((-9.0, 5), words=3, size=21)])
    assert details == {"texts": {"tokens": 9, "words": 5, "bytes": 30, "texts": 2}}


@pytest.mark.parametrize(
    ("windows", "more"),
    [([], {}), ([(math.nan, 4)], {}), ([(-1.0, 0)], {}), ([(-1.0, 1)], {"words": None}), ([(-1.0, 1)], {"size": "9"})],
)
def test_what_is_no_likelihood_says_so(windows: Any, more: Any) -> None:
    with pytest.raises(ScoreError, match=r"how (likely|long) the text is"):
        score(*windows, **more)


def test_perplexities_beyond_all_squares_have_no_spread_and_no_warning() -> None:
    assert jackknifed(np.array([1e200, 3e200, 2e200])) == math.inf  # a warning would be an error here
    assert jackknifed(np.array([1.0, 3.0, 2.0])) == pytest.approx(math.sqrt(4 / 3))
