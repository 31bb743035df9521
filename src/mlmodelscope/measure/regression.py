"""Regression: errors of numbers, as scikit-learn defines them; of several values the mean over the values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from mlmodelscope.measure.pack import pack
from mlmodelscope.measure.rule import Arrays, task_rule
from mlmodelscope.measure.values import answered_values, as_many, closeness, finite, opened, true_values

MEASURES = ("mse", "rmse", "mae", "r2", "max-error", "explained-variance", "median-absolute-error")
_OF_SPREAD = ("r2", "explained-variance")


@dataclass(frozen=True)
class Table:
    """All samples; of a task that counts every value alike, a row for each value."""

    truth: np.ndarray
    answer: np.ndarray
    owner: np.ndarray
    """The sample of each row."""


@task_rule("tabular_regression")
@task_rule("regression")
class Regression:
    """A score holds the values of a sample, those that are true and those that were answered."""

    without_interval = ("max-error",)
    """The largest of all samples is not a mean of anything: no sample tells what another would have been."""

    def score(self, arrays: Arrays, fields: Mapping[str, Any], target: Any, options: Mapping[str, Any]) -> bytes:
        truth, answer = true_values(target), answered_values(arrays)
        as_many(truth, answer)
        return pack({"truth": truth, "answer": answer}, quality=closeness(truth, answer))

    def numbers(self, scores: Sequence[bytes], names: Sequence[str], weights: np.ndarray | None) -> dict[str, float]:
        table = _table(tuple(scores))
        if table is None:
            return {}
        weight = None if weights is None else weights[table.owner]
        if weight is not None and not weight.sum() > 0:
            return {}
        with np.errstate(over="ignore", invalid="ignore"):
            return finite(_errors(table, weight, names), names)

    def reasons(self, scores: Sequence[bytes], names: Sequence[str]) -> dict[str, str]:
        """Why a number cannot be computed."""
        table = _table(tuple(scores))
        if table is None:
            return dict.fromkeys(names, "not all samples have the same number of values")
        alone = len(table.truth) < 2
        return {
            name: "it needs at least two samples" if alone and name in _OF_SPREAD else "the errors are too large"
            for name in names
        }

    def details(self, scores: Sequence[bytes]) -> dict[str, Any]:
        return {}


@lru_cache(maxsize=2)
def _table(scores: tuple[bytes, ...]) -> Table | None:
    """None where samples have other numbers of values than one another."""
    parts = opened(scores)
    lengths = [len(arrays["truth"]) for arrays, _ in parts]
    is_pooled = any(facts.get("pooled") for _, facts in parts)
    if not is_pooled and len(set(lengths)) > 1:
        return None
    truth, answer = (np.concatenate([arrays[name] for arrays, _ in parts]) for name in ("truth", "answer"))
    if is_pooled:
        return Table(truth[:, None], answer[:, None], np.repeat(np.arange(len(parts)), lengths))
    shape = (len(parts), lengths[0])
    return Table(truth.reshape(shape), answer.reshape(shape), np.arange(len(parts)))


def _errors(table: Table, weight: np.ndarray | None, names: Sequence[str]) -> dict[str, float]:
    off = table.truth - table.answer
    squares, sizes = np.average(off**2, axis=0, weights=weight), np.average(np.abs(off), axis=0, weights=weight)
    seen = slice(None) if weight is None else weight > 0
    found = {
        "mse": np.mean(squares),
        "rmse": np.mean(np.sqrt(squares)),
        "mae": np.mean(sizes),
        "max-error": np.abs(off[seen]).max(),
    }
    if "median-absolute-error" in names:
        found["median-absolute-error"] = np.mean(_medians(np.abs(off), weight))
    if {*_OF_SPREAD} & {*names} and (len(off) if weight is None else weight.sum()) >= 2:
        own = _variance(table.truth, weight)
        found["r2"] = _explained(np.sum(off**2 if weight is None else weight[:, None] * off**2, axis=0), own)
        found["explained-variance"] = _explained(_variance(off, weight), own)
    return found


def _variance(values: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
    """Squares around the mean, summed up."""
    around = (values - np.average(values, axis=0, weights=weight)) ** 2
    found: np.ndarray = np.sum(around if weight is None else weight[:, None] * around, axis=0)
    return found


def _explained(left: np.ndarray, whole: np.ndarray) -> float:
    """1 less the share that is left; where the truth never varies, 1 if nothing is left and else 0."""
    found = np.where(left > 0, 0.0, 1.0)
    varies = (whole > 0) & (left > 0)
    found[varies] = 1 - left[varies] / whole[varies]
    return float(np.mean(found)) if np.isfinite(left).all() and np.isfinite(whole).all() else np.nan


def _medians(sizes: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
    """Of each column; a sample of weight 2 counts as two."""
    if weight is None:
        medians: np.ndarray = np.median(sizes, axis=0)
        return medians
    half, found = weight.sum() / 2, []
    for column in sizes.T:
        order = np.argsort(column, kind="stable")
        reached = np.cumsum(weight[order])
        ends = (np.searchsorted(reached, half, side) for side in ("left", "right"))
        found.append(np.mean([column[order[min(int(each), len(order) - 1)]] for each in ends]))
    return np.array(found)


RULE = Regression()
