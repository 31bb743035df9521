"""Training tasks: the same sentence as an evaluation, with a model artifact and a metric curve at its end.

A training that goes nowhere is expensive. Most of the final result is there after a quarter of the way, so a training
whose metric is then not comparable with the reference log's is stopped, with the reason in the record.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Unpack

from mlmodelscope.dataset.files import source_files
from mlmodelscope.errors import MLModelScopeError, UsageError
from mlmodelscope.manifest.catalog import find_manifest
from mlmodelscope.manifest.schema import ReferenceLog
from mlmodelscope.plan.options import Options
from mlmodelscope.plan.plan import Plan
from mlmodelscope.preparation import Asked, Conditions, DatasetSource, ModelSource, ask
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.provision.hashing import list_files
from mlmodelscope.provision.machine import describe_machine
from mlmodelscope.provision.site import provision
from mlmodelscope.provision.stack import worker_digest
from mlmodelscope.record.record import CurvePoint, Record, StackRecord, TrainedFile, TrainingRecord
from mlmodelscope.record.store import Store
from mlmodelscope.running import machine_set_for, opened_store, with_container, with_settings, with_setup
from mlmodelscope.worker.client import Progress, Trained, Worker
from mlmodelscope_worker import __version__

_SAVE_EVERY_S = 1.0


@dataclass(frozen=True)
class EarlyStop:
    """When a training is given up."""

    at: float = 0.25
    """Share of the training after which its metric is compared with the reference's."""
    within: float = 0.1
    """How much worse than the reference it may be, as a share of the reference."""
    metric: str | None = None
    """Which metric; by default the first that both curves have, a quality before a loss."""


def train(
    model: ModelSource,
    dataset: DatasetSource | None = None,
    options: Options | None = None,
    *,
    reference: str | Path | ReferenceLog | None = None,
    early_stop: EarlyStop | None = None,
    again: bool = False,
    **conditions: Unpack[Conditions],
) -> Record:
    """Carry out a training task and keep the record and what it made.

    With a `reference` log, a training that falls behind it is stopped; `early_stop` None means never.
    """
    asked = ask(model, dataset, options, **conditions)
    if asked.model.job_type != "training":
        raise UsageError(
            f"{asked.model.name} describes an inference, not a training",
            hint=f"mlmodelscope evaluate {asked.model.file or asked.model.name}",
        )
    if asked.options.limit is not None:
        raise UsageError("a training takes all of its dataset: it has no limit")
    log = find_manifest(ReferenceLog, reference) if reference is not None else None
    judge = Judge(log, early_stop) if log is not None and early_stop is not None else None
    plan = asked.plan()
    with opened_store(asked) as store:
        return _train_once(plan, store, asked, judge, log, again)


class Judge:
    """Compares a curve with the reference's, once, when enough of the training is done."""

    def __init__(self, log: ReferenceLog, rule: EarlyStop) -> None:
        self._log = log
        self._rule = rule
        self._curves: dict[str, list[tuple[float, float]]] = {}
        for point in log.curve:
            for name, value in point.metrics.items():
                if math.isfinite(value):
                    self._curves.setdefault(name, []).append((point.progress, value))
        if rule.metric is not None and rule.metric not in self._curves:
            raise UsageError(
                f"the curve of {log.reference} has no metric `{rule.metric}`\n"
                f"known: {', '.join(self._curves) or 'none, it has no curve'}",
            )
        self.compared = False

    def verdict(self, point: Progress) -> str | None:
        """Why the training should stop, or nothing. At its end there is nothing left to save."""
        if self.compared or not self._rule.at <= point.progress < 1:
            return None
        name = self._metric(point)
        expected = interpolate(self._curves[name], point.progress) if name is not None else None
        if name is None or expected is None:
            return None  # perhaps the next one can be compared
        self.compared = True
        found = point.metrics[name]
        if not self._is_worse(name, found, expected):
            return None
        return (
            f"at {100 * point.progress:.0f} % of the training {name} is {found:.4g} where {self._log.reference} had "
            f"{expected:.4g}: more than {100 * self._rule.within:.0f} % worse, so the rest is not worth its cost"
        )

    def _metric(self, point: Progress) -> str | None:
        shared = [name for name in point.metrics if name in self._curves]
        if self._rule.metric is not None:
            return self._rule.metric if self._rule.metric in shared else None
        return next((name for name in shared if not smaller_is_better(name)), shared[0] if shared else None)

    def _is_worse(self, name: str, found: float, expected: float) -> bool:
        if not math.isfinite(found):
            return True
        margin = self._rule.within * abs(expected)
        return found > expected + margin if smaller_is_better(name) else found < expected - margin


def smaller_is_better(name: str) -> bool:
    return any(word in name.lower() for word in ("loss", "error", "perplexity", "mse", "mae"))


def interpolate(points: Sequence[tuple[float, float]], at: float) -> float | None:
    """The curve's value at a moment, between its neighbours; nothing before its beginning."""
    ordered = sorted(points)
    if not ordered or at < ordered[0][0] - 1e-9:
        return None
    before = ordered[0]
    for point in ordered:
        if point[0] >= at:
            span = point[0] - before[0]
            return point[1] if span <= 0 else before[1] + (point[1] - before[1]) * (at - before[0]) / span
        before = point
    return before[1]


def _train_once(
    plan: Plan, store: Store, asked: Asked, judge: Judge | None, log: ReferenceLog | None, again: bool
) -> Record:
    machine, worker = describe_machine(), worker_digest()
    if store.is_locked(plan.digest):
        asked.watcher.waiting("another process is training the same plan")
    with store.lock(plan.digest):
        found = store.find(plan.digest, machine.digest, worker, "finished")
        if found and not again and found.training is not None and found.training.stopped is None:
            return found
        with machine_set_for(plan, asked.settings.home, asked.watcher) as done:
            record = with_settings(store.begin(plan, machine, __version__, worker), done)
            record = with_container(record, asked.aspects.software)
            try:
                return _run(record, store, asked, judge, log)
            except MLModelScopeError:
                store.delete(record)  # a training cannot be resumed: nothing is worth keeping
                raise


def _run(record: Record, store: Store, asked: Asked, judge: Judge | None, log: ReferenceLog | None) -> Record:
    artifacts = asked.artifacts
    plan = record.plan
    folder = store.folder(record.id) / "artifacts"
    _clear(folder)
    record = with_setup(record)
    site = replace(provision(plan, artifacts), folder=str(folder))
    data = source_files(plan.dataset, artifacts)
    training = TrainingRecord(reference=log.reference if log else None)
    curve = Curve()
    with Worker(site, plan) as worker:
        record = record.model_copy(update={"stack": StackRecord(**worker.opened.environment), "training": training})
        store.save(record)
        started = time.monotonic()
        save_at = started + _SAVE_EVERY_S
        for event in worker.train(data):
            now = time.monotonic()
            if isinstance(event, Trained):
                training = _with_result(training, event)
                break
            curve.add(event, now - started)
            asked.watcher.trained(event.progress, event.metrics)
            stop = judge.verdict(event) if judge is not None else None
            if stop is not None:
                training = training.model_copy(update={"stopped": stop, "wall_s": now - started})
                worker.kill()
                break
            if now > save_at:
                store.save(
                    record.model_copy(update={"training": training.model_copy(update={"curve": curve.points()})})
                )
                done = time.monotonic()
                save_at = done + _SAVE_EVERY_S + 10 * (done - now)  # a long curve takes long to write
    training = training.model_copy(update={"curve": curve.points()})
    training = training.model_copy(update={"artifacts": tuple(_made(folder, artifacts))})
    notes = (*record.notes, *_notes(training, curve.odd, judge, log))
    record = record.model_copy(
        update={"training": training, "status": "finished", "finished_at": datetime.now(UTC), "notes": notes}
    )
    store.save(record)
    return record


class Curve:
    """The metrics in the course of a training.

    Neither JSON nor databases know NaN: a record with one could be written, but never be read again. A metric that is
    no finite number is left out, and when that began is remembered.
    """

    def __init__(self) -> None:
        self._points: list[CurvePoint] = []
        self.odd: dict[str, float] = {}

    def add(self, event: Progress, wall_s: float) -> None:
        finite = {name: value for name, value in event.metrics.items() if math.isfinite(value)}
        for name in event.metrics:
            if name not in finite:
                self.odd.setdefault(name, event.progress)
        self._points.append(CurvePoint(progress=event.progress, wall_s=wall_s, metrics=finite))

    def points(self) -> tuple[CurvePoint, ...]:
        return tuple(self._points)


def _with_result(training: TrainingRecord, event: Trained) -> TrainingRecord:
    numbers = event.result if isinstance(event.result, dict) else {}
    metrics = {
        name: float(value)
        for name, value in numbers.items()
        if isinstance(value, (int, float)) and not isinstance(value, bool)
    }
    return training.model_copy(update={"result": event.result, "metrics": metrics, "wall_s": event.train_ns / 1e9})


def _notes(
    training: TrainingRecord, odd: dict[str, float], judge: Judge | None, log: ReferenceLog | None
) -> Iterator[str]:
    if training.stopped:
        yield training.stopped
    elif judge is not None and log is not None and not judge.compared:
        yield f"the training was not compared with {log.reference}: " + (
            "it has no curve" if not log.curve else "no metric was reported in time that its curve has, too"
        )
    for name, progress in odd.items():
        yield f"from {100 * progress:.0f} % of the training on, {name} was not always a finite number"
    if isinstance(training.result, dict):
        for name in (name for name, value in training.result.items() if value is None):
            yield f"the training returned no number for {name}"


def _made(folder: Path, artifacts: ArtifactStore) -> Iterator[TrainedFile]:
    names = [name for name in list_files(folder) if (folder / name).is_file()]
    digests = artifacts.digests([folder / name for name in names])
    for name, digest in zip(names, digests, strict=True):
        yield TrainedFile(name=name, sha256=digest, size_bytes=(folder / name).stat().st_size)


def _clear(folder: Path) -> None:
    """An earlier attempt may have left something half-made."""
    import shutil

    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
