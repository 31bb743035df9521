"""Keeping 50,000 samples x top-5, one by one as an evaluation does, beside pyarrow writing the same columns at once."""

from __future__ import annotations

import json
import random
import struct
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

import harness
import material
import pyarrow as pa
import pyarrow.parquet as pq

from mlmodelscope import Options, Settings, Store
from mlmodelscope.dataset.sample import Sample
from mlmodelscope.manifest.aspects import find_aspects
from mlmodelscope.preparation import plan_aspects
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.provision.machine import describe_machine
from mlmodelscope.record.journal import Journal
from mlmodelscope.record.record import Record, new_record_id
from mlmodelscope.record.summary import Summary
from mlmodelscope.worker.answers import Answers

GOAL_S, GOAL_READ_S = 2.0, 0.1
CLASSES, TOP = 1000, 5
PAGE = 50


def make_samples(count: int) -> list[Sample]:
    return [
        Sample(f"n{index % CLASSES:08d}/ILSVRC2012_val_{index:08d}.JPEG", {}, f"{index:064x}", index % CLASSES)
        for index in range(count)
    ]


def make_answers(count: int) -> list[Answers]:
    """As they come from a worker with batches of one: three of four right, one of a hundred failed."""
    chance = random.Random(0)
    entries = []
    for index in range(count):
        if chance.random() < 0.01:
            entries.append(Answers(index, {0: "the JPEG file is truncated"}, 0))
            continue
        classes = [index % CLASSES if chance.random() < 0.75 else chance.randrange(CLASSES)]
        classes += [chance.randrange(CLASSES) for _ in range(TOP - 1)]
        scores = sorted((chance.random() for _ in range(TOP)), reverse=True)
        packed = struct.pack(f"<{TOP}i", *classes), struct.pack(f"<{TOP}f", *scores)
        content = {"form": "classes", "k": TOP, "improbable": 0, "ties": {}}
        entries.append(Answers(index, {}, chance.randrange(10**7), content, packed))
    return entries


def make_record(place: Path, settings: Settings) -> Record:
    """A running record of a plan like any other; the plan's own dataset is not the one that is kept here."""
    model = place / "fake.json"
    model.write_text(json.dumps({"classes": CLASSES}))
    folder = material.write_images(place / "images", 1, material.thumbnail)
    manifests = material.model_manifest(model, "fake", {"decode": None}), material.dataset_manifest(folder)
    plan = plan_aspects(find_aspects(*manifests), Options(), ArtifactStore(settings), settings)
    return Record(
        id=new_record_id(),
        status="running",
        created_at=datetime.now(UTC),
        plan_digest=plan.digest,
        plan=plan,
        machine=describe_machine(),
        worker_version="0",
        worker_digest="0",
    )


def keep(store: Store, record: Record, entries: list[Answers], samples: list[Sample]) -> Record:
    """What happens to answers in an evaluation: journal, tables, metrics, database."""
    store.add(record)
    folder = store.folder(record.id)
    journal = Journal(folder / "journal", record.plan_digest)
    for entry in entries:
        journal.append(entry)
    journal.sync()
    summary = Summary(record.plan)
    summary.write(journal, samples, folder)
    journal.close()
    done = {"status": "finished", "samples": summary.samples, "failed": summary.failed, "metrics": summary.metrics()}
    record = record.model_copy(update=done)
    store.save(record)
    return record


def write_columns(entries: list[Answers], samples: list[Sample], path: Path) -> None:
    """The peer: the same values, all in memory, one table."""
    answered = [not entry.errors for entry in entries]
    columns = {
        "id": [sample.id for sample in samples],
        "digest": [sample.digest for sample in samples],
        "label": pa.array([sample.label for sample in samples], pa.int32()),
        "classes": pa.array(
            [
                struct.unpack(f"<{TOP}i", entry.buffers[0]) if good else None
                for entry, good in zip(entries, answered, strict=True)
            ],
            pa.list_(pa.int32()),
        ),
        "scores": pa.array(
            [
                struct.unpack(f"<{TOP}f", entry.buffers[1]) if good else None
                for entry, good in zip(entries, answered, strict=True)
            ],
            pa.list_(pa.float32()),
        ),
        "error": [entry.errors.get(0) for entry in entries],
    }
    pq.write_table(pa.table(columns), path, compression="zstd")


def cpu_of(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    answer = work()
    return time.process_time() - start, answer


def wall_of(work: Callable[[], Any], rounds: int) -> tuple[float, Any]:
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        answer = work()
        times.append(time.perf_counter() - start)
    return median(times), answer


def check(store: Store, record: Record, entries: list[Answers], samples: list[Sample], peer: Path) -> list[str]:
    kept = store.samples(record)
    expected = pq.read_table(peer)
    faults = [
        f"column `{name}` is not what was written"
        for name in expected.column_names
        if kept[name].combine_chunks().cast(expected.schema.field(name).type) != expected[name].combine_chunks()
    ]
    right = [struct.unpack_from("<i", entry.buffers[0])[0] for entry in entries if not entry.errors]
    labels = [sample.label for sample, entry in zip(samples, entries, strict=True) if not entry.errors]
    share = sum(one == other for one, other in zip(right, labels, strict=True)) / len(right)
    if abs(record.metrics["top1"].value - share) > 1e-12:
        faults.append(f"top1 is {record.metrics['top1'].value}, not {share}")
    if store.samples(record, only_failed=True).num_rows != len(entries) - len(right):
        faults.append("the failed samples are not all there")
    return faults


def main() -> None:
    arguments = harness.options(__doc__ or "").parse_args()
    count = 5000 if arguments.quick else 50000
    samples, entries = make_samples(count), make_answers(count)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        settings = Settings(home=place / "home", cache=place / "cache")
        opening_s, store = cpu_of(lambda: Store(settings))
        draft = make_record(place, settings)
        kept: list[Record] = []

        def ours() -> float:
            record = draft.model_copy(update={"id": new_record_id()})
            seconds, finished = cpu_of(lambda: keep(store, record, entries, samples))
            kept.append(finished)
            return seconds

        peer = place / "peer.parquet"
        contenders = {
            "mlmodelscope": ours,
            "pyarrow, columns": lambda: cpu_of(lambda: write_columns(entries, samples, peer))[0],
        }
        seen = harness.interleave(contenders, 3)
        record = kept[-1]
        readings = {
            "list records": lambda: store.list(),
            "wrong ones": lambda: store.samples(record, only_wrong=True),
            "failed ones": lambda: store.samples(record, only_failed=True),
            f"a page of {PAGE} wrong ones": lambda: (
                store.samples(record, only_wrong=True).slice(PAGE, PAGE).to_pylist()
            ),
        }
        read_s = {name: wall_of(work, 9)[0] for name, work in readings.items()}
        peer_read_s = wall_of(lambda: pq.read_table(peer), 9)[0]
        faults = check(store, record, entries, samples, peer)
        store.close()
    write_s = {name: min(seconds) for name, seconds in seen.items()}
    rows = [(f"write {count} samples: {name}", f"{seconds:.2f} s CPU") for name, seconds in write_s.items()]
    rows += [("open a new database, once", f"{opening_s:.2f} s CPU")]
    rows += [(f"read: {name}", f"{1e3 * seconds:.1f} ms") for name, seconds in read_s.items()]
    rows += [("read: pyarrow, whole table", f"{1e3 * peer_read_s:.1f} ms")]
    harness.print_table(("", "time"), rows)
    print()
    ours_s, peer_s = write_s.values()
    meaning = (
        f"CPU to keep {count} samples / CPU of pyarrow for the same columns; goal <= {GOAL_S} s for 50,000, "
        f"seen {ours_s * 50000 / count:.2f} s; slowest reading goal <= {1e3 * GOAL_READ_S:.0f} ms, "
        f"seen {1e3 * max(read_s.values()):.0f} ms"
    )
    results = {"write_cpu_s": seen, "read_s": read_s, "open_cpu_s": opening_s}
    harness.finish("store", ours_s / peer_s, meaning, arguments.quick, results, faults)


if __name__ == "__main__":
    main()
