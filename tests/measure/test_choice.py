"""Which choice is taken depends on what its likelihood is divided by, and each rule has its number."""

from typing import Any

import numpy as np
import pytest

from mlmodelscope.measure.choice import MultipleChoice
from mlmodelscope.measure.facts import facts_of
from mlmodelscope.measure.interval import intervals
from mlmodelscope.measure.rule import ScoreError
from mlmodelscope.task.choice import task
from mlmodelscope_worker.parameters import ParameterError

RULE = MultipleChoice()
NAMES = (
    "choice-accuracy",
    "choice-accuracy-characters",
    "choice-accuracy-bytes",
    "choice-accuracy-tokens",
    "choice-accuracy-unconditional",
)
CHOICES = ["no", "naïveté, as ever", "x" * 30]
ARRAYS = {
    "sums": np.array([-4.0, -9.0, -14.9]),
    "tokens": np.array([1, 4, 3], np.int32),
    "characters": np.array([2, 16, 30], np.int32),
    "bytes": np.array([2, 18, 30], np.int32),
    "alone": np.array([-3.0, -16.0, -14.0]),
}


def score(target: Any, arrays: Any = None, **options: Any) -> bytes:
    given = {**ARRAYS, **(arrays or {})}
    return RULE.score(
        {name: each for name, each in given.items() if each is not None},
        {"choices": CHOICES},
        target,
        task.settle(options),
    )


def right(one: bytes) -> dict[str, float]:
    return RULE.numbers([one], NAMES, None)


@pytest.mark.parametrize(("answer", "due"), [(0, ("choice-accuracy",)), (1, NAMES[3:]), (2, NAMES[1:3])])
def test_each_rule_takes_its_own_choice(answer: int, due: tuple[str, ...]) -> None:
    assert right(score({"answers": [answer]})) == {name: float(name in due) for name in NAMES}


def test_the_declared_rule_is_what_accuracy_means() -> None:
    taken = {
        rule: facts_of(score({"answers": [0]}, normalization=rule))["chosen"] for rule in ("none", "bytes", "tokens")
    }
    assert taken == {"none": 0, "bytes": 2, "tokens": 1}
    assert right(score({"answers": [1]}, normalization="unconditional"))["choice-accuracy"] == 1.0
    with pytest.raises(ParameterError):
        task.settle({"normalization": "words"})


def test_a_rule_that_was_not_asked_for_has_no_number() -> None:
    assert "choice-accuracy-unconditional" not in right(score({"answers": [0]}, {"alone": None}))
    with pytest.raises(ScoreError, match="`ask: {unconditional: true}`"):
        score({"answers": [0]}, {"alone": None}, normalization="unconditional")


def test_the_first_of_equal_choices_is_taken() -> None:
    assert facts_of(score({"answers": [0]}, {"sums": np.array([-4.0, -4.0, -4.0])}))["chosen"] == 0


def test_an_empty_choice_never_wins_by_its_length() -> None:
    one = score({"answers": [0]}, {"characters": np.array([0, 16, 30], np.int32)})
    assert right(one)["choice-accuracy-characters"] == 0.0


@pytest.mark.parametrize("told", [1, "naïveté, as ever"])
def test_the_right_choice_is_told_by_its_number_or_its_text(told: Any) -> None:
    assert right(score({"answers": [told]}))["choice-accuracy-tokens"] == 1.0


@pytest.mark.parametrize(
    ("target", "arrays", "reason"),
    [
        (None, None, "nobody says which choice is right"),
        ({"answers": []}, None, "nobody says which choice is right"),
        ({"answers": [3]}, None, "none of its 3 choices"),
        ({"answers": ["yes"]}, None, "none of its 3 choices"),
        ({"answers": [True]}, None, "none of its 3 choices"),
        ({"answers": [0]}, {"sums": None}, "how likely each choice is"),
        ({"answers": [0]}, {"sums": np.array([-1.0, np.nan, 0.0])}, "how likely each choice is"),
        ({"answers": [0]}, {"sums": np.array([])}, "how likely each choice is"),
    ],
)
def test_what_cannot_be_judged_says_why(target: Any, arrays: Any, reason: str) -> None:
    with pytest.raises(ScoreError, match=reason):
        score(target, arrays)


def test_three_right_of_three_is_not_all_for_sure() -> None:
    found = intervals(RULE, [score({"answers": [0]})] * 3, {"choice-accuracy": 1.0})
    assert found["choice-accuracy"][1] == pytest.approx(0.4385, abs=1e-4) and found["choice-accuracy"][2] == 1.0
