"""The intervals behind verdicts hold the true number about as often as they say: 95 of 100 times.

`benchmarks/verdict_intervals.py` shows more kinds of study; here the same is tried on few.
"""

import math

import numpy as np
import pytest

from budget import tries
from mlmodelscope.statistic.population import share_interval
from mlmodelscope.task.class_answer import ClassAnswer as Answer
from mlmodelscope.task.measure import MEASURES, Row

NOMINAL = 0.95
WHOLE = 10_000
STUDIES = tries(4_000, 100_000)


def coverage(rights: np.ndarray, share: float, samples: int, population: int | None) -> float:
    held = 0
    for right, count in zip(*np.unique(rights, return_counts=True), strict=True):
        found = share_interval(int(right), samples, population)
        held += int(count) * (found.low <= share <= found.high)
    return float(held / len(rights))


@pytest.mark.parametrize("share", [0.1, 0.5, 0.75, 0.9])
@pytest.mark.parametrize("samples", [100, 1_000, 5_000])
def test_a_share_is_covered_as_often_as_promised(samples: int, share: float) -> None:
    chance = np.random.default_rng(11)
    endless = coverage(chance.binomial(samples, share, STUDIES), share, samples, None)
    right = round(share * WHOLE)
    drawn = chance.hypergeometric(right, WHOLE - right, samples, STUDIES)
    narrowed = coverage(drawn, share, samples, WHOLE)
    assert NOMINAL - 0.025 <= endless <= NOMINAL + 0.025
    assert NOMINAL - 0.025 <= narrowed <= NOMINAL + 0.025


def test_an_interval_that_ignored_the_dataset_would_be_too_wide() -> None:
    """Half of the dataset was seen: without that knowledge, nearly every interval would hold the true number."""
    chance, samples = np.random.default_rng(12), WHOLE // 2
    drawn = chance.hypergeometric(7_500, 2_500, samples, STUDIES)
    assert coverage(drawn, 0.75, samples, None) > 0.985 > coverage(drawn, 0.75, samples, WHOLE)


SIMULATED = 0.92
"""Of the mean of two classes with 40 samples each, in many studies: drawing again is a little too sure with few."""


def fewest(studies: int, share: float, chance: float = 1e-4) -> int:
    """Of so many studies, the number that hold the true value in all but one of ten thousand such tests."""
    below = 0.0
    for held in range(studies + 1):
        below += math.comb(studies, held) * share**held * (1 - share) ** (studies - held)
        if below > chance:
            return held
    return studies


def test_a_mean_over_classes_is_covered_by_drawing_again() -> None:
    chance, shares, studies = np.random.default_rng(13), (0.9, 0.5), tries(60, 400)
    held = 0
    for _ in range(studies):
        draws = chance.random(80)
        rows: list[Row] = [
            (at % 2, Answer((at % 2 if draw < shares[at % 2] else 7,), (1.0,))) for at, draw in enumerate(draws)
        ]
        found = MEASURES["class-accuracy"].interval(rows)
        held += found.low <= sum(shares) / 2 <= found.high
    assert held >= fewest(studies, SIMULATED) >= 0.75 * studies
