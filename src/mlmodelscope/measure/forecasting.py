"""Time series forecasting: sMAPE, MASE and MAPE of each series, their mean; other errors of all values together."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mlmodelscope.measure.pack import pack
from mlmodelscope.measure.regression import RULE as ERRORS
from mlmodelscope.measure.rule import Arrays, ScoreError, task_rule
from mlmodelscope.measure.values import answered_values, as_many, closeness, finite, opened, true_values

OF_SERIES = ("smape", "mase", "mape")
MEASURES = (*OF_SERIES, "rmse", "mae", "mse")
_MISSING = {
    "smape": "the numbers of some samples are too large",
    "mase": "some samples have no history that is longer than a season and varies from season to season",
    "mape": "some true values are 0, and nothing is a share of 0",
}


@task_rule("time_series_forecasting")
class Forecasting:
    """A score holds the values of a series, and its own sMAPE, MASE and MAPE where it has them."""

    def score(self, arrays: Arrays, fields: Mapping[str, Any], target: Any, options: Mapping[str, Any]) -> bytes:
        truth, answer = true_values(target), answered_values(arrays)
        as_many(truth, answer)
        season = options.get("season") or _season(target)
        history = true_values(target, "history") if target.get("history") is not None else np.zeros(0)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            own = {
                "smape": symmetric_error(truth, answer),
                "mase": scaled_error(truth, answer, history, season),
                "mape": float(np.mean(np.abs(truth - answer) / np.abs(truth))) if truth.all() else math.nan,
            }
        known = {name: value for name, value in own.items() if math.isfinite(value)}
        arrays = {"truth": truth, "answer": answer}
        return pack(arrays, pooled=True, shown=known, quality=closeness(truth, answer))

    def numbers(self, scores: Sequence[bytes], names: Sequence[str], weights: np.ndarray | None) -> dict[str, float]:
        if weights is not None and not weights.sum() > 0:
            return {}
        found = ERRORS.numbers(scores, [name for name in names if name not in OF_SERIES], weights)
        for name in OF_SERIES:
            if name in names:
                values = np.array([facts["shown"].get(name, math.nan) for _, facts in opened(scores)])
                found[name] = float(np.average(values, weights=weights))
        return finite(found, names)

    def reasons(self, scores: Sequence[bytes], names: Sequence[str]) -> dict[str, str]:
        return {name: _MISSING.get(name, "the errors are too large") for name in names}

    def details(self, scores: Sequence[bytes]) -> dict[str, Any]:
        return {}


def symmetric_error(truth: np.ndarray, answer: np.ndarray) -> float:
    """sMAPE from 0 to 2: the mean of 2 |y - f| / (|y| + |f|), which is 0 where both are 0."""
    sizes = np.abs(truth) + np.abs(answer)
    return float(np.mean(np.divide(2 * np.abs(truth - answer), sizes, out=np.zeros(len(sizes)), where=sizes > 0)))


def scaled_error(truth: np.ndarray, answer: np.ndarray, history: np.ndarray, season: int) -> float:
    """MASE: the mean error over that of repeating, inside the history, what was there a season before."""
    if len(history) <= season:
        return math.nan
    naive = float(np.mean(np.abs(history[season:] - history[:-season])))
    return float(np.mean(np.abs(truth - answer))) / naive if naive > 0 else math.nan


def _season(target: Mapping[str, Any]) -> int:
    season = target.get("season")
    if season is None:
        return 1
    if isinstance(season, bool) or not isinstance(season, int) or not 0 < season < 1 << 31:
        raise ScoreError(f"its season is {str(season)[:40]!r}, which is not a whole number above 0")
    return season


RULE = Forecasting()
