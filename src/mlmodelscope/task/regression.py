"""Regression: a number of each sample, or several.

The truth is `{"values": [number, …]}`, an answer as many numbers. Errors are those of scikit-learn; of several values
each number is computed value by value, and the mean of these counts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from mlmodelscope.task import values
from mlmodelscope.task.measure import MEASURES, NUMBER, Better
from mlmodelscope.task.number_task import number_task, on_samples
from mlmodelscope.task.ruled import RuledMeasure
from mlmodelscope.task.task import Number
from mlmodelscope_worker.registry import add

NAME, TABULAR, FORECASTING = "regression", "tabular_regression", "time_series_forecasting"
QUALITY = "Quality is 1 less the error as a share of the sizes of truth and answer together."


def _sentence(samples: int, numbers: Mapping[str, Number]) -> str:
    told = [f"{MEASURES[name].title} {numbers[name].value:.4g}" for name in ("rmse", "r2") if name in numbers]
    return on_samples(told, samples)


for _task, _title in ((NAME, "Regression"), (TABULAR, "Regression of tables")):
    number_task(_task, _title, ("rmse", "mae", "r2"), _sentence, quality=QUALITY, compared=values.compared)

_MEASURES: dict[str, tuple[str, str, tuple[str, ...], Better, bool]] = {
    "mse": ("MSE", "Mean of the squared errors.", ("mean-squared-error",), "lower", True),
    "rmse": (
        "RMSE",
        "Root of the mean squared error; of several values the mean of their roots, of forecasts one over all.",
        ("root-mean-squared-error",),
        "lower",
        False,
    ),
    "mae": ("MAE", "Mean of the errors' sizes.", ("mean-absolute-error",), "lower", True),
    "r2": (
        "R²",
        "Coefficient of determination: 1 less the squared errors as a share of the squares around the mean of the "
        "truth. It is negative where the mean would have been the better answer; where the truth never varies, it is 1 "
        "if every answer is right and else 0, as scikit-learn has it. It needs two samples.",
        ("r-squared", "r2-score", "coefficient-of-determination"),
        "higher",
        False,
    ),
    "max-error": ("largest error", "The size of the largest error of all; it has no interval.", (), "lower", False),
    "explained-variance": (
        "explained variance",
        "1 less the variance of the errors as a share of that of the truth: R² without what is off by the same amount "
        "everywhere. It needs two samples.",
        ("explained-variance-score",),
        "higher",
        False,
    ),
    "median-absolute-error": ("median error", "Median of the errors' sizes.", ("medae",), "lower", False),
}
_OF_FORECASTS = ("mse", "rmse", "mae")
for _name, (_title, _about, _aliases, _better, _stable) in _MEASURES.items():
    _measure = RuledMeasure(
        _name,
        _title,
        (NAME, TABULAR, FORECASTING) if _name in _OF_FORECASTS else (NAME, TABULAR),
        better=_better,
        unit=NUMBER,
        bounds=(0.0, math.inf) if _better == "lower" else (-math.inf, 1.0),
        aliases=_aliases,
        about=_about,
        is_stable=_stable,
    )
    add(MEASURES.things, _name, _measure, MEASURES.code)
