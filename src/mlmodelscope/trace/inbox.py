"""Traces that came from elsewhere: a folder for each, with a Parquet file for every message that brought spans.

A message that is sent twice, as senders do when they hear no answer, brings nothing new the second time.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from mlmodelscope.trace.intake import Arrived
from mlmodelscope.trace.rows import Laid, lay_out
from mlmodelscope.trace.store import NAME, SPANS

_MOST_PARTS = 16
_MOST_WORDS = 100
_RESOURCE = "resource.json"


@dataclass(frozen=True)
class Kept:
    """A trace as it is here now."""

    spans: int
    began_unix_ns: int
    duration_ns: int
    size: int
    """Bytes on the disk."""
    resource: Mapping[str, str]


@dataclass(frozen=True)
class Columns:
    """A trace's spans in the order of their starts, which count from when it began."""

    began_unix_ns: int
    table: pa.Table
    resource: Mapping[str, str]

    @property
    def duration_ns(self) -> int:
        return int(pc.max(self.table["end_ns"]).as_py() or 0)

    @cached_property
    def laid(self) -> Laid:
        """Where each span lies on a page; worked out once, since a page asks for one piece after the other."""
        return lay_out(self.table)


class Inbox:
    def __init__(self, home: Path) -> None:
        self._root = home / "traces"

    def folder(self, trace: str) -> Path:
        return self._root / trace[:2] / trace

    def add(self, trace: str, arrived: Arrived, most: int) -> tuple[Kept, int]:
        """(what is there now, how many spans found no room)."""
        folder = self.folder(trace)
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder):
            known = set(_ids(folder))
            fresh = {row.id: row for row in arrived.rows if row.id not in known}
            rows = list(fresh.values())[: max(0, most - len(known))]
            if rows:
                columns = {name: [getattr(row, name) for row in rows] for name in SPANS.names}
                _write(folder, pa.table(columns, schema=SPANS))
            resource = _merged(folder, arrived.resource)
            return _kept(folder, resource, len(known) + len(rows)), len(fresh) - len(rows)

    def load(self, trace: str) -> Columns:
        folder = self.folder(trace)
        signature = tuple((path.name, path.stat().st_mtime_ns) for path in _parts(folder))
        return _load(folder, signature)

    def delete(self, trace: str) -> None:
        shutil.rmtree(self.folder(trace), ignore_errors=True)


def load_record_columns(folder: Path) -> Columns:
    """The trace of a record, which never changes."""
    return _load_record(folder, (folder / NAME).stat().st_mtime_ns)


@lru_cache(maxsize=4)
def _load_record(folder: Path, _: int) -> Columns:
    table = pq.read_table(folder / NAME)
    said = json.loads(table.schema.metadata[b"trace"])
    return Columns(said["began_unix_ns"], _plain(table), said["resource"])


@lru_cache(maxsize=4)
def _load(folder: Path, _: tuple[tuple[str, int], ...]) -> Columns:
    """The last few that were looked at stay in memory: a page asks for one piece after the other."""
    table = _plain(_whole(folder))
    began = int(pc.min(table["start_ns"]).as_py() or 0)
    for name in ("start_ns", "end_ns"):
        column = pc.subtract(table[name], began)
        table = table.set_column(table.schema.get_field_index(name), name, column)
    return Columns(began, table, _resource(folder))


def _plain(table: pa.Table) -> pa.Table:
    """In order, parents before what begins with them; without dictionaries, which cannot be compared."""
    texts = [pa.field(each.name, pa.string()) if each.name in ("name", "level") else each for each in SPANS]
    return table.cast(pa.schema(texts)).sort_by([("start_ns", "ascending"), ("end_ns", "descending")])


def _whole(folder: Path) -> pa.Table:
    parts = [pq.read_table(path, schema=SPANS) for path in _parts(folder)]
    if not parts:
        return SPANS.empty_table()
    table = pa.concat_tables(parts)
    if len(parts) > 1:  # a server that was killed while it tidied up leaves some of them twice
        seen: set[str] = set()
        first = [not (each in seen or seen.add(each)) for each in table["id"].to_pylist()]  # type: ignore[func-returns-value]
        table = table.filter(pa.array(first))
    return table


def _parts(folder: Path) -> list[Path]:
    return sorted(folder.glob("[0-9]*.parquet"))


def _ids(folder: Path) -> Iterator[str]:
    for path in _parts(folder):
        yield from pq.read_table(path, columns=["id"])["id"].to_pylist()


def _write(folder: Path, table: pa.Table) -> None:
    """One more part; many small ones become one."""
    parts = _parts(folder)
    number = int(parts[-1].stem) + 1 if parts else 0
    old = parts if len(parts) >= _MOST_PARTS else []
    if old:
        table = pa.concat_tables([_whole(folder), table])
    draft = folder / "draft"
    pq.write_table(table, draft, compression="zstd")
    draft.replace(folder / f"{number:06d}.parquet")
    for path in old:
        path.unlink(missing_ok=True)


def _merged(folder: Path, more: Mapping[str, str]) -> Mapping[str, str]:
    known = dict(_resource(folder))
    merged = dict(list({**more, **known}.items())[:_MOST_WORDS])
    if merged != known:
        draft = folder / "draft"
        draft.write_text(json.dumps(merged))
        draft.replace(folder / _RESOURCE)
    return merged


def _resource(folder: Path) -> Mapping[str, str]:
    try:
        found: dict[str, str] = json.loads((folder / _RESOURCE).read_text())
        return found
    except (OSError, ValueError):
        return {}


def _kept(folder: Path, resource: Mapping[str, str], spans: int) -> Kept:
    times = [pq.read_table(path, columns=["start_ns", "end_ns"]) for path in _parts(folder)]
    table = pa.concat_tables(times) if times else SPANS.empty_table()
    began = int(pc.min(table["start_ns"]).as_py() or 0)
    last = int(pc.max(table["end_ns"]).as_py() or 0)
    size = sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
    return Kept(spans, began, last - began, size, resource)


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    with (folder / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
