"""Per-sample answers as a Parquet file: the same evaluation gives the same bytes, however often it was interrupted."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from mlmodelscope.record.sample_rows import Row
from mlmodelscope.task.task import Task

_TYPES = {
    "string": pa.string(),
    "binary": pa.binary(),
    "bool": pa.bool_(),
    "int32": pa.int32(),
    "float32": pa.float32(),
    "float64": pa.float64(),
}


def schema_of(task: Task) -> pa.Schema:
    """The columns of a task's samples: who they are, the task's own, and what every task has."""
    own = [(each.name, _type(each.type)) for each in task.columns]
    return pa.schema(
        [("id", pa.string()), ("digest", pa.string()), *own, ("error", pa.string()), ("answer", pa.string())]
    )


def _type(name: str) -> pa.DataType:
    return pa.list_(_TYPES[name[5:-1]]) if name.startswith("list<") else _TYPES[name]


BATCHES = pa.schema([("batch", pa.int32()), ("samples", pa.int32()), ("run_ns", pa.int64())])

_ROWS = 4096
_BYTES = 8 << 20
"""Of pictures in one group: who looks at one sample unpacks the whole group that it is in."""
LARGEST_GROUP = 96 << 20
"""Once it is unpacked; the last row of a group may hold the largest of pictures."""


class TableWriter:
    """Writes rows to a Parquet file that appears when it is complete."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self._path = path
        self._draft = path.with_suffix(".draft")
        self._schema = schema
        self._writer = pq.ParquetWriter(self._draft, schema, compression="zstd")
        self._columns: list[list[Any]] = [[] for _ in schema]
        self._bytes = 0

    def add(self, *values: Any) -> None:
        for column, value in zip(self._columns, values, strict=True):
            column.append(value)
            self._bytes += len(value) if isinstance(value, bytes) else 0
        if len(self._columns[0]) >= _ROWS or self._bytes >= _BYTES:
            self._flush()

    def _flush(self) -> None:
        arrays = [pa.array(column, field.type) for column, field in zip(self._columns, self._schema, strict=True)]
        self._writer.write_batch(pa.record_batch(arrays, schema=self._schema))
        self._columns, self._bytes = [[] for _ in self._schema], 0

    def finish(self) -> None:
        if self._columns[0]:
            self._flush()
        self._writer.close()
        with self._draft.open("rb") as file:
            os.fsync(file.fileno())
        os.replace(self._draft, self._path)


class SampleTable:
    """Writes a task's samples."""

    def __init__(self, path: Path, task: Task) -> None:
        self._task = task
        self._names = [each.name for each in task.columns]
        self._writer = TableWriter(path, schema_of(task))

    def add(self, row: Row, error: str | None, score: bytes | None) -> None:
        answer = None if row.text is not None else row.answer
        values = self._task.values(row.sample.target, answer, score)
        own = (values.get(name) for name in self._names)
        self._writer.add(row.sample.id, row.sample.digest, *own, error, row.text)

    def finish(self) -> None:
        self._writer.finish()


def read_rows(
    path: Path, columns: Iterable[str] | None = None, only_wrong: bool = False, only_failed: bool = False
) -> pa.Table:
    """The samples of a record, filtered while they are read."""
    import pyarrow.compute as pc

    filters = None
    if only_wrong and "right" in pq.read_schema(path).names:
        filters = ~pc.field("right")
    elif only_failed:
        filters = pc.field("error").is_valid()
    return pq.read_table(path, columns=list(columns) if columns else None, filters=filters)
