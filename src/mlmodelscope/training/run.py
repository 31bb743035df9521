"""A training from its plan to its record.

A training that goes nowhere is expensive. Most of the final result is there after a quarter of the way, so a training
whose metric is then not comparable with the reference log's is stopped, with the reason in the record. One whose loop
is ours has checkpoints: the same command resumes it, and so do we where its worker dies.
"""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Unpack

from mlmodelscope.dataset.files import source_files
from mlmodelscope.errors import MLModelScopeError, UsageError, WorkerError
from mlmodelscope.manifest.catalog import find_manifest
from mlmodelscope.manifest.schema import ReferenceLog
from mlmodelscope.plan.options import Options
from mlmodelscope.plan.plan import Plan
from mlmodelscope.preparation import Asked, Conditions, DatasetSource, ModelSource, ask
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.provision.hashing import list_files
from mlmodelscope.provision.machine import describe_machine
from mlmodelscope.provision.machine.energy import read_meters, spent
from mlmodelscope.provision.site import Site, provision
from mlmodelscope.provision.stack import worker_digest
from mlmodelscope.record.record import Record, StackRecord, TrainedFile, TrainingRecord
from mlmodelscope.record.store import Store
from mlmodelscope.running import machine_set_for, opened_store, with_container, with_settings, with_setup
from mlmodelscope.training.curve import Curve
from mlmodelscope.training.early_stop import EarlyStop, Judge
from mlmodelscope.training.outcome import with_result
from mlmodelscope.worker.client import Trained, Worker
from mlmodelscope.worker.process import WorkerDied
from mlmodelscope_worker import __version__

CHECKPOINTS = "checkpoints"
CURVE = "curve.jsonl"
_SAVE_EVERY_S = 1.0


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
            record = with_container(record, asked.aspects)
            folder = store.folder(record.id) / "artifacts"
            try:
                return _run(record, store, asked, judge, log, folder)
            except MLModelScopeError as error:
                kept = checkpoints(folder) if plan.training is not None else []
                if not kept:
                    store.delete(record)  # there is nothing to resume from
                elif isinstance(error, WorkerError) and error.hint is None:
                    step = f"its checkpoint of step {kept[-1]} is kept"
                    error.hint = f"{step}: `mlmodelscope train` with the same words resumes there"
                raise


def _run(
    record: Record, store: Store, asked: Asked, judge: Judge | None, log: ReferenceLog | None, folder: Path
) -> Record:
    plan = record.plan
    if plan.training is None:
        _clear(folder)
    folder.mkdir(parents=True, exist_ok=True)
    if checkpoints(folder):
        asked.watcher.waiting(f"resuming at step {checkpoints(folder)[-1]}")
    record = with_setup(record)
    site = replace(provision(plan, asked.artifacts), folder=str(folder))
    data = source_files(plan.dataset, asked.artifacts)
    attempt = Attempt(record, store, asked, judge, site, data)
    training, curve = attempt.despite_crashes(TrainingRecord(reference=log.reference if log else None), folder)
    shutil.rmtree(folder / CHECKPOINTS, ignore_errors=True)
    (folder / CURVE).unlink(missing_ok=True)  # the record has it
    training = training.model_copy(update={"artifacts": tuple(_made(folder, asked.artifacts))})
    notes = (*attempt.record.notes, *attempt.notes, *_notes(training, curve.odd, judge, log))
    record = attempt.record.model_copy(
        update={"training": training, "status": "finished", "finished_at": datetime.now(UTC), "notes": notes}
    )
    store.save(record)
    return record


def checkpoints(folder: Path) -> list[int]:
    """The steps that a training can be resumed from."""
    found = (re.fullmatch(r"checkpoint-(\d{12})\.bin", each.name) for each in (folder / CHECKPOINTS).glob("*.bin"))
    return sorted(int(match[1]) for match in found if match)


class Attempt:
    """A worker that trains, and another one that resumes where it died."""

    def __init__(
        self, record: Record, store: Store, asked: Asked, judge: Judge | None, site: Site, data: dict[str, list[str]]
    ) -> None:
        self.record, self._store, self._watcher, self._judge = record, store, asked.watcher, judge
        self._site, self._data = site, data
        self.notes: list[str] = []

    def despite_crashes(self, training: TrainingRecord, folder: Path) -> tuple[TrainingRecord, Curve]:
        """A worker that died after a new checkpoint is replaced; one that made none would die again."""
        while True:
            before = checkpoints(folder)
            try:
                return self._once(training)
            except WorkerDied as error:
                after = checkpoints(folder)
                if not after or after[-1:] == before[-1:]:
                    raise
                why = error.message.splitlines()[0]
                self._watcher.waiting(f"{why}; resuming at step {after[-1]}")
                self.notes.append(f"{why}, and the training was resumed at step {after[-1]}")

    def _once(self, training: TrainingRecord) -> tuple[TrainingRecord, Curve]:
        plan, curve = self.record.plan, Curve()
        with Worker(self._site, plan) as worker:
            self.record = self.record.model_copy(
                update={"stack": StackRecord(**worker.opened.environment), "training": training}
            )
            self._store.save(self.record)
            meters = read_meters(gpu=True)
            started = time.monotonic()
            save_at = started + _SAVE_EVERY_S
            for event in worker.train(self._data):
                now = time.monotonic()
                if isinstance(event, Trained):
                    training = with_result(training, event, plan, spent(meters, read_meters(gpu=True)))
                    break
                curve.add(event, now - started)
                self._watcher.trained(event.progress, event.metrics)
                stop = self._judge.verdict(event) if self._judge is not None else None
                if stop is not None:
                    training = training.model_copy(update={"stopped": stop, "wall_s": now - started})
                    worker.kill()
                    break
                if now > save_at:
                    self._store.save(
                        self.record.model_copy(
                            update={"training": training.model_copy(update={"curve": curve.points()})}
                        )
                    )
                    done = time.monotonic()
                    save_at = done + _SAVE_EVERY_S + 10 * (done - now)  # a long curve takes long to write
        return training.model_copy(update={"curve": curve.points()}), curve


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
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
