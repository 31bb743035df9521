"""A trace kept beside its record: columns in a Parquet file, what holds for all spans in the file's own metadata."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from mlmodelscope.errors import UsageError
from mlmodelscope.record.samples import TableWriter
from mlmodelscope.trace.span import Overhead, Span, Trace

NAME = "trace.parquet"

SPANS = pa.schema(
    [
        ("id", pa.string()),
        ("parent", pa.string()),
        ("name", pa.dictionary(pa.int32(), pa.string())),
        ("level", pa.dictionary(pa.int32(), pa.string())),
        ("start_ns", pa.int64()),
        ("end_ns", pa.int64()),
        ("attributes", pa.string()),
    ]
)


def save_trace(trace: Trace, folder: Path) -> Path:
    said = {
        "id": trace.id,
        "began_unix_ns": trace.began_unix_ns,
        "overheads": [asdict(each) for each in trace.overheads],
        "resource": dict(trace.resource),
    }
    folder.mkdir(parents=True, exist_ok=True)
    writer = TableWriter(folder / NAME, SPANS.with_metadata({"trace": json.dumps(said)}))
    for span in trace.spans:
        words = json.dumps(dict(span.attributes), separators=(",", ":")) if span.attributes else None
        writer.add(span.id, span.parent, span.name, span.level, span.start_ns, span.end_ns, words)
    writer.finish()
    return folder / NAME


def load_trace(folder: Path) -> Trace:
    path = folder / NAME
    if not path.exists():
        raise UsageError(f"record {folder.name} has no trace", hint="mlmodelscope profile makes records with one")
    table = pq.read_table(path)
    said = json.loads(table.schema.metadata[b"trace"])
    columns = [table.column(name).to_pylist() for name in SPANS.names]
    return Trace(
        said["id"],
        said["began_unix_ns"],
        tuple(
            Span(said["id"], own, parent, name, level, start, end, json.loads(words) if words else {})
            for own, parent, name, level, start, end, words in zip(*columns, strict=True)
        ),
        tuple(Overhead(**each) for each in said["overheads"]),
        said["resource"],
    )
