"""The summary over all records: for each model, stack and machine how right, how large, how fast (CLOUD'20)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mlmodelscope.errors import MLModelScopeError
from mlmodelscope.plan.plan import Plan
from mlmodelscope.plugins.predictors import PREDICTORS
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.record.bench import RANDOM
from mlmodelscope.record.record import Record

_UNLOADED = ("single-stream", "multi-stream", "offline", "sweep")
"""Scenarios that ask for as much as the model gives: of the others, the load says how much that is."""


@dataclass(frozen=True)
class Number:
    """A number and the record that it comes from."""

    value: float
    record: str
    low: float | None = None
    high: float | None = None
    unstable: bool = False
    """The machine was not quiet enough to believe it."""


@dataclass(frozen=True)
class Missing:
    what: str
    command: str


@dataclass
class Entry:
    """One model in one stack on one machine."""

    model: str
    stack: str
    machine: str
    machine_digest: str
    plan: Plan
    """The newest one, to measure more in the same way."""
    top1: Number | None = None
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
        if self.top1 is None and self.plan.task == "classification":
            found.append(Missing("accuracy", _command("evaluate", self.plan)))
        if not self.benched:
            found.append(Missing("online latency", _command("bench", self.plan)))
        if not self.swept:
            found.append(Missing("throughput", _command("bench", self.plan) + " --scenario sweep"))
        return found


def make_overview(records: Iterable[Record], artifacts: ArtifactStore | None = None) -> list[Entry]:
    """Rows from records, newest first: of two that tell the same, the newer one counts."""
    entries: dict[tuple[Any, ...], Entry] = {}
    accuracy: dict[tuple[Any, ...], Number] = {}
    sizes: dict[tuple[str, ...], int | None] = {}
    for record in records:
        if record.training is not None or record.status != "finished":
            continue
        plan = record.plan
        what = (plan.model.reference, plan.predictor.name, tuple(sorted(plan.stack.packages.items())))
        key = (*what, _setting(plan), record.machine.digest)
        entry = entries.get(key)
        if entry is None:
            name = machine_name(record)
            entry = Entry(plan.model.reference, stack_name(plan), name, record.machine.digest, plan)
            entry.size_bytes = _size(plan, artifacts, sizes)
            entries[key] = entry
        top1 = record.metrics.top1
        if top1 is not None:
            accuracy.setdefault(what, Number(top1.value, record.id, top1.low, top1.high))
        _take(entry, record)
    for key, entry in entries.items():  # the same software is as right on every machine
        entry.top1 = accuracy.get(key[:3])
    _tell_machines_apart(list(entries.values()))
    return sorted(entries.values(), key=lambda each: (each.model, each.machine, each.stack))


def _take(entry: Entry, record: Record) -> None:
    """What a record tells that no newer one did. A bench tells better than an evaluation's few calls."""
    bench, latency = record.bench, record.latency
    if bench is None:
        if latency is not None and latency.batch_size == 1 and entry.latency_s is None:
            entry.latency_s = Number(latency.trimmed_mean_s, record.id)
            entry.p90_s = Number(latency.p90_s.value, record.id, latency.p90_s.low, latency.p90_s.high)
        if latency is not None and latency.trimmed_mean_s > 0 and not entry.swept:
            _most(entry, latency.batch_size / latency.trimmed_mean_s, latency.batch_size, record.id, False)
        return
    measured, unstable = bench.measured, bench.stability.verdict == "unstable"
    if bench.end_to_end or measured is None or bench.loadgen is not None:
        return
    if bench.scenario == "single-stream" and measured.batch_size == 1 and not entry.benched:
        entry.benched = True
        entry.latency_s = Number(measured.trimmed_mean_s, record.id, unstable=unstable)
        p90 = measured.percentiles_s.get("p90")
        entry.p90_s = Number(p90.value, record.id, p90.low, p90.high, unstable) if p90 else None
    if bench.sweep is not None:
        if not entry.swept:
            entry.swept = True
            entry.samples_per_s = None
            entry.optimal_batch = bench.sweep.optimal_batch
            for run in bench.runs:
                entry.sweep[run.batch_size] = max(run.samples_per_s, entry.sweep.get(run.batch_size, 0.0))
            size = max(entry.sweep, key=lambda each: entry.sweep[each])
            _most(entry, entry.sweep[size], size, record.id, unstable)
    elif bench.scenario in _UNLOADED and not entry.swept:
        _most(entry, measured.samples_per_s, measured.batch_size, record.id, unstable)


def _most(entry: Entry, speed: float, batch_size: int, record: str, unstable: bool) -> None:
    if entry.samples_per_s is None or speed > entry.samples_per_s.value:
        entry.samples_per_s = Number(speed, record, unstable=unstable)
        entry.best_batch = batch_size


def pareto(points: Sequence[tuple[float, float]], more_is_better: bool = False) -> list[tuple[float, float]]:
    """The points than which no other is both cheaper (or faster) and more right, from left to right."""
    ordered = sorted(points, key=lambda each: (-each[0] if more_is_better else each[0], -each[1]))
    front: list[tuple[float, float]] = []
    for point in ordered:
        if not front or point[1] > front[-1][1]:
            front.append(point)
    return sorted(front)


def stack_name(plan: Plan) -> str:
    """The framework with its version, and what of its settings a speed depends on."""
    name = plan.predictor.name or "functions"
    declaration = PREDICTORS.get(name)
    packages = plan.stack.packages
    version = next((packages[each] for each in declaration.packages if each in packages), "") if declaration else ""
    threads, device, others = _setting(plan)
    words = [f"{name} {version}".strip()]
    words += [f"{threads} threads"] if threads != 1 else []
    words += [str(device)] if device not in (None, "cpu") else []
    return ", ".join([*words, *(f"{key}={value}" for key, value in others)])


def machine_name(record: Record) -> str:
    machine = record.machine
    if str(record.plan.predictor.options.get("device") or "cpu") != "cpu" and machine.gpus:
        return machine.gpus[0]
    return machine.server or machine.cpu


def _setting(plan: Plan) -> tuple[Any, Any, tuple[tuple[str, str], ...]]:
    options: Mapping[str, Any] = plan.predictor.options
    declaration = PREDICTORS.get(plan.predictor.name or "")
    usual = declaration.defaults if declaration else {}
    others = (
        (name, str(value))
        for name, value in sorted(options.items())
        if name not in ("threads", "device") and value is not None and value != usual.get(name)
    )
    return options.get("threads", 1), options.get("device"), tuple(others)


def _tell_machines_apart(entries: Sequence[Entry]) -> None:
    digests: dict[str, set[str]] = {}
    for entry in entries:
        digests.setdefault(entry.machine, set()).add(entry.machine_digest)
    for entry in entries:
        if len(digests[entry.machine]) > 1:
            entry.machine = f"{entry.machine} ({entry.machine_digest[:6]})"


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


def _command(verb: str, plan: Plan) -> str:
    """What one would type; only what is not usual is said."""
    words = ["mlmodelscope", verb, plan.model.reference]
    words += [f"{plan.dataset.name}@{plan.dataset.version}"] if plan.dataset.name != RANDOM else []
    if "software" in plan.manifests:
        words += ["--software", f"{plan.manifests['software'].name}@{plan.manifests['software'].version}"]
    threads, device, others = _setting(plan)
    words += ["--threads", str(threads)] if threads != 1 else []
    words += ["--device", str(device)] if device not in (None, "cpu") else []
    for name, value in others:
        words += ["--option", f"{name}={value}"]
    return " ".join(words + (["--trust"] if plan.functions else []))
