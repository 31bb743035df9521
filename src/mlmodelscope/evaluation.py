"""manifest → stack, pins → plan → dataset → site → worker → journal → record: the whole sentence."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Unpack

from mlmodelscope.dataset.class_names import check_labels, class_names
from mlmodelscope.dataset.files import numbered
from mlmodelscope.dataset.open import open_dataset
from mlmodelscope.dataset.sample import Dataset
from mlmodelscope.errors import MetricError, MLModelScopeError, UsageError, WorkerError
from mlmodelscope.plan.options import Options
from mlmodelscope.plan.plan import Plan
from mlmodelscope.preparation import Asked, Conditions, DatasetSource, ModelSource, ask, refuse_unknown
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.provision.site import Site, provision
from mlmodelscope.provision.stack import worker_digest
from mlmodelscope.record.finish import finish
from mlmodelscope.record.journal import Journal, has_answers
from mlmodelscope.record.measured import batching_notes, server_of, with_latency, with_worker
from mlmodelscope.record.record import MadeFor, Record, ServerRecord
from mlmodelscope.record.store import Store
from mlmodelscope.running import (
    machine_digest,
    machine_of,
    machine_set_for,
    opened_store,
    with_container,
    with_settings,
    with_setup,
)
from mlmodelscope.watcher import Watcher
from mlmodelscope.worker.answers import Batch, cut_batches
from mlmodelscope.worker.client import Worker
from mlmodelscope.worker.process import WorkerDied
from mlmodelscope.worker.steady import SteadyRun
from mlmodelscope_worker import __version__

__all__ = ["Options", "Watcher", "evaluate"]


_OPEN_ATTEMPTS = 3


def evaluate(
    model: ModelSource,
    dataset: DatasetSource | None = None,
    options: Options | None = None,
    *,
    again: bool = False,
    made_for: MadeFor | None = None,
    **conditions: Unpack[Conditions],
) -> Record:
    """Evaluate a model on a dataset and keep the record; the same plan again is answered from the store.

    `made_for` marks a record that another command needs on its way: overviews and `latest` leave it out.
    """
    refuse_unknown(conditions, "again", "made_for")
    asked = ask(model, dataset, options, **conditions)
    if asked.model.job_type == "training":
        raise UsageError(
            f"{asked.model.name} describes a training, not an evaluation",
            hint=f"mlmodelscope train {asked.model.file or asked.model.name}",
        )
    plan = asked.plan()
    with opened_store(asked) as store:
        return _evaluate_once(plan, store, asked, again, made_for)


def _evaluate_once(plan: Plan, store: Store, asked: Asked, again: bool, made_for: MadeFor | None) -> Record:
    machine, worker = machine_digest(plan), worker_digest()
    asked_at = datetime.now(UTC)
    if store.is_locked(plan.digest):
        asked.watcher.waiting("another process is evaluating the same plan")
    with store.lock(plan.digest):
        found = store.find(plan.digest, machine, worker, "finished")
        # Asked to run again, a record that another process finished while we waited is as fresh as ours would be.
        if found and (not again or found.created_at >= asked_at):
            if made_for is None:
                found = store.shown(found)
                asked.watcher.known(found)
            # The same plan, but the record has the places of files then; callers need those of now.
            return found.model_copy(update={"plan": plan})
        here = machine_of(plan)  # before it is set for the plan
        with machine_set_for(plan, asked.settings.home, asked.watcher) as done:
            record = with_settings(store.begin(plan, here, __version__, worker, made_for), done)
            record = with_container(record, asked.aspects)
            try:
                return _run(record, store, asked)
            except MLModelScopeError as error:
                if not has_answers(store.folder(record.id) / "journal"):
                    store.delete(record)  # nothing has happened that would be worth resuming
                elif error.hint is None and isinstance(error, (WorkerError, MetricError)):
                    error.hint = "the answers so far are kept: the same command resumes where it left off"
                raise


def _run(record: Record, store: Store, asked: Asked) -> Record:
    plan, artifacts, watcher = record.plan, asked.artifacts, asked.watcher
    record = with_setup(record)
    dataset = _open_dataset(plan, artifacts)
    batches = cut_batches(dataset.samples, plan.scenario.batch_size)
    folder = store.folder(record.id)
    folder.mkdir(parents=True, exist_ok=True)
    journal = Journal(folder / "journal", record.plan_digest)
    try:
        if journal.batches:
            watcher.resuming(record, journal.batches * plan.scenario.batch_size, len(dataset.samples))
        if journal.batches < len(batches) or record.latency is None:
            site = provision(plan, artifacts)
            record, worker = _open(record, site, dataset, store, asked)
            with worker:
                started = time.monotonic()
                _answer_all(worker, site, plan, batches, journal, watcher)
                record = record.model_copy(update={"wall_s": (record.wall_s or 0) + time.monotonic() - started})
        journal.sync()
        return finish(record, journal, dataset.samples, store)
    finally:
        journal.close()


def _open_dataset(plan: Plan, artifacts: ArtifactStore) -> Dataset:
    if not plan.dataset.is_known_by_functions:
        return open_dataset(plan.dataset, artifacts)
    with Worker(provision(plan, artifacts), plan) as worker:  # only the manifest's own code can count its samples
        assert worker.opened.count is not None
        return numbered(plan.dataset, worker.opened.count)


def _open(record: Record, site: Site, dataset: Dataset, store: Store, asked: Asked) -> tuple[Record, Worker]:
    """An open worker whose latency has been measured; one that dies meanwhile is replaced, but not for ever."""
    asked.watcher.opening(record.plan)
    for remaining in range(_OPEN_ATTEMPTS - 1, -1, -1):
        worker = None
        try:
            worker = Worker(site, record.plan)
            return _measure(record, worker, dataset, store, asked), worker
        except BaseException as error:
            if worker is not None:
                worker.kill()
            if not isinstance(error, WorkerDied) or not remaining:
                raise
    raise AssertionError("the last attempt returns or raises")


def _measure(record: Record, worker: Worker, dataset: Dataset, store: Store, asked: Asked) -> Record:
    """Latency first, while nothing else runs; an interrupted evaluation keeps what it measured."""
    if record.latency is not None:
        server = server_of(worker.opened)
        if server != record.server:
            note = f"after an interruption the server was another one: {_spell(record.server)}, then {_spell(server)}"
            record = record.model_copy(update={"notes": (*record.notes, note)})
        return record
    plan = record.plan
    names = class_names(plan, worker.classes, asked.artifacts, dataset.classes)
    found = check_labels(plan, dataset, worker.classes, names, asked.tolerant)
    notes = dict.fromkeys((*record.notes, *plan.warnings, *found))
    latency = worker.measure_latency(dataset.samples[: plan.scenario.batch_size + 32], plan)
    asked.watcher.measured(latency)
    record = with_latency(with_worker(record, worker.opened), latency)
    notes |= dict.fromkeys(batching_notes(latency))
    told = {"class_names": tuple(names), "samples": len(dataset.samples), "notes": tuple(notes)}
    record = record.model_copy(update=told)
    store.save(record)
    return record


def _spell(server: ServerRecord | None) -> str:
    if server is None:
        return "none"
    words = [server.name or server.address, server.version, f"{server.model} {'/'.join(server.model_versions)}".strip()]
    return " ".join(word for word in words if word)


def _answer_all(
    worker: Worker, site: Site, plan: Plan, batches: Sequence[Batch], journal: Journal, watcher: Watcher
) -> None:
    total = sum(len(batch.samples) for batch in batches)
    done = sum(len(batch.samples) for batch in batches[: journal.batches])
    remaining = batches[journal.batches :]
    failed = 0
    for batch, answers in zip(remaining, SteadyRun(worker, site, plan, remaining), strict=True):
        journal.append(answers)
        done += len(batch.samples)
        failed += len(answers.errors)
        watcher.answered(done, total, failed)
