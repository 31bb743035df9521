"""Student's t: how far the mean of a few numbers may be off, where the normal distribution would promise too much."""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist

_MANY = 2000
"""Degrees of freedom beyond which it is the normal distribution to three digits."""


@cache
def t_quantile(probability: float, freedom: int) -> float:
    """The value that a t-distributed number with so many degrees of freedom is below with this probability."""
    if not 0.5 <= probability < 1 or freedom < 1:
        raise ValueError(f"there is no quantile of {probability} with {freedom} degrees of freedom")
    if freedom > _MANY:
        return NormalDist().inv_cdf(probability)
    low, high = 0.0, NormalDist().inv_cdf(probability) + 1
    while _below(high, freedom) < probability:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if _below(middle, freedom) < probability else (low, middle)
    return high


def t_chance(value: float, freedom: int) -> float:
    """How likely a t-distributed number with so many degrees of freedom is as far from 0 as this value, either way."""
    if freedom < 1:
        raise ValueError(f"there is no chance of {value} with {freedom} degrees of freedom")
    if freedom > _MANY:
        return math.erfc(abs(value) / math.sqrt(2))
    return max(0.0, 2 * (1 - _below(abs(value), freedom)))


def _below(value: float, freedom: int) -> float:
    """The distribution function for values from 0 on, by its finite sums (Abramowitz and Stegun 26.7.3 and 26.7.4)."""
    angle = math.atan(value / math.sqrt(freedom))
    cosine, sine = math.cos(angle), math.sin(angle)
    odd = freedom % 2
    term = total = cosine if odd else 1.0
    if odd and freedom == 1:
        return 0.5 + angle / math.pi
    for step in range(3 if odd else 2, freedom - 1, 2):
        term *= cosine * cosine * (step - 1) / step
        total += term
    return 0.5 + (angle + sine * total) / math.pi if odd else 0.5 + sine * total / 2
