"""What scores say of a variant before its answers do.

A few samples show how far a variant moves the right class ahead of the others, or back. The plan's own answers are
known for all samples, and so is how far each is from changing; both together predict how many will change. That is a
guess, which tells which variants to try next, and proves nothing: only answers that were given count as evidence.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, pstdev

from mlmodelscope.task.class_answer import ClassAnswer
from mlmodelscope.task.measure import Row

_FEWEST = 6
"""Samples whose scores must be known before anything is guessed from them."""
_LEAST_SPREAD = 0.05
_DOUBT = 0.2
"""Share of the changes that are foreseen by which the guess may be off, whatever the samples say."""
_FAR = 4.0
"""Deviations from changing beyond which an answer is taken not to change."""
_ROOT_TWO, _ROOT_TWO_PI = math.sqrt(2), math.sqrt(2 * math.pi)


def margin(row: Row) -> float | None:
    """How far the right class is ahead of the best other one; at most so far, where it is not among the best."""
    label: int = row[0]
    answer: ClassAnswer | None = row[1]
    if answer is None or len(answer.scores) < 2:
        return None
    best = answer.scores[0]
    own = answer.scores[answer.classes.index(label)] if label in answer.classes else answer.scores[-1]
    other = answer.scores[1] if answer.classes[0] == label else best
    if 0 < own <= 1 and 0 < other <= 1:  # probabilities: their logarithms say how far
        return math.log(own / other)
    return own - other


def foresee(before: Sequence[Row], after: Sequence[Row], rest: Sequence[float | None]) -> tuple[float, float] | None:
    """(how many more samples will be right, how far that may be off) of all: seen before and after, and the rest.

    `rest` are the margins of the plan's answers to the samples that the variant has not seen.
    """
    moves = []
    gained = 0
    for then, now in zip(before, after, strict=True):
        was, is_now = margin(then), margin(now)
        if was is not None and is_now is not None:
            moves.append(is_now - was)
        gained += _is_right(now) - _is_right(then)
    if len(moves) < _FEWEST:
        return None
    moves.sort()
    if moves[0] == moves[-1] == 0:  # the very same scores: mostly it makes the same tensors
        return float(gained), 0.0
    cut = len(moves) // 8  # a few that move far say nothing of the others
    middle = moves[cut : len(moves) - cut]
    mean, spread = fmean(middle), max(pstdev(middle) * (1.2 if cut else 1.0), _LEAST_SPREAD)
    more = noise = turnover = slope = 0.0
    for each in rest:
        if each is None:
            continue
        is_right, place = each > 0, (each + mean) / spread
        if abs(place) > _FAR:
            change = float((place > 0) - is_right)
        else:
            share = 0.5 + 0.5 * math.erf(place / _ROOT_TWO)
            change = share - is_right
            noise += share * (1 - share)
            slope += math.exp(-place * place / 2)
        more += change
        turnover += abs(change)
    slope /= spread * _ROOT_TWO_PI
    off = math.hypot(math.sqrt(noise), slope * spread / math.sqrt(len(middle)), _DOUBT * turnover)
    return gained + more, off


def _is_right(row: Row) -> bool:
    label, answer = row
    return answer is not None and answer.classes[:1] == (label,)
