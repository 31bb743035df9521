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
from pathlib import Path
from typing import Unpack

from mlmodelscope.dataset.class_names import check_labels, class_names
from mlmodelscope.dataset.open import open_dataset
from mlmodelscope.dataset.sample import Dataset, Sample
from mlmodelscope.dataset.truth_files import packed_target, unpack_truth, unpacked_target
from mlmodelscope.errors import PlanError, UsageError
from mlmodelscope.plan.options import Options
from mlmodelscope.plan.plan import Plan
from mlmodelscope.preparation import Conditions, DatasetSource, ModelSource, ask
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.provision.site import provision
from mlmodelscope.provision.stack import worker_digest
from mlmodelscope.record.finish import finish
from mlmodelscope.record.journal import Journal
from mlmodelscope.record.measured import with_latency, with_worker
from mlmodelscope.record.packed import opened
from mlmodelscope.record.record import Record, new_record_id
from mlmodelscope.record.store import Store
from mlmodelscope.running import new_record, storage_errors
from mlmodelscope.watcher import Watcher
from mlmodelscope.worker.answers import Answers, Batch, cut_batches
from mlmodelscope.worker.client import Worker
from mlmodelscope.worker.steady import SteadyRun


def evaluate_shard(
    model: ModelSource,
    dataset: DatasetSource | None,
    options: Options,
    number: int,
    of: int,
    **conditions: Unpack[Conditions],
) -> Path:
    """Answer one part of the batches and return the file with the answers; after an interruption it resumes.

    The first part also measures the latency, before it answers anything.
    """
    asked = ask(model, dataset, options, **conditions)
    plan = asked.plan()
    if plan.dataset.is_known_by_functions:
        raise UsageError("the manifest's own code reads the dataset: it cannot be split into parts")
    if plan.settings is not None or plan.setup is not None:
        raise UsageError("a hardware manifest that sets a machine up is for one machine, not for parts")
    home = asked.settings.home
    with storage_errors(home):
        folder = home / "shards" / f"{plan.digest[:24]}-{worker_digest()[:12]}-{number}-{of}"
        folder.mkdir(parents=True, exist_ok=True)
        packed = folder / "shard.zip"
        if not packed.exists():
            dataset_here = open_dataset(plan.dataset, asked.artifacts)
            _answer(plan, dataset_here, number, of, folder, asked.artifacts, asked.watcher)
        return packed


def part_of(batches: Sequence[Batch], number: int, of: int) -> Sequence[Batch]:
    """A part of the batches, in order; parts differ by one batch at most."""
    size, rest = divmod(len(batches), of)
    start = number * size + min(number, rest)
    return batches[start : start + size + (1 if number < rest else 0)]


def _answer(
    plan: Plan, dataset: Dataset, number: int, of: int, folder: Path, artifacts: ArtifactStore, watcher: Watcher
) -> None:
    batches = part_of(cut_batches(dataset.samples, plan.scenario.batch_size), number, of)
    record = new_record(plan)
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
            site = provision(plan, artifacts)
            with Worker(site, plan) as worker:
                record = _described(record, worker, dataset, number, artifacts, watcher)
                _write(facts, record.model_dump_json())
                started, failed = time.monotonic(), 0
                first = batches[0].index if batches else 0
                remaining = batches[journal.batches :]
                for batch, answers in zip(remaining, SteadyRun(worker, site, plan, remaining), strict=True):
                    journal.append(replace(answers, batch=answers.batch - first))
                    done += len(batch.samples)
                    failed += len(answers.errors)
                    watcher.answered(done, total, failed)
                record = record.model_copy(update={"wall_s": (record.wall_s or 0) + time.monotonic() - started})
                _write(facts, record.model_dump_json())
        journal.sync()
    finally:
        journal.close()
    _pack(folder, [sample for batch in batches for sample in batch.samples])


def _described(
    record: Record, worker: Worker, dataset: Dataset, number: int, artifacts: ArtifactStore, watcher: Watcher
) -> Record:
    if record.stack is not None:
        return record
    names = class_names(record.plan, worker.classes, artifacts, dataset.classes)
    found = check_labels(record.plan, dataset, worker.classes, names, tolerant=False)
    notes = tuple(dict.fromkeys((*record.notes, *record.plan.warnings, *found)))
    told = {"class_names": tuple(names), "notes": notes}
    record = with_worker(record, worker.opened).model_copy(update=told)
    if number:
        return record
    latency = worker.measure_latency(dataset.samples[: record.plan.scenario.batch_size + 32], record.plan)
    watcher.measured(latency)
    return with_latency(record, latency)


def _write(path: Path, text: str) -> None:
    draft = path.with_suffix(".draft")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)


def _pack(folder: Path, samples: Iterable[Sample]) -> None:
    """Everything that joining needs: the dataset itself stays where it is."""
    draft = folder / "shard.draft"
    with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as packed:
        told = ([each.id, each.digest, packed_target(each.target, packed)] for each in samples)
        lines = "".join(json.dumps(each) + "\n" for each in told)
        packed.write(folder / "facts.json", "facts.json")
        packed.write(folder / "journal", "journal")
        packed.writestr("samples.jsonl", lines)
    draft.replace(folder / "shard.zip")


_LARGEST_PART = 8 << 30
_LARGEST_TEXT = 256 << 20
"""Of a list of a million samples."""


@dataclass(frozen=True)
class _Part:
    record: Record
    samples: list[Sample]
    entries: list[Answers]


def join_shards(parts: Sequence[Path], store: Store) -> Record:
    """One record of all parts, in their order; refused where they are not of the same plan."""
    first: Record | None = None
    record: Record | None = None
    journal: Journal | None = None
    samples: list[Sample] = []
    machines: dict[str, int] = {}
    walls: list[float] = []
    truth = store.home / "shards" / f"truth-{new_record_id()}"
    try:
        for path in parts:
            part = _open_part(path, store, truth)
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
        return finish(record, journal, samples, store)
    except BaseException:
        if record is not None:
            store.delete(record)
        raise
    finally:
        if journal is not None:
            journal.close()
        shutil.rmtree(truth, ignore_errors=True)


def _open_part(path: Path, store: Store, truth: Path) -> _Part:
    """`truth` is where true pictures of its samples go; they are needed until the parts are joined."""
    place = store.home / "shards" / f"open-{path.stem}-{new_record_id()}"
    try:
        with opened(path, _LARGEST_PART, "part of an evaluation") as packed:
            if max(packed.getinfo(name).file_size for name in ("facts.json", "samples.jsonl")) > _LARGEST_TEXT:
                raise ValueError("what it says of itself is too long")
            record = Record.model_validate_json(packed.read("facts.json"))
            truth.mkdir(parents=True, exist_ok=True)
            unpack_truth(packed, truth)
            samples = list(_samples(packed.read("samples.jsonl").decode(), truth))
            place.mkdir(parents=True)
            with packed.open("journal") as source, (place / "journal").open("wb") as target:
                shutil.copyfileobj(source, target, 1 << 20)
        entries = list(Journal.read(place / "journal"))
    except (KeyError, ValueError) as error:
        raise UsageError(f"a part of the evaluation cannot be read: {error}") from None
    finally:
        shutil.rmtree(place, ignore_errors=True)
    return _Part(record, samples, entries)


def _samples(text: str, truth: Path) -> Iterator[Sample]:
    for line in text.splitlines():
        identity, digest, target = json.loads(line)
        yield Sample(str(identity), {}, str(digest), unpacked_target(target, truth))


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
