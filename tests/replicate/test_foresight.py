"""Scores foresee how many answers a variant will change, from a few samples of it and all answers of the plan."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mlmodelscope.replicate.foresight import foresee, margin
from mlmodelscope.task.class_answer import ClassAnswer as Answer
from mlmodelscope.task.measure import Row

LABEL, OTHER = 3, 7


def row(ahead: float) -> Row:
    """An answer in which the right class is so far ahead, as logarithms of probabilities."""
    own = 1 / (1 + math.exp(-ahead))
    pairs = sorted([(own, LABEL), (1 - own, OTHER)], reverse=True)
    return LABEL, Answer(tuple(name for _, name in pairs), tuple(score for score, _ in pairs))


def test_a_margin_is_how_far_the_right_class_is_ahead() -> None:
    assert margin(row(1.5)) == pytest.approx(1.5) and margin(row(-0.5)) == pytest.approx(-0.5)
    assert margin((LABEL, Answer((1, 2), (0.8, 0.1)))) == pytest.approx(math.log(0.1 / 0.8))  # not among the best
    assert margin((LABEL, Answer((LABEL, 2), (5.0, -2.0)))) == 7.0  # no probabilities
    assert margin((LABEL, None)) is None and margin((LABEL, Answer((LABEL,), (1.0,)))) is None


@pytest.mark.parametrize("shift", [-1.0, -0.3, 0.0, 0.3, 1.0])
@pytest.mark.parametrize("seen", [16, 64])
def test_what_is_foreseen_is_what_comes(shift: float, seen: int) -> None:
    """In nearly all of many tries within three deviations, and nearer than the changes that were counted say."""
    chance, total, tries = np.random.default_rng(5), 400, 60
    foreseen, counted, inside = [], [], 0
    for _ in range(tries):
        before = chance.normal(0.8, 2.0, total)
        after = before + chance.normal(shift, 0.6, total)
        true = int((after > 0).sum() - (before > 0).sum())
        found = foresee(
            [row(each) for each in before[:seen]], [row(each) for each in after[:seen]], before[seen:].tolist()
        )
        assert found is not None
        more, off = found
        inside += abs(more - true) <= 3 * off
        foreseen.append((more - true) ** 2)
        counted.append(((int((after[:seen] > 0).sum() - (before[:seen] > 0).sum())) * total / seen - true) ** 2)
    assert inside >= tries - 3
    assert np.mean(foreseen) < np.mean(counted) / 2


def test_few_scores_say_nothing() -> None:
    assert foresee([row(1.0)] * 3, [row(2.0)] * 3, [0.5] * 10) is None
    nothing: list[Row] = [(LABEL, None)] * 20
    assert foresee(nothing, nothing, [None] * 10) is None
