"""Two trainings side by side, each with all the seeds that it was run with: curves with bands, and which is better.

One run does not tell what the next one will find: a difference counts only against how far the final metric lies from
seed to seed. So the records of a side are all that have its plan but for the seed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mlmodelscope.analysis.table import Analysis, Column, Table, Value
from mlmodelscope.errors import UsageError
from mlmodelscope.record.record import Record
from mlmodelscope.record.store import Store
from mlmodelscope.report import plot
from mlmodelscope.statistic.student import t_quantile
from mlmodelscope.statistic.welch import Welch, welch
from mlmodelscope.types import Interval

_MOST_RECORDS = 100_000
_SMALLER = ("loss", "error", "perplexity", "mse", "mae")


@dataclass(frozen=True)
class BandPoint:
    """A metric at one moment, over the seeds of a side."""

    progress: float
    mean: float
    low: float | None
    """The ends of the mean's 95 % interval; none of a single run."""
    high: float | None
    runs: int


@dataclass(frozen=True)
class Final:
    """A metric at the end of both sides."""

    metric: str
    first: Interval | None
    second: Interval | None
    first_values: tuple[float, ...]
    second_values: tuple[float, ...]
    difference: Interval | None
    """Second minus first, 95 % by Welch; none where a side has a single run."""
    verdict: str
    """better, worse, no difference, or not judged: the second, against the first."""


@dataclass(frozen=True)
class TrainingComparison:
    seeds: tuple[tuple[int, ...], tuple[int, ...]]
    records: tuple[tuple[str, ...], tuple[str, ...]]
    finals: tuple[Final, ...]
    bands: dict[str, tuple[tuple[BandPoint, ...], tuple[BandPoint, ...]]]
    notes: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """The first quality, or else the first metric, in words."""
        if not self.finals:
            return "the two trainings report no metric of the same name"
        shown = headline(self.finals)
        one, other = (_spelled(each) for each in (shown.first, shown.second))
        counts = " and ".join(f"{len(each)} seed{'' if len(each) == 1 else 's'}" for each in self.seeds)
        values = f"{shown.metric} {one} against {other}, over {counts}"
        if shown.verdict == "not judged":
            return f"{values}: not judged, because a side has a single seed"
        if shown.verdict == "no difference":
            return f"{values}: no difference that the seeds do not explain"
        return f"{values}: the second is {shown.verdict}"


def headline(finals: Sequence[Final]) -> Final:
    return next((each for each in finals if not is_smaller_better(each.metric)), finals[0])


def is_smaller_better(metric: str) -> bool:
    return any(word in metric.lower() for word in _SMALLER)


def compare_trainings(first: Record, second: Record, store: Store) -> TrainingComparison:
    """Refused where either is not a training that came to its end."""
    for each in (first, second):
        refuse_unfinished(each)
    sides = (runs_of(first, store), runs_of(second, store))
    if first.id != second.id and seedless(first) == seedless(second):
        sides = ([first], [second])  # the same training with two seeds: all others belong to both
    finals = tuple(_finals(*sides))
    bands = {name: (band(sides[0], name), band(sides[1], name)) for name in _shared(sides, curve=True)}
    notes = []
    if first.id != second.id and seedless(first) == seedless(second):
        notes.append("both are one training with different seeds, or run twice: neither can be better")
    if any(len(side) == 1 for side in sides):
        notes.append("`mlmodelscope train … --seeds 1,2,3` runs the seeds that a verdict needs")
    return TrainingComparison(
        (_seeds(sides[0]), _seeds(sides[1])),
        (tuple(each.id for each in sides[0]), tuple(each.id for each in sides[1])),
        finals,
        bands,
        tuple(notes),
    )


def refuse_unfinished(record: Record) -> None:
    training = record.training
    if record.plan.job_type != "training" or record.profile is not None:
        raise UsageError(f"{record.id} is not a training: a training can be compared with another training only")
    if record.status != "finished" or training is None:
        raise UsageError(
            f"the training {record.id} was interrupted and has no final numbers",
            hint="`mlmodelscope train` with the same words resumes it",
        )
    if training.stopped is not None:
        raise UsageError(
            f"the training {record.id} was stopped early and has no final numbers: {training.stopped}",
            hint="`mlmodelscope train … --no-early-stop` lets it come to its end",
        )


def seedless(record: Record) -> str:
    """What a training is, whatever its seed."""
    plan = record.plan
    subset = plan.dataset.subset.model_copy(update={"seed": 0})  # a training takes every sample
    dataset = plan.dataset.model_copy(update={"subset": subset})
    return plan.model_copy(update={"seed": 0, "dataset": dataset}).digest


def runs_of(record: Record, store: Store) -> list[Record]:
    """All finished runs of the same training, the newest of each seed; the record itself stands for its own."""
    wanted, found = seedless(record), {record.plan.seed: record}
    listed = store.list(model=record.plan.model.name, status="finished", kind="training", limit=_MOST_RECORDS)
    for each in listed:
        other = store.get(each["id"])
        is_whole = other.training is not None and other.training.stopped is None
        if is_whole and other.plan.seed not in found and seedless(other) == wanted:
            found[other.plan.seed] = other
    return [found[seed] for seed in sorted(found)]


def _seeds(side: Sequence[Record]) -> tuple[int, ...]:
    return tuple(each.plan.seed for each in side)


def _shared(sides: Sequence[Sequence[Record]], curve: bool) -> list[str]:
    """Metrics that every run of both sides has."""
    named = []
    for record in (each for side in sides for each in side):
        assert record.training is not None
        points = [name for point in record.training.curve for name in point.metrics]
        named.append(list(dict.fromkeys(points if curve else record.training.metrics)))
    return [name for name in named[0] if all(name in each for each in named)]


def _finals(first: Sequence[Record], second: Sequence[Record]) -> list[Final]:
    found = []
    for name in _shared((first, second), curve=False):
        one, other = (
            tuple(each.training.metrics[name] for each in side if each.training is not None) for side in (first, second)
        )
        tested = welch(one, other)
        found.append(
            Final(
                name,
                mean_of(one),
                mean_of(other),
                one,
                other,
                tested.difference if tested else None,
                _verdict(name, tested),
            )
        )
    return found


def _verdict(metric: str, tested: Welch | None) -> str:
    if tested is None:
        return "not judged"
    low, high = tested.difference.low, tested.difference.high
    if low <= 0 <= high:
        return "no difference"
    return "better" if (high < 0) == is_smaller_better(metric) else "worse"


def mean_of(values: Sequence[float]) -> Interval | None:
    """The mean with its 95 % interval over the runs; as wide as can be said of one run: not at all."""
    if not values:
        return None
    mean = math.fsum(values) / len(values)
    if len(values) < 2:
        return Interval(mean, math.nan, math.nan)
    deviation = math.sqrt(math.fsum((each - mean) ** 2 for each in values) / (len(values) - 1))
    half = t_quantile(0.975, len(values) - 1) * deviation / math.sqrt(len(values))
    return Interval(mean, mean - half, mean + half)


def band(side: Sequence[Record], metric: str) -> tuple[BandPoint, ...]:
    """The metric at the moments that all runs of a side have."""
    curves = []
    for each in side:
        assert each.training is not None
        curves.append({round(point.progress, 9): point.metrics.get(metric) for point in each.training.curve})
    found = []
    for progress in sorted(set.intersection(*(set(each) for each in curves))):
        values = [value for each in curves if (value := each[progress]) is not None]
        mean = mean_of(values)
        if mean is not None:
            is_known = len(values) > 1
            low, high = (mean.low, mean.high) if is_known else (None, None)
            found.append(BandPoint(progress, mean.value, low, high, len(values)))
    return tuple(found)


def _spelled(mean: Interval | None) -> str:
    if mean is None:
        return "–"
    return f"{mean.value:.4g}" if math.isnan(mean.low) else f"{mean.value:.4g} ({mean.low:.4g} – {mean.high:.4g})"


def final_rows(found: TrainingComparison) -> list[tuple[str, str, str]]:
    """Name, first, second."""
    first, second = (", ".join(map(str, each)) for each in found.seeds)
    rows = [("seeds", first, second)]
    for each in found.finals:
        rows.append((f"final {each.metric}", _spelled(each.first), _spelled(each.second)))
    return rows


def verdicts(found: TrainingComparison) -> list[str]:
    """The other metrics, where they were judged."""
    if not found.finals:
        return []
    shown = headline(found.finals)
    return [
        f"{each.metric}: the second is {each.verdict}"
        if each.verdict in ("better", "worse")
        else f"{each.metric}: no difference"
        for each in found.finals
        if each is not shown and each.difference is not None
    ]


def to_json(found: TrainingComparison) -> dict[str, Any]:
    """Without the numbers that JSON does not have."""

    def plain(value: Any) -> Any:
        if isinstance(value, Interval):
            known = not math.isnan(value.low)
            return {"value": value.value, "low": value.low if known else None, "high": value.high if known else None}
        return list(value) if isinstance(value, tuple) else value

    return {
        "sentence": found.sentence,
        "seeds": [list(each) for each in found.seeds],
        "records": [list(each) for each in found.records],
        "finals": [{name: plain(value) for name, value in vars(each).items()} for each in found.finals],
        "bands": {
            name: [[dict(vars(point)) for point in side] for side in sides] for name, sides in found.bands.items()
        },
        "notes": list(found.notes),
    }


def curves_analysis(found: TrainingComparison, names: Sequence[str]) -> Analysis:
    """A row for each moment of each metric; a plot for each metric, with the mean and its band."""
    columns = [Column("metric", "metric"), Column("side", "training"), Column("progress", "progress", kind="share")]
    columns += [Column("mean", "mean", kind="number"), Column("low", "low", kind="number")]
    columns += [Column("high", "high", kind="number"), Column("runs", "seeds", kind="count")]
    rows: list[tuple[Value, ...]] = []
    plots = {}
    for metric, sides in found.bands.items():
        marks, lines = [], []
        for name, points in zip(names, sides, strict=True):
            rows += [(metric, name, *vars(point).values()) for point in points]
            lines.append(plot.Line([(100 * each.progress, each.mean) for each in points], "", name))
            for end in ("low", "high"):
                edge = [(100 * each.progress, getattr(each, end)) for each in points if each.low is not None]
                if edge:
                    lines.append(plot.Line(edge, "", ""))
            marks += [plot.Mark(100 * each.progress, each.mean, "", name) for each in points]
        axes = plot.Axis("share of the training", "%"), plot.Axis(metric)
        plots[metric] = plot.scatter(f"{metric}, the mean over seeds; dashed, its 95 % interval", marks, *axes, lines)
    return Analysis("curves", "Curves", Table("curves", "Curves", columns, rows), plots, found.notes)
