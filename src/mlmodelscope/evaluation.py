"""manifest → plan → provision → dataset → worker → record: the whole sentence, and the only file that knows it all."""

from __future__ import annotations

import errno
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mlmodelscope.dataset.files import numbered
from mlmodelscope.dataset.labels import read_classes
from mlmodelscope.dataset.open import open_dataset
from mlmodelscope.dataset.sample import Dataset
from mlmodelscope.errors import DatasetError, MLModelScopeError, PlanError, StoreError, UsageError, WorkerError
from mlmodelscope.plan.options import Options
from mlmodelscope.plan.plan import Plan
from mlmodelscope.preparation import (
    DatasetSource,
    HardwareSource,
    ModelSource,
    SoftwareSource,
    find_aspects,
    plan_aspects,
)
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.provision.machine import Machine, describe_machine
from mlmodelscope.provision.setting import Place, Setting, applied, restore_left_behind
from mlmodelscope.provision.setup import run_setup
from mlmodelscope.provision.site import Site, provision
from mlmodelscope.provision.stack import worker_digest
from mlmodelscope.record.journal import Entry, Journal, has_answers
from mlmodelscope.record.record import Record, ServerRecord, StackRecord
from mlmodelscope.record.store import Store
from mlmodelscope.record.summary import Summary, summarise_latency
from mlmodelscope.settings import Settings
from mlmodelscope.worker.client import Answers, Batch, Latency, Worker
from mlmodelscope.worker.process import WorkerDied
from mlmodelscope.worker.steady import SteadyRun
from mlmodelscope_worker import __version__

__all__ = ["Options", "Watcher", "evaluate"]


_OPEN_ATTEMPTS = 3


class Watcher:
    """What an evaluation tells whoever is watching; the default watches nothing."""

    def downloading(self, name: str, done: int, total: int | None) -> None: ...

    def waiting(self, reason: str) -> None: ...

    def building(self, what: str) -> None: ...

    def resuming(self, record: Record, done: int, total: int) -> None: ...

    def measured(self, latency: Latency) -> None: ...

    def benching(self, what: str) -> None: ...

    def answered(self, done: int, total: int, failed: int) -> None: ...

    def trained(self, progress: float, metrics: dict[str, float]) -> None: ...

    def judged(self, metric: str, claimed: float, measured: float, accepted: tuple[float, float]) -> None:
        """A claim does not hold, and its cause will be sought; `accepted` is what might have been measured."""

    def tried(self, samples: int, variants: Sequence[Mapping[str, Any]]) -> None:
        """Variants of a plan have seen so many samples; `out` says that one cannot be the cause."""


def evaluate(
    model: ModelSource,
    dataset: DatasetSource | None = None,
    options: Options | None = None,
    *,
    software: SoftwareSource | None = None,
    hardware: HardwareSource | None = None,
    trust: bool = False,
    settings: Settings | None = None,
    again: bool = False,
    watcher: Watcher | None = None,
) -> Record:
    """Evaluate a model on a dataset and keep the record; the same plan again answers from the store.

    `trust` lets code in the manifests run for this once.
    """
    settings = settings or Settings.from_environment()
    watcher = watcher or Watcher()
    artifacts = ArtifactStore(settings, watcher.downloading)
    aspects = find_aspects(model, dataset, software, hardware)
    if aspects.model.job_type == "training":
        raise UsageError(
            f"{aspects.model.name} describes a training, not an evaluation",
            hint=f"mlmodelscope train {aspects.model.file or aspects.model.name}",
        )
    plan = plan_aspects(aspects, options or Options(), artifacts, settings, trust=trust, progress=watcher.building)
    with storage_errors(settings.home):
        set_machine_back(settings.home, watcher)
        store = Store(settings)
        try:
            return _evaluate_once(plan, store, artifacts, again, watcher)
        finally:
            store.close()


def _evaluate_once(plan: Plan, store: Store, artifacts: ArtifactStore, again: bool, watcher: Watcher) -> Record:
    machine, worker = _machine(plan), worker_digest()
    asked_at = datetime.now(UTC)
    if store.is_locked(plan.digest):
        watcher.waiting("another process is evaluating the same plan")
    with store.lock(plan.digest):
        found = store.find(plan.digest, machine.digest, worker, "finished")
        # Asked to run again, a record that another process finished while we waited is as fresh as ours would be.
        if found and (not again or found.created_at >= asked_at):
            # The same plan, but the record's says where files lay then; whoever goes on needs them where they lie now.
            return found.model_copy(update={"plan": plan})
        with machine_set_for(plan, artifacts.settings.home, watcher) as done:
            record = with_settings(store.begin(plan, machine, __version__, worker), done)
            try:
                return _run(record, store, artifacts, watcher)
            except MLModelScopeError as error:
                if not has_answers(store.folder(record.id) / "journal"):
                    store.delete(record)  # nothing has happened that would be worth going on with
                elif error.hint is None and isinstance(error, WorkerError):
                    error.hint = "what is answered is kept: the same command goes on where it stopped"
                raise


def machine_set_for(plan: Plan, home: Path, watcher: Watcher) -> AbstractContextManager[tuple[Setting, ...]]:
    """The machine as the plan's hardware manifest wants it, and what became of each setting."""
    place = Place(home, waiting=watcher.waiting)
    return applied(plan.settings, int(plan.predictor.options.get("threads", 1)), place)


def with_settings(record: Record, done: tuple[Setting, ...]) -> Record:
    """What was set, and a note for each setting that could not be."""
    left = [f"{each.name} = {each.asked} was not set: {each.note}" for each in done if each.note]
    return record.model_copy(update={"settings": done, "notes": tuple(dict.fromkeys((*record.notes, *left)))})


def set_machine_back(home: Path, watcher: Watcher) -> None:
    """After a run that was killed: before the machine is looked at, or it would seem to be another one."""
    for name in restore_left_behind(Place(home)):
        watcher.building(f"{name} is set back to what it was before a run that was killed")


def _machine(plan: Plan) -> Machine:
    """Where the plan is carried out: this machine, or a server, which is another one at another address."""
    return describe_machine().model_copy(update={"server": plan.predictor.where.get("url")})


def _run(record: Record, store: Store, artifacts: ArtifactStore, watcher: Watcher) -> Record:
    plan = record.plan
    if plan.setup is not None:
        record = record.model_copy(update={"setup_output": run_setup(plan.setup)})
    dataset = _open_dataset(plan, artifacts)
    batches = cut_batches(dataset, plan)
    folder = store.folder(record.id)
    folder.mkdir(parents=True, exist_ok=True)
    journal = Journal(folder / "journal", record.plan_digest)
    try:
        if journal.batches:
            watcher.resuming(record, journal.batches * plan.scenario.batch_size, len(dataset.samples))
        if journal.batches < len(batches) or record.latency is None:
            site = provision_site(plan, artifacts)
            record, worker = _open(record, site, dataset, store, artifacts, watcher)
            with worker:
                started = time.monotonic()
                _answer_all(worker, site, plan, batches, journal, watcher)
                record = record.model_copy(update={"wall_s": (record.wall_s or 0) + time.monotonic() - started})
        journal.sync()
        return finish(record, journal, dataset, store)
    finally:
        journal.close()


def provision_site(plan: Plan, artifacts: ArtifactStore) -> Site:
    """Everything the plan needs; its functions also get the names of the model's classes."""
    site = provision(plan, artifacts)
    if not plan.functions or plan.output.names is None:
        return site
    return replace(site, features=tuple(read_classes(Path(site.other_files["features"]))))


def _open_dataset(plan: Plan, artifacts: ArtifactStore) -> Dataset:
    if not plan.dataset.is_known_by_functions:
        return open_dataset(plan.dataset, artifacts)
    with Worker(provision_site(plan, artifacts), plan) as worker:  # only the manifest's own code can count its samples
        return numbered(plan.dataset, worker.opened["count"])


def _open(
    record: Record, site: Site, dataset: Dataset, store: Store, artifacts: ArtifactStore, watcher: Watcher
) -> tuple[Record, Worker]:
    """An open worker whose latency has been measured; one that dies meanwhile is replaced, but not for ever."""
    for remaining in range(_OPEN_ATTEMPTS - 1, -1, -1):
        worker = None
        try:
            worker = Worker(site, record.plan)
            return _measure(record, worker, dataset, store, artifacts, watcher), worker
        except BaseException as error:
            if worker is not None:
                worker.kill()
            if not isinstance(error, WorkerDied) or not remaining:
                raise
    raise AssertionError("the last attempt returns or raises")


def cut_batches(dataset: Dataset, plan: Plan) -> list[Batch]:
    size = plan.scenario.batch_size
    samples = dataset.samples
    return [Batch(index, samples[index * size : (index + 1) * size]) for index in range(-(-len(samples) // size))]


def _measure(
    record: Record, worker: Worker, dataset: Dataset, store: Store, artifacts: ArtifactStore, watcher: Watcher
) -> Record:
    """Latency first, while nothing else runs; an interrupted evaluation keeps what it measured."""
    server = ServerRecord(**worker.opened["server"]) if worker.opened["server"] else None
    if record.latency is not None:
        if server != record.server:
            note = f"after an interruption the server was another one: {_spell(record.server)}, then {_spell(server)}"
            record = record.model_copy(update={"notes": (*record.notes, note)})
        return record
    names = class_names(record.plan, dataset, worker.classes, artifacts)
    first = dataset.samples[: record.plan.scenario.batch_size + 32]
    latency = worker.measure_latency(first, record.plan)
    watcher.measured(latency)
    record = record.model_copy(
        update={
            "stack": StackRecord(**worker.opened["environment"]),
            "server": server,
            "load_s": worker.opened["load_ns"] / 1e9,
            "latency": summarise_latency(latency.batch_size, latency.warm_up_ns, latency.raw_ns, latency.parts_ns),
            "class_names": tuple(names),
            "samples": len(dataset.samples),
        }
    )
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
    failed = 0
    for answers in SteadyRun(worker, site, plan, batches[journal.batches :]):
        journal.append(entry_of(answers))
        done += len(answers.batch.samples)
        failed += len(answers.errors)
        watcher.answered(done, total, failed)


def entry_of(answers: Answers) -> Entry:
    return Entry(
        answers.batch.index,
        answers.k,
        answers.classes,
        answers.scores,
        answers.errors,
        answers.run_ns,
        answers.improbable,
        answers.answers,
    )


def _emulation(record: Record) -> Iterator[str]:
    if record.stack is not None and record.stack.architecture != record.machine.architecture:
        yield (
            f"the stack is for {record.stack.architecture} and was emulated on {record.machine.architecture}: "
            "the answers count, the times do not"
        )


def finish(record: Record, journal: Journal, dataset: Dataset, store: Store) -> Record:
    """A complete journal becomes tables and metrics, and the record is finished."""
    summary = Summary(record.plan)
    summary.write(journal, dataset.samples, store.folder(record.id))
    record = record.model_copy(
        update={
            "status": "finished",
            "finished_at": datetime.now(UTC),
            "samples": summary.samples,
            "failed": summary.failed,
            "failures": tuple(summary.failures),
            "metrics": summary.metrics(),
            "notes": (*record.notes, *summary.notes(), *_emulation(record)),
        }
    )
    store.save(record)
    (store.folder(record.id) / "journal").unlink(missing_ok=True)
    return record


def class_names(plan: Plan, dataset: Dataset, outputs: int | None, artifacts: ArtifactStore) -> list[str]:
    """Names by dataset class number; refused where names, labels and the model's outputs cannot belong together."""
    offset = plan.output.label_offset
    largest = max(dataset.samples, key=lambda sample: sample.label or 0, default=None)
    if outputs is not None and largest is not None and (largest.label or 0) + offset >= outputs:
        raise DatasetError(
            f"the sample `{largest.id}` has the class {largest.label}, but {plan.model.name} has {outputs} outputs"
            + (f" and a label offset of {offset}" if offset else ""),
            hint="labels that count from 1 need `labels: {offset: 1}` in the dataset's manifest",
        )
    if plan.output.names is None:
        return dataset.classes
    names = read_classes(artifacts.fetch(plan.output.names.url, f"sha256:{plan.output.names.sha256}").path)
    if outputs is None or len(names) == outputs:
        return names[max(0, offset) :]
    if len(names) == outputs - offset:  # the file names the dataset's classes, without the background
        return names
    raise PlanError(
        f"{plan.model.name} has {outputs} outputs, but its features_url names {len(names)} classes",
        hint="a network with a background class in front needs `label_offset: 1`"
        if len(names) == outputs - 1
        else None,
    )


@contextmanager
def storage_errors(home: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise StoreError(
            f"no space left on the disk of {home}",
            hint="free some and give the same command again: it goes on where it stopped",
        ) from None
