"""Per-sample answers as a Parquet file: the same evaluation gives the same bytes, however often it was interrupted."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from mlmodelscope.record.sample_rows import Row

SAMPLES = pa.schema(
    [
        ("id", pa.string()),
        ("digest", pa.string()),
        ("label", pa.int32()),
        ("classes", pa.list_(pa.int32())),
        ("scores", pa.list_(pa.float32())),
        ("right", pa.bool_()),
        ("error", pa.string()),
        ("answer", pa.string()),
    ]
)
BATCHES = pa.schema([("batch", pa.int32()), ("samples", pa.int32()), ("run_ns", pa.int64())])

_ROWS = 4096


class TableWriter:
    """Writes rows to a Parquet file that appears when it is complete."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self._path = path
        self._draft = path.with_suffix(".draft")
        self._schema = schema
        self._writer = pq.ParquetWriter(self._draft, schema, compression="zstd")
        self._columns: list[list[Any]] = [[] for _ in schema]

    def add(self, *values: Any) -> None:
        for column, value in zip(self._columns, values, strict=True):
            column.append(value)
        if len(self._columns[0]) >= _ROWS:
            self._flush()

    def _flush(self) -> None:
        arrays = [pa.array(column, field.type) for column, field in zip(self._columns, self._schema, strict=True)]
        self._writer.write_batch(pa.record_batch(arrays, schema=self._schema))
        self._columns = [[] for _ in self._schema]

    def finish(self) -> None:
        if self._columns[0]:
            self._flush()
        self._writer.close()
        with self._draft.open("rb") as file:
            os.fsync(file.fileno())
        os.replace(self._draft, self._path)


def add_row(writer: TableWriter, row: Row) -> None:
    right = None if row.error or row.answer or row.sample.label is None else row.classes[:1] == (row.sample.label,)
    writer.add(
        row.sample.id,
        row.sample.digest,
        row.sample.label,
        row.classes or None,
        row.scores or None,
        right,
        row.error,
        row.answer,
    )


def read_rows(
    path: Path, columns: Iterable[str] | None = None, only_wrong: bool = False, only_failed: bool = False
) -> pa.Table:
    """The samples of a record, filtered while they are read."""
    import pyarrow.compute as pc

    filters = None
    if only_wrong:
        filters = ~pc.field("right")
    elif only_failed:
        filters = pc.field("error").is_valid()
    return pq.read_table(path, columns=list(columns) if columns else None, filters=filters)
