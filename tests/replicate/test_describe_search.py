"""What a search found, in words that say no more than is known."""

from dataclasses import replace

import pytest

from mlmodelscope.plan.claim import Claim
from mlmodelscope.replicate.candidate import Candidate
from mlmodelscope.replicate.describe import describe_search
from mlmodelscope.replicate.pitfall import Variant
from mlmodelscope.replicate.search import Found, Separation
from mlmodelscope.replicate.significance import Split
from mlmodelscope.replicate.verdict import Verdict, judge
from mlmodelscope.statistic.population import share_interval


def candidate(name: str, expected: float, chance: float, split: Split, *, second: str = "") -> Candidate:
    names = (name, second) if second else (name,)
    variant = Variant(names, " and ".join(names), None, object() if second else None)  # type: ignore[arg-type]
    return Candidate(
        variant, 1000, split.toward, split.away, expected, 0.0, 0.0, True, True, 0.95, True, split=split, chance=chance
    )


def verdict(population: int = 1000) -> Verdict:
    return judge(Claim("top1", "92.8"), share_interval(847, 1000, population), 1000, population=population)


def said(found: Found, population: int = 1000) -> str:
    return "\n".join(describe_search(found, verdict(population)))


SURE = candidate("color-layout", 0.928, 1e-9, Split(90, 9))


def test_a_cause_is_told_with_the_samples_that_speak_for_it() -> None:
    text = said(Found((SURE,), (SURE,), ()))
    assert "color-layout (color-layout) explains the gap of -8.10 points: with it, 92.80 % is measured." in text
    assert "90 of the 99 samples that the edit changes speak for it (p < 1e-6, corrected for 1 variant)" in text


def test_what_chance_might_do_is_called_compatible() -> None:
    weak = candidate("cropping", 0.928, 0.61, Split(12, 8))
    text = said(Found((weak,), (), (), compatible=(weak,)))
    assert text.startswith("Nothing that was tried explains the gap")
    assert "compatible" in text and "12 of the 20 samples" in text and "p = 0.61" in text


def test_most_of_a_gap_and_what_may_explain_the_rest() -> None:
    near = replace(SURE, expected=0.924)
    second = candidate("color-layout", 0.928, 0.4, Split(9, 5), second="normalization")
    text = said(Found((near, second), (), (), near=near, compatible=(second,)))
    assert "color-layout (color-layout) explains 95 % of the gap of -8.10 points: with it, 92.40 % is measured." in text
    assert "The other 0.40 points are compatible with a second edit" in text
    assert "9 of the 14 samples that the second edit changes speak for it (p = 0.4" in text
    assert "Nothing that was tried with it explains the other 0.40 points" in said(Found((near,), (), (), near=near))


@pytest.mark.parametrize(("population", "expected"), [(1000, False), (10_000, True)])
def test_several_causes_say_what_would_tell_them_apart(population: int, expected: bool) -> None:
    other = candidate("cropping", 0.928, 1e-7, Split(100, 19))
    separation = Separation("00011", (("a", 3), ("b", 4)), samples=2)
    text = said(Found((SURE, other), (SURE, other), (), separation), population)
    assert "One of 2 edits explains the gap" in text
    assert "The claimant's answers to 2 samples would tell them apart, such as that to 00011: a answers 3" in text
    assert ("About 8,000 samples would tell them apart." in text) == expected


def test_a_search_that_ran_out_of_budget_names_the_one_that_would_do() -> None:
    text = said(Found((), (), (), is_cut_short=True, budget=17))
    assert "`--budget 17` would let it finish" in text
