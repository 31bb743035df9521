"""An evaluation in parts: each machine answers some of the batches, and the parts become one record.

Batches are cut as ever, so that no answer depends on how many parts there are: the samples of the record are the same
bytes as those of an evaluation in one piece.
"""

from __future__ import annotations

import json
import shutil
import time
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mlmodelscope.dataset.open import open_dataset
from mlmodelscope.dataset.sample import Dataset, Sample
from mlmodelscope.errors import PlanError, UsageError
from mlmodelscope.evaluation import (
    Watcher,
    class_names,
    cut_batches,
    entry_of,
    finish,
    provision_site,
    storage_errors,
)
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
from mlmodelscope.provision.machine import describe_machine
from mlmodelscope.provision.stack import worker_digest
from mlmodelscope.record.journal import Entry, Journal
from mlmodelscope.record.record import Record, ServerRecord, StackRecord, new_record_id
from mlmodelscope.record.store import Store
from mlmodelscope.record.summary import summarise_latency
from mlmodelscope.settings import Settings
from mlmodelscope.worker.client import Batch, Worker
from mlmodelscope.worker.steady import SteadyRun
from mlmodelscope_worker import __version__


def evaluate_shard(
    model: ModelSource,
    dataset: DatasetSource | None,
    options: Options,
    number: int,
    of: int,
    *,
    software: SoftwareSource | None = None,
    hardware: HardwareSource | None = None,
    trust: bool = False,
    settings: Settings,
    watcher: Watcher | None = None,
) -> Path:
    """Answer one part of the batches, and say in which file the answers are; interrupted, it goes on where it was.

    The first part also measures the latency, before it answers anything.
    """
    watcher = watcher or Watcher()
    artifacts = ArtifactStore(settings, watcher.downloading)
    aspects = find_aspects(model, dataset, software, hardware)
    plan = plan_aspects(aspects, options, artifacts, settings, trust=trust, progress=watcher.building)
    if plan.dataset.is_known_by_functions:
        raise UsageError("the manifest's own code reads the dataset: it cannot be split into parts")
    if plan.settings is not None or plan.setup is not None:
        raise UsageError("a hardware manifest that sets a machine up is for one machine, not for parts")
    with storage_errors(settings.home):
        folder = settings.home / "shards" / f"{plan.digest[:24]}-{worker_digest()[:12]}-{number}-{of}"
        folder.mkdir(parents=True, exist_ok=True)
        packed = folder / "shard.zip"
        if not packed.exists():
            _answer(plan, open_dataset(plan.dataset, artifacts), number, of, folder, artifacts, watcher)
        return packed


def part_of(batches: Sequence[Batch], number: int, of: int) -> Sequence[Batch]:
    """A part of the batches, in order; parts differ by one batch at the most."""
    size, rest = divmod(len(batches), of)
    start = number * size + min(number, rest)
    return batches[start : start + size + (1 if number < rest else 0)]


def _answer(
    plan: Plan, dataset: Dataset, number: int, of: int, folder: Path, artifacts: ArtifactStore, watcher: Watcher
) -> None:
    batches = part_of(cut_batches(dataset, plan), number, of)
    record = _new_record(plan)
    facts = folder / "facts.json"
    if facts.exists():
        record = Record.model_validate_json(facts.read_bytes())
    journal = Journal(folder / "journal", f"{plan.digest} {number} {of}")
    try:
        total = sum(len(batch.samples) for batch in batches)
        done = sum(len(batch.samples) for batch in batches[: journal.batches])
        if journal.batches:
            watcher.resuming(record, done, total)
        if journal.batches < len(batches) or not facts.exists():
            site = provision_site(plan, artifacts)
            with Worker(site, plan) as worker:
                record = _described(record, worker, dataset, number, artifacts, watcher)
                _write(facts, record.model_dump_json())
                started, failed = time.monotonic(), 0
                first = batches[0].index if batches else 0
                for answers in SteadyRun(worker, site, plan, batches[journal.batches :]):
                    entry = entry_of(answers)
                    journal.append(replace(entry, batch=entry.batch - first))
                    done += len(answers.batch.samples)
                    failed += len(answers.errors)
                    watcher.answered(done, total, failed)
                record = record.model_copy(update={"wall_s": (record.wall_s or 0) + time.monotonic() - started})
                _write(facts, record.model_dump_json())
        journal.sync()
    finally:
        journal.close()
    _pack(folder, [sample for batch in batches for sample in batch.samples])


def _new_record(plan: Plan) -> Record:
    return Record(
        id=new_record_id(),
        status="running",
        created_at=datetime.now(UTC),
        plan_digest=plan.digest,
        plan=plan,
        machine=describe_machine().model_copy(update={"server": plan.predictor.where.get("url")}),
        worker_version=__version__,
        worker_digest=worker_digest(),
    )


def _described(
    record: Record, worker: Worker, dataset: Dataset, number: int, artifacts: ArtifactStore, watcher: Watcher
) -> Record:
    if record.stack is not None:
        return record
    update: dict[str, Any] = {
        "stack": StackRecord(**worker.opened["environment"]),
        "server": ServerRecord(**worker.opened["server"]) if worker.opened["server"] else None,
        "load_s": worker.opened["load_ns"] / 1e9,
        "class_names": tuple(class_names(record.plan, dataset, worker.classes, artifacts)),
    }
    if number == 0:
        latency = worker.measure_latency(dataset.samples[: record.plan.scenario.batch_size + 32], record.plan)
        watcher.measured(latency)
        update["latency"] = summarise_latency(latency.batch_size, latency.warm_up_ns, latency.raw_ns, latency.parts_ns)
    return record.model_copy(update=update)


def _write(path: Path, text: str) -> None:
    draft = path.with_suffix(".draft")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)


def _pack(folder: Path, samples: Iterable[Sample]) -> None:
    """Everything that joining needs: the dataset itself stays where it is."""
    draft = folder / "shard.draft"
    lines = "".join(json.dumps([each.id, each.digest, each.label]) + "\n" for each in samples)
    with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.write(folder / "facts.json", "facts.json")
        packed.write(folder / "journal", "journal")
        packed.writestr("samples.jsonl", lines)
    draft.replace(folder / "shard.zip")


@dataclass(frozen=True)
class _Part:
    record: Record
    samples: list[Sample]
    entries: list[Entry]


def join_shards(parts: Sequence[Path], store: Store) -> Record:
    """One record of all parts, in their order; refused where they are not of the same plan."""
    first: Record | None = None
    record: Record | None = None
    journal: Journal | None = None
    samples: list[Sample] = []
    machines: dict[str, int] = {}
    walls: list[float] = []
    try:
        for path in parts:
            part = _open_part(path, store)
            if first is None:
                first = part.record
                record = first.model_copy(update={"id": new_record_id()})
                store.add(record)
                journal = Journal(store.folder(record.id) / "journal", first.plan_digest)
            assert record is not None and journal is not None
            _refuse_others(first, part.record)
            for entry in part.entries:
                journal.append(replace(entry, batch=journal.batches))
            samples += part.samples
            walls.append(part.record.wall_s or 0)
            machines[part.record.machine.hostname] = machines.get(part.record.machine.hostname, 0) + 1
        if record is None or journal is None:
            raise UsageError("there is nothing to join")
        said = ", ".join(f"{name} {count}" for name, count in machines.items())
        note = f"answered in {len(parts)} parts by {len(machines)} machines ({said}); times are of the first part"
        record = record.model_copy(update={"notes": (*record.notes, note), "wall_s": max(walls)})
        journal.sync()
        return finish(record, journal, Dataset(samples, []), store)
    except BaseException:
        if record is not None:
            store.delete(record)
        raise
    finally:
        if journal is not None:
            journal.close()


def _open_part(path: Path, store: Store) -> _Part:
    place = store.home / "shards" / f"open-{path.stem}-{new_record_id()}"
    try:
        with zipfile.ZipFile(path) as packed:
            record = Record.model_validate_json(packed.read("facts.json"))
            samples = list(_samples(packed.read("samples.jsonl").decode()))
            place.mkdir(parents=True)
            (place / "journal").write_bytes(packed.read("journal"))
        entries = list(Journal.read(place / "journal"))
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise UsageError(f"a part of the evaluation cannot be read: {error}") from None
    finally:
        shutil.rmtree(place, ignore_errors=True)
    return _Part(record, samples, entries)


def _samples(text: str) -> Iterator[Sample]:
    for line in text.splitlines():
        identity, digest, label = json.loads(line)
        yield Sample(str(identity), {}, str(digest), label)


def _refuse_others(first: Record, other: Record) -> None:
    if first.plan_digest == other.plan_digest and first.worker_digest == other.worker_digest:
        return
    one, two = first.plan.stack, other.plan.stack
    differences = [
        f"{name} {one.packages.get(name, 'missing')} and {two.packages.get(name, 'missing')}"
        for name in sorted({*one.packages, *two.packages})
        if one.packages.get(name) != two.packages.get(name)
    ]
    if first.worker_digest != other.worker_digest:
        differences.append(f"the worker of {first.worker_version} and of {other.worker_version}")
    raise PlanError(
        f"{first.machine.hostname} and {other.machine.hostname} did not do the same: "
        + (", ".join(differences) or "their plans differ"),
        hint="name a stack (`software`): it is built alike everywhere",
    )
