"""Time series forecasting: the next values of a series.

The truth is `{"values": [number, …], "history": [number, …], "season": m}`, an answer as many numbers as there are true
values. `history` is what the series was before, `season` after how many values it repeats itself (12 for months);
both are needed by MASE alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from mlmodelscope.task import values
from mlmodelscope.task.measure import MEASURES, NUMBER, SHARE, Unit
from mlmodelscope.task.number_task import number_task, on_samples
from mlmodelscope.task.regression import FORECASTING as NAME
from mlmodelscope.task.regression import QUALITY
from mlmodelscope.task.ruled import RuledMeasure
from mlmodelscope.task.task import Number, Option
from mlmodelscope_worker.parameters import Integer
from mlmodelscope_worker.registry import add


def _sentence(samples: int, numbers: Mapping[str, Number]) -> str:
    told = [f"sMAPE {100 * numbers['smape'].value:.2f} %"] if "smape" in numbers else []
    told += [f"MASE {numbers['mase'].value:.3f}"] if "mase" in numbers else []
    return on_samples(told, samples)


task = number_task(
    NAME,
    "Time series forecasting",
    headline=("smape", "mase", "mae"),
    options={
        "season": Option(
            Integer(
                "After how many values a series repeats itself, for MASE; by default what the truth says.", above=0
            ),
            None,
        )
    },
    compared=values.compared,
    quality=QUALITY,
    sentence=_sentence,
)

_MEASURES: dict[str, tuple[str, str, tuple[str, ...], Unit, float]] = {
    "smape": (
        "sMAPE",
        "Symmetric mean absolute percentage error as the M4 competition has it, from 0 to 200 %: the mean of "
        "2 |y - f| / (|y| + |f|) over the values of a series, then over the series. It is 0 where both are 0.",
        ("symmetric-mape",),
        SHARE,
        2.0,
    ),
    "mase": (
        "MASE",
        "Mean absolute scaled error: that of a series over the mean error, inside its history, of repeating what was "
        "there a season before; the mean over the series. It needs a history of every series.",
        ("mean-absolute-scaled-error",),
        NUMBER,
        math.inf,
    ),
    "mape": (
        "MAPE",
        "Mean of |y - f| / |y| over the values of a series, then over the series. It needs true values other than 0.",
        ("mean-absolute-percentage-error",),
        SHARE,
        math.inf,
    ),
}
for _name, (_title, _about, _aliases, _unit, _most) in _MEASURES.items():
    _measure = RuledMeasure(
        _name, _title, (NAME,), better="lower", unit=_unit, bounds=(0.0, _most), aliases=_aliases, about=_about
    )
    add(MEASURES.things, _name, _measure, MEASURES.code)
