"""Two edits at once: which are worth trying, and what their halves say of them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from mlmodelscope.plan.claim import Claim
from mlmodelscope.replicate import search as searching
from mlmodelscope.replicate.candidate import Candidate, half_of_two
from mlmodelscope.replicate.goal import Goal
from mlmodelscope.replicate.pitfall import Variant

GOAL = Goal(Claim("top1", "80.0"), 0.6, 0.7995, 0.8005)


def plan(name: str) -> Any:
    return SimpleNamespace(digest=name)


def tried(variant: Variant, expected: float, deviation: float = 0.01) -> Candidate:
    closes = 1 - abs(0.8 - expected) / 0.2
    return Candidate(variant, 100, 0, 0, expected, deviation, 0.0, True, False, closes, False)


def alone(expected: float, deviation: float = 0.01, goal: Goal = GOAL) -> float:
    return half_of_two(tried(Variant(("one",), "one", plan("one")), expected, deviation), goal)


def test_what_helps_alone_is_likelier_to_be_one_of_two_mistakes() -> None:
    assert alone(0.7) > 1 > 0 > -1 > alone(0.5)
    assert alone(0.6) == 0
    assert abs(alone(0.7, deviation=1.0)) < 0.1 < alone(0.61, deviation=0.01)


def test_help_is_toward_the_claim() -> None:
    too_good = Goal(Claim("top1", "40.0"), 0.6, 0.3995, 0.4005)
    assert alone(0.5, goal=too_good) > 1 > 0 > alone(0.7, goal=too_good)


def pair(first: str, second: str, made: str, base: str = "base") -> Variant:
    return Variant((first, second), f"{first} words; {second} words", plan(made), plan(base))


def test_a_second_edit_that_overrides_the_first_is_one_edit() -> None:
    class Known:
        variants = (Variant(("one",), "one", plan("a")), Variant(("two",), "two", plan("b")))

        def has_same_pipeline(self, some: Any, other: Any) -> bool:
            return bool(some.digest == other.digest)

    fresh = [pair("one", "two", "b"), pair("one", "two", "both"), pair("one", "label-order", "a")]
    kept = searching._of_two(fresh, Known())  # type: ignore[arg-type]
    assert [each.plan.digest for each in kept] == ["both", "a"]


def test_each_of_the_nearest_pairs_is_tried_with_other_first_edits(monkeypatch: pytest.MonkeyPatch) -> None:
    """One whose second edit was read off the answers comes nearer than the truth does with the wrong first edit."""

    def others(made: Any, names: tuple[str, ...]) -> list[Variant]:
        return [Variant(names, f"other {name}", plan(f"{made.digest}, other {name}")) for name in names]

    monkeypatch.setattr(searching, "variants_of", others)
    single = Variant(("quantization",), "half", plan("single"))
    found = [
        tried(single, 0.75),
        tried(pair("quantization", "label-order", "near"), 0.79),
        tried(pair("quantization", "label-order", "less near"), 0.78),
        tried(pair("quantization", "data-layout", "nearly"), 0.76),
        tried(pair("cropping", "data-layout", "far"), 0.62),
    ]
    again = searching._other_firsts(found)
    assert [each.plan.digest for each in again] == ["near, other quantization", "nearly, other quantization"]
    assert again[1].words == "other quantization; data-layout words"
    assert again[1].pitfalls == ("quantization", "data-layout")


def test_the_commonest_mistakes_are_gone_on_from_where_undoing_one_of_two_changes_nothing() -> None:
    """Each of two mistakes leaves nothing right, so that neither edit alone shows."""
    names = ("quantization", "color-layout", "data-layout", "threads")
    common = {"color-layout": -1.0, "data-layout": -2.0, "quantization": -3.0, "threads": -0.1}
    found = [tried(Variant((name,), name, plan(name)), 0.6) for name in names]
    found.append(tried(Variant(("color-layout",), "a rarer one", plan("rare")), 0.6))
    race = SimpleNamespace(prior=lambda each: common[each.pitfalls[0]] - (each.words == "a rarer one"))
    state: Any = SimpleNamespace(found=found, race=race, goal=GOAL)
    bases = searching._common_bases(state, [found[0]])
    assert [each.variant.words for each in bases] == ["color-layout", "data-layout"]
    state.goal = Goal(Claim("psnr", "30.00"), 29.0, 29.995, 30.005)
    assert searching._common_bases(state, []) == []
