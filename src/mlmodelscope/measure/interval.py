"""How sure a number is that has no formula: the samples are weighted anew, again and again (Poisson bootstrap).

A weight is how often a sample would have been drawn. Large sets would take long to draw again, so they are left out
group by group instead (delete-a-group jackknife), which needs few passes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist

import numpy as np

from mlmodelscope.measure.rule import Rule, SpreadRule
from mlmodelscope.statistic.interval import wilson
from mlmodelscope.statistic.student import t_quantile

_CONFIDENCE = 0.95
_DRAWS = 200
_MANY_BYTES = 2 << 20
"""Of scores: beyond that, groups are left out instead."""
_GROUPS = 40
_PAIRED_DRAWS = 60


def intervals(
    rule: Rule, scores: Sequence[bytes], numbers: Mapping[str, float]
) -> dict[str, tuple[float, float, float, float]]:
    """(value, low, high, confidence) of each number that has one; a single sample leaves everything open."""
    numbers = {name: value for name, value in numbers.items() if name not in getattr(rule, "without_interval", ())}
    if len(scores) < 2 or not numbers:
        return {}
    if isinstance(rule, SpreadRule):
        return _by_rule(rule, scores, numbers)
    drawn = _drawn(rule, scores, list(numbers))
    z, found = NormalDist().inv_cdf(0.5 + _CONFIDENCE / 2), {}
    for name, value in numbers.items():
        known = [each[name] for each in drawn if name in each and math.isfinite(each[name])]
        if len(known) > 1:
            half = z * _spread(known, len(scores))
            found[name] = (value, value - half, value + half, _CONFIDENCE)
    return found


def _by_rule(
    rule: SpreadRule, scores: Sequence[bytes], numbers: Mapping[str, float]
) -> dict[str, tuple[float, float, float, float]]:
    """From the rule's own deviations; of a few samples the normal distribution would promise too much (Student's t)."""
    wide = t_quantile(0.5 + _CONFIDENCE / 2, len(scores) - 1)
    found = {
        name: (numbers[name], numbers[name] - wide * each, numbers[name] + wide * each, _CONFIDENCE)
        for name, each in rule.deviations(scores, list(numbers)).items()
        if math.isfinite(each)
    }
    return {**found, **_of_shares(rule, scores, numbers)}


def _of_shares(
    rule: Rule, scores: Sequence[bytes], numbers: Mapping[str, float]
) -> dict[str, tuple[float, float, float, float]]:
    """Of samples that are right or wrong the interval is known (Wilson's); none right of three is not 0 for sure."""
    counts = getattr(rule, "counts", None)
    if counts is None:
        return {}
    ends = {name: wilson(right, due) for name, (right, due) in counts(scores, list(numbers)).items()}
    return {name: (numbers[name], each.low, each.high, _CONFIDENCE) for name, each in ends.items()}


def paired(rule: Rule, before: Sequence[bytes], after: Sequence[bytes], name: str) -> tuple[float, float]:
    """(after minus before, its standard deviation) on the same samples."""
    first, second = (rule.numbers(each, [name], None).get(name, math.nan) for each in (before, after))
    chance, moves = np.random.default_rng(0), []
    for _ in range(_PAIRED_DRAWS):
        weights = chance.poisson(1.0, len(before)).astype(np.float64)
        then, now = (rule.numbers(each, [name], weights).get(name, math.nan) for each in (before, after))
        if math.isfinite(now - then):
            moves.append(now - then)
    spread = float(np.std(moves, ddof=1)) if len(moves) > 1 else math.inf
    return second - first, spread


def _drawn(rule: Rule, scores: Sequence[bytes], names: Sequence[str]) -> list[dict[str, float]]:
    if sum(map(len, scores)) > _MANY_BYTES and len(scores) >= 2 * _GROUPS:
        return [rule.numbers(scores, names, weights) for weights in _without_groups(len(scores))]
    chance = np.random.default_rng(0)
    draws = (chance.poisson(1.0, len(scores)).astype(np.float64) for _ in range(_DRAWS))
    return [rule.numbers(scores, names, weights) for weights in draws if weights.any()]


def _without_groups(count: int) -> list[np.ndarray]:
    groups = np.random.default_rng(0).permutation(count) % _GROUPS
    return [(groups != each).astype(np.float64) for each in range(_GROUPS)]


def _spread(values: Sequence[float], samples: int) -> float:
    """Standard deviation of the number, from drawn samples or from groups that were left out."""
    deviation = float(np.std(values, ddof=1))
    if len(values) == _GROUPS:
        return deviation * (_GROUPS - 1) / math.sqrt(_GROUPS)
    return deviation
