"""The queries of a bench, kept raw beside its record: a Parquet file of columns."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from mlmodelscope.errors import UsageError

NAME = "latencies.parquet"

_QUERIES = pa.schema(
    [
        ("run", pa.int32()),
        ("due_ns", pa.int64()),
        ("started_ns", pa.int64()),
        ("ended_ns", pa.int64()),
        ("waiting", pa.int64()),
    ]
)


@dataclass(frozen=True)
class RawRun:
    """When each query of one run was due, begun and answered, in nanoseconds since the run began."""

    due_ns: array[int]
    started_ns: array[int]
    ended_ns: array[int]
    waiting: array[int]
    """Queries that waited when each was begun; empty where none can."""

    def latencies_ns(self) -> list[int]:
        return [end - due for end, due in zip(self.ended_ns, self.due_ns, strict=True)]


def save_latencies(runs: Iterable[RawRun], folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / NAME
    draft = path.with_suffix(".draft")
    with pq.ParquetWriter(draft, _QUERIES, compression="zstd") as writer:
        for number, run in enumerate(runs):
            count = len(run.ended_ns)
            if count:
                times = [_column(values) for values in (run.due_ns, run.started_ns, run.ended_ns)]
                waiting = _column(run.waiting) if len(run.waiting) else pa.nulls(count, pa.int64())
                numbers = pa.array([number] * count, pa.int32())
                writer.write_batch(pa.record_batch([numbers, *times, waiting], schema=_QUERIES))
    with draft.open("rb") as file:
        os.fsync(file.fileno())
    os.replace(draft, path)
    return path


def load_latencies(folder: Path) -> list[RawRun]:
    """The runs of a record, in order."""
    path = folder / NAME
    if not path.exists():
        hint = "mlmodelscope bench makes records with some"
        raise UsageError(f"record {folder.name} has no raw latencies", hint=hint)
    table = pq.read_table(path)
    found: dict[int, list[int]] = {}
    for row, number in enumerate(table.column("run").to_pylist()):
        found.setdefault(number, [row, row])[1] = row
    runs = []
    for number in range(max(found, default=-1) + 1):
        first, last = found.get(number, [0, -1])
        part = table.slice(first, last - first + 1)
        due, started, ended = (array("q", part.column(name).to_pylist()) for name in _QUERIES.names[1:4])
        waiting = part.column("waiting").to_pylist()
        runs.append(RawRun(due, started, ended, array("q", [] if None in waiting else waiting)))
    return runs


def csv_lines(runs: Iterable[RawRun]) -> Iterator[str]:
    """Every query as a line of CSV, with its latency."""
    yield "run,query,due_ns,started_ns,ended_ns,latency_ns,waiting\n"
    for number, run in enumerate(runs):
        for query, (due, start, end) in enumerate(zip(run.due_ns, run.started_ns, run.ended_ns, strict=True)):
            waiting = run.waiting[query] if len(run.waiting) else ""
            yield f"{number},{query},{due},{start},{end},{end - due},{waiting}\n"


def _column(values: array[int]) -> pa.Array:
    return pa.Array.from_buffers(pa.int64(), len(values), [None, pa.py_buffer(values.tobytes())])
