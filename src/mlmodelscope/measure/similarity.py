"""Similarity of texts: correlations of what was answered with what people said, as scipy has them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from mlmodelscope.measure.pack import pack
from mlmodelscope.measure.rule import Arrays, ScoreError, task_rule
from mlmodelscope.measure.values import answered_values, finite, opened, true_values

MEASURES = ("spearman", "pearson", "kendall")


@task_rule("text_similarity")
class Similarity:
    """A score holds two numbers: what people said and what was answered."""

    def score(self, arrays: Arrays, fields: Mapping[str, Any], target: Any, options: Mapping[str, Any]) -> bytes:
        truth, answer = true_values(target), answered_values(arrays)
        if not len(truth) == len(answer) == 1:
            raise ScoreError(f"its answer has {len(answer)} values and its truth has {len(truth)}: each has one here")
        low, high = options.get("scale") or (0.0, 5.0)
        wanted = (truth[0] - low) / (high - low) if high > low else 0.0
        off = abs(min(max(answer[0], 0.0), 1.0) - min(max(wanted, 0.0), 1.0))
        return pack({"truth": truth, "answer": answer}, quality=round(float(1 - off), 9))

    def numbers(self, scores: Sequence[bytes], names: Sequence[str], weights: np.ndarray | None) -> dict[str, float]:
        truth, answer = _pairs(tuple(scores))
        weight = np.ones(len(truth)) if weights is None else weights
        kept = weight > 0
        truth, answer, weight = truth[kept], answer[kept], weight[kept]
        if _missing(truth, answer, weight):
            return {}
        return finite({name: _CORRELATIONS[name](truth, answer, weight) for name in names}, names)

    def reasons(self, scores: Sequence[bytes], names: Sequence[str]) -> dict[str, str]:
        truth, answer = _pairs(tuple(scores))
        reason = _missing(truth, answer, np.ones(len(truth)))
        return dict.fromkeys(names, reason or "the numbers are too large or too small")

    def details(self, scores: Sequence[bytes]) -> dict[str, Any]:
        return {}


@lru_cache(maxsize=2)
def _pairs(scores: tuple[bytes, ...]) -> tuple[np.ndarray, np.ndarray]:
    parts = [arrays for arrays, _ in opened(scores)]
    return np.array([each["truth"][0] for each in parts]), np.array([each["answer"][0] for each in parts])


def _missing(truth: np.ndarray, answer: np.ndarray, weight: np.ndarray) -> str:
    """Why there is no correlation; empty where there is one."""
    if weight.sum() < 2:
        return "it needs at least two samples"
    for values, what in ((truth, "true values"), (answer, "answers")):
        if values.min() == values.max():
            return f"all {what} are equal, and nothing is correlated with what never varies"
    return ""


def pearson(one: np.ndarray, other: np.ndarray, weight: np.ndarray) -> float:
    first, second = _centered(one, weight), _centered(other, weight)
    top = float((weight * first * second).sum())
    bottom = math.sqrt(float((weight * first**2).sum())) * math.sqrt(float((weight * second**2).sum()))
    return min(max(top / bottom, -1.0), 1.0) if bottom > 0 else math.nan


def _centered(values: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Around the mean, the farthest at a distance of 1: squares of very large numbers are not numbers."""
    scaled = values / np.abs(values).max()
    around = scaled - np.average(scaled, weights=weight)
    found: np.ndarray = around / (np.abs(around).max() or 1.0)
    return found


def spearman(one: np.ndarray, other: np.ndarray, weight: np.ndarray) -> float:
    return pearson(ranks(one, weight), ranks(other, weight), weight)


def ranks(values: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """From 1 on; equal values have the mean of their ranks."""
    _, group = np.unique(values, return_inverse=True)
    sizes = np.bincount(group, weight)
    found: np.ndarray = (np.cumsum(sizes) - sizes + (sizes + 1) / 2)[group]
    return found


def kendall(one: np.ndarray, other: np.ndarray, weight: np.ndarray) -> float:
    """Tau-b."""
    _, first = np.unique(one, return_inverse=True)
    _, second = np.unique(other, return_inverse=True)
    order = np.lexsort((second, first))
    first, second, own = first[order], second[order], weight[order]
    _, both = np.unique(first * (second.max() + 1) + second, return_inverse=True)
    pairs, tied, other_tied, all_tied = (
        float((each * (each - 1) / 2).sum())
        for each in (np.array([own.sum()]), *(np.bincount(group, own) for group in (first, second, both)))
    )
    apart = pairs - tied - other_tied + all_tied - 2 * _inversions(second, own)
    bottom = math.sqrt(pairs - tied) * math.sqrt(pairs - other_tied)
    return min(max(apart / bottom, -1.0), 1.0) if bottom > 0 else math.nan


def _inversions(values: np.ndarray, weight: np.ndarray) -> float:
    """Pairs of which the first is the larger: within blocks of 2, 4, 8 … those across the middle of each block."""
    count, found, half = len(values), 0.0, 1
    place, span = np.arange(count), int(values.max()) + 1
    while half < count:
        block = place // (2 * half)
        is_left = place % (2 * half) < half
        keys = block * span + values
        order = np.argsort(keys, kind="stable")
        ranked = keys[order]
        left = np.concatenate([[0.0], np.cumsum((weight * is_left)[order])])
        right = ~is_left
        above = (
            left[np.searchsorted(ranked, (block[right] + 1) * span)]
            - left[np.searchsorted(ranked, keys[right], "right")]
        )
        found += float((weight[right] * above).sum())
        half *= 2
    return found


_CORRELATIONS = {"spearman": spearman, "pearson": pearson, "kendall": kendall}

RULE = Similarity()
