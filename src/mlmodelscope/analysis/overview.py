"""The summary over all records: the accuracy, size and speed of each model, stack and machine on each dataset."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from mlmodelscope.errors import MLModelScopeError
from mlmodelscope.plan.plan import Plan
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.record.bench import RANDOM
from mlmodelscope.record.record import Record
from mlmodelscope.record.told import Told
from mlmodelscope.record.work import machine_name, part_of, setting_of, software_of, stack_name
from mlmodelscope.task.measure import Measure, measure_or_bare
from mlmodelscope.task.task import task_named

_UNLOADED = ("single-stream", "multi-stream", "offline", "sweep")
"""Scenarios that ask for as much as the model gives: of the others, the load says how much that is."""

IsKnown = Callable[[str, str], bool]
"""Whether a `model` or `dataset` can be found by its name@version."""


@dataclass(frozen=True)
class Number:
    """A number, the record that it comes from, and what it is over."""

    value: float
    record: str
    dataset: str
    scenario: str
    """How load arrived: the scenario of a bench, or the few calls of an evaluation or profile."""
    samples: int
    """Samples that were answered, or calls or queries that were timed."""
    low: float | None = None
    high: float | None = None
    unstable: bool = False
    """The machine was not quiet enough to believe it."""
    metric: str = ""
    """The measure, for an accuracy."""
    subset: tuple[int, bool, int] | None = None
    """Count, stratified and seed of a part of the dataset; nothing where it is over all samples."""

    @property
    def whole(self) -> bool:
        return self.subset is None


@dataclass(frozen=True)
class Missing:
    what: str
    command: str


@dataclass
class Entry:
    """One model in one stack on one machine, measured on one dataset."""

    model: str
    dataset: str
    stack: str
    machine: str
    machine_digest: str
    plan: Plan
    """The newest one, to measure more in the same way."""
    command: Callable[[str, Plan], str] = field(repr=False)
    accuracy: Number | None = None
    """By the measure that comes first in the model's task."""
    size_bytes: int | None = None
    latency_s: Number | None = None
    p90_s: Number | None = None
    samples_per_s: Number | None = None
    best_batch: int | None = None
    """Where the most samples a second were measured."""
    optimal_batch: int | None = None
    """Where doubling stopped to pay; known from a sweep only."""
    sweep: dict[int, float] = field(default_factory=dict)
    """Samples a second by batch size, of the newest sweep."""
    swept: bool = False
    benched: bool = False

    @property
    def speed_up(self) -> dict[int, float]:
        """How many times as fast each batch size is as the smallest that was measured."""
        first = self.sweep[min(self.sweep)] if self.sweep else 0.0
        return {size: speed / first for size, speed in sorted(self.sweep.items())} if first else {}

    @property
    def missing(self) -> list[Missing]:
        """What would have to be measured for a full row, with the command that measures it."""
        found = []
        is_random = self.plan.dataset.name == RANDOM
        is_measured = bool(task_named(self.plan.task).headline) and not is_random
        if (self.accuracy is None or not self.accuracy.whole) and is_measured:
            what = "accuracy" if self.accuracy is None else "accuracy on all samples"
            found.append(Missing(what, self.command("evaluate", self.plan)))
        if not self.benched:
            found.append(Missing("online latency", self.command("bench", self.plan)))
        if not self.swept:
            found.append(Missing("throughput", self.command("bench", self.plan) + " --scenario sweep"))
        return found


def make_overview(
    records: Iterable[Record | Told],
    artifacts: ArtifactStore | None = None,
    is_known: IsKnown = lambda kind, reference: True,
) -> list[Entry]:
    """Rows from records, newest first: of two that tell the same, the newer one counts.

    Numbers of different datasets never share a row. An accuracy over all samples counts before one over some of them,
    and more samples count before fewer. Commands name what `is_known` by its name, and anything else by a file.
    """
    command = partial(_command, is_known=is_known)
    entries: dict[tuple[Any, ...], Entry] = {}
    accuracy: dict[tuple[Any, ...], Number] = {}
    sizes: dict[tuple[str, ...], int | None] = {}
    for record in records:
        if record.training is not None or record.status != "finished":
            continue
        plan = record.plan
        threads = setting_of(plan)[0]
        what = (plan.model_digest, plan.dataset_digest, software_of(plan))
        key = (what, threads, record.machine.digest)
        entry = entries.get(key)
        if entry is None:
            named = (plan.model.reference, dataset_name(plan), stack_name(plan), machine_name(record))
            entry = entries[key] = Entry(*named, record.machine.digest, plan, command)
            entry.size_bytes = _size(plan, artifacts, sizes)
        found = _accuracy(record)
        if found is not None and (what not in accuracy or _rank(found) > _rank(accuracy[what])):
            accuracy[what] = found
        _take(entry, record)
    for key, entry in entries.items():  # the same software is as right on every machine
        entry.accuracy = accuracy.get(key[0])
    found_rows = list(entries.values())
    _tell_apart(found_rows, "machine", [entry.machine_digest for entry in found_rows])
    _tell_apart(found_rows, "model", [entry.plan.model_digest for entry in found_rows])
    _tell_apart(found_rows, "dataset", [entry.plan.dataset_digest for entry in found_rows])
    return sorted(found_rows, key=_place)


def _place(entry: Entry) -> tuple[Any, ...]:
    """One dataset after the other; in each, what was measured on all samples first."""
    samples = (0, 0) if entry.accuracy is None else _rank(entry.accuracy)
    return entry.dataset, tuple(-each for each in samples), entry.model, entry.machine, entry.stack


def _rank(accuracy: Number) -> tuple[int, int]:
    return int(accuracy.whole), accuracy.samples


def _accuracy(record: Record | Told) -> Number | None:
    plan = record.plan
    metric = next((name for name in task_named(plan.task).headline if name in record.metrics), None)
    if metric is None:
        return None
    found = record.metrics[metric]
    numbers = (found.value, record.id, dataset_name(plan), "evaluation", record.samples - record.failed)
    return Number(*numbers, found.low, found.high, metric=metric, subset=part_of(record))


def same_samples(entries: Sequence[Entry]) -> list[Entry]:
    """Those of one dataset whose accuracies may be compared: over all samples, or else over the largest same part."""
    known = [entry for entry in entries if entry.accuracy is not None]
    if not known:
        return []
    first = max((entry.accuracy for entry in known if entry.accuracy is not None), key=_rank)
    wanted = (first.metric, first.subset)
    return [each for each in known if each.accuracy and (each.accuracy.metric, each.accuracy.subset) == wanted]


def accuracy_measure(entries: Iterable[Entry]) -> Measure | None:
    """What the accuracies of one dataset are, where any is known."""
    named = next((entry.accuracy.metric for entry in entries if entry.accuracy is not None), None)
    return measure_or_bare(named) if named is not None else None


def by_dataset(entries: Iterable[Entry]) -> dict[str, list[Entry]]:
    """Rows of each dataset, in their order."""
    found: dict[str, list[Entry]] = {}
    for entry in entries:
        found.setdefault(entry.dataset, []).append(entry)
    return found


def dataset_name(plan: Plan) -> str:
    return "random tensors" if plan.dataset.name == RANDOM else plan.dataset.reference


def _take(entry: Entry, record: Record | Told) -> None:
    """What a record tells that no newer one did. A bench tells better than an evaluation's few calls."""
    bench, latency = record.bench, record.latency
    name = dataset_name(record.plan)
    if bench is None:
        scenario = "profile" if record.profile is not None else "evaluation"
        calls = len(latency.raw_ns) if latency is not None else 0
        if latency is not None and latency.batch_size == 1 and entry.latency_s is None:
            entry.latency_s = Number(latency.trimmed_mean_s, record.id, name, scenario, calls)
            p90 = latency.p90_s
            entry.p90_s = Number(p90.value, record.id, name, scenario, calls, p90.low, p90.high)
        if latency is not None and latency.trimmed_mean_s > 0 and not entry.swept:
            speed = latency.batch_size / latency.trimmed_mean_s
            _most(entry, Number(speed, record.id, name, scenario, calls), latency.batch_size)
        return
    measured, unstable = bench.measured, bench.stability.verdict == "unstable"
    if bench.end_to_end or measured is None or bench.loadgen is not None:
        return
    told = (record.id, name, bench.scenario, measured.queries)
    if bench.scenario == "single-stream" and measured.batch_size == 1 and not entry.benched:
        entry.benched = True
        entry.latency_s = Number(measured.trimmed_mean_s, *told, unstable=unstable)
        best = measured.percentiles_s.get("p90")
        entry.p90_s = Number(best.value, *told, best.low, best.high, unstable) if best else None
    if bench.sweep is not None:
        if not entry.swept:
            entry.swept = True
            entry.samples_per_s = None
            entry.optimal_batch = bench.sweep.optimal_batch
            for run in bench.runs:
                entry.sweep[run.batch_size] = max(run.samples_per_s, entry.sweep.get(run.batch_size, 0.0))
            size = max(entry.sweep, key=lambda each: entry.sweep[each])
            _most(entry, Number(entry.sweep[size], *told, unstable=unstable), size)
    elif bench.scenario in _UNLOADED and not entry.swept:
        _most(entry, Number(measured.samples_per_s, *told, unstable=unstable), measured.batch_size)


def _most(entry: Entry, speed: Number, batch_size: int) -> None:
    if entry.samples_per_s is None or speed.value > entry.samples_per_s.value:
        entry.samples_per_s = speed
        entry.best_batch = batch_size


def pareto(
    points: Sequence[tuple[float, float]], more_is_better: bool = False, is_better_higher: bool = True
) -> list[tuple[float, float]]:
    """The points than which no other is both cheaper (or faster) and more accurate, from left to right."""
    sign = 1 if is_better_higher else -1
    ordered = sorted(points, key=lambda each: (-each[0] if more_is_better else each[0], -sign * each[1]))
    front: list[tuple[float, float]] = []
    for point in ordered:
        if not front or sign * point[1] > sign * front[-1][1]:
            front.append(point)
    return sorted(front)


def _tell_apart(entries: Sequence[Entry], what: str, digests: Sequence[str]) -> None:
    """Where one name stands for several things, the beginning of each thing's digest goes with it."""
    known: dict[str, set[str]] = {}
    for entry, digest in zip(entries, digests, strict=True):
        known.setdefault(getattr(entry, what), set()).add(digest)
    for entry, digest in zip(entries, digests, strict=True):
        name = getattr(entry, what)
        if len(known.get(name, ())) > 1:
            setattr(entry, what, f"{name} ({digest[:6]})")


def _size(plan: Plan, artifacts: ArtifactStore | None, known: dict[tuple[str, ...], int | None]) -> int | None:
    """Bytes of the model's files, where they are on this machine; nothing is fetched for it."""
    files = [file for file in (plan.model.graph, plan.model.weights) if file is not None]
    key = tuple(file.sha256 for file in files)
    if not files or artifacts is None:
        return None
    if key not in known:
        try:
            known[key] = sum(_bytes(artifacts.fetch(each.url, f"sha256:{each.sha256}").path) for each in files)
        except (MLModelScopeError, OSError):
            known[key] = None
    return known[key]


def _bytes(path: Path) -> int:
    if path.is_dir():
        return sum(each.stat().st_size for each in path.rglob("*") if each.is_file())
    return path.stat().st_size


def _command(verb: str, plan: Plan, is_known: IsKnown) -> str:
    """What one would type; only what is not usual is said."""

    def named(kind: str, name: str, version: str) -> str:
        return f"{name}@{version}" if is_known(kind, f"{name}@{version}") else f"{name}.yml"

    words = ["mlmodelscope", verb, named("model", plan.model.name, plan.model.version)]
    is_random = plan.dataset.name == RANDOM
    words += ["--random"] if is_random else [named("dataset", plan.dataset.name, plan.dataset.version)]
    if "software" in plan.manifests:
        words += ["--software", f"{plan.manifests['software'].name}@{plan.manifests['software'].version}"]
    threads, device, others = setting_of(plan)
    words += ["--threads", str(threads)] if threads != 1 else []
    words += ["--device", str(device)] if device not in (None, "cpu") else []
    for name, value in others:
        words += ["--option", f"{name}={value}"]
    return " ".join(words + (["--trust"] if plan.functions else []))
