"""Some of a record's samples: found by a word, by whether they are right, by their score; sorted, a page at a time.

Tables of different tasks have different columns: what a table has no column for, none of its samples is like.

Fifty thousand samples are searched for every page that somebody scrolls to. So only the columns that a question needs
are read, the rows that answer it are remembered as numbers, and of the file only the part is unpacked that is shown.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from mlmodelscope.task.quality import quality_of

Only = Literal["right", "wrong", "failed"]
Sort = Literal["order", "score", "latency", "quality"]
Offer = Literal["right", "score", "quality"]
"""What samples can be told apart by, beside their names and their latency."""
_KEPT = 64


@dataclass(frozen=True)
class Wanted:
    """Which samples; what is unspecified does not matter."""

    only: Only | None = None
    word: str = ""
    """What the sample's id, its label, its answer or its error contains, whatever the case."""
    id: str | None = None
    """The whole name of one."""
    named: frozenset[int] = frozenset()
    """Classes whose names contain the word."""
    label: int | None = None
    answer: int | None = None
    """The class that was said first."""
    above: float | None = None
    """The first score is greater."""
    below: float | None = None
    """The first score is less."""
    sort: Sort | None = None
    """By default by quality, the worst first, where samples have one, and else in the dataset's order."""
    descending: bool = False


class Search:
    """What was found is remembered: who scrolls asks the same question for page after page."""

    def __init__(self) -> None:
        self._known: OrderedDict[Hashable, pa.Array] = OrderedDict()
        self._lock = threading.Lock()

    def page(
        self, folder: Path, wanted: Wanted, start: int, limit: int, largest: int | None = None
    ) -> tuple[list[dict[str, Any]], int]:
        """(samples, how many there are in all). Pictures of more than `largest` bytes are left out."""
        path = folder / "samples.parquet"
        with pq.ParquetFile(path) as file:
            count = file.metadata.num_rows
            times = self._remembered(folder / "batches.parquet", count, lambda: _latencies(folder, count))
            qualities = self._remembered(path, "quality", lambda: _qualities(path))
            if wanted.sort is None:
                wanted = replace(wanted, sort="quality" if qualities.null_count < count else "order")
            if wanted == Wanted(sort="order"):
                total, rows = count, pa.array(range(start, min(start + limit, count)), pa.int64())
            else:
                found = self._remembered(path, wanted, lambda: _find(path, wanted, times, qualities))
                total, rows = len(found), found.slice(start, limit)
            samples = _take(file, rows, largest).to_pylist()
        told = zip(samples, times.take(rows).to_pylist(), qualities.take(rows).to_pylist(), strict=True)
        for sample, run_ns, quality in told:
            sample |= {"run_ns": run_ns, "quality": quality}
        return samples, total

    def offers(self, folder: Path) -> list[Offer]:
        """What the samples of this table can be filtered and sorted by."""
        path = folder / "samples.parquet"
        names = pq.read_schema(path).names
        qualities = self._remembered(path, "quality", lambda: _qualities(path))
        has_labels = "right" in names
        known: dict[Offer, bool] = {
            "right": has_labels,
            "score": has_labels and "scores" in names,
            "quality": qualities.null_count < len(qualities),
        }
        return [name for name, is_there in known.items() if is_there]

    def one(self, folder: Path, sample: str) -> dict[str, Any] | None:
        """The sample of this name."""
        path = folder / "samples.parquet"
        with pq.ParquetFile(path) as file:
            place = pc.index(file.read(columns=["id"])["id"], sample).as_py()
            return None if place < 0 else _take(file, pa.array([place], pa.int64())).to_pylist()[0]

    def _remembered(self, path: Path, question: Hashable, find: Callable[[], pa.Array]) -> pa.Array:
        status = path.stat() if path.exists() else None
        key = (path, status and (status.st_mtime_ns, status.st_size), question)
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key]
        found = find()
        with self._lock:
            self._known[key] = found
            while len(self._known) > _KEPT:
                self._known.popitem(last=False)
        return found


def _find(path: Path, wanted: Wanted, times: pa.Array, qualities: pa.Array) -> pa.Array:
    """Numbers of the rows that are wanted, in the order that is."""
    known = pq.read_schema(path).names
    table = pq.read_table(path, columns=["error", *sorted(_columns(wanted).intersection(known))])
    masks = _masks(table, wanted)
    rows = (
        pc.indices_nonzero(reduce(pc.and_, masks)).cast(pa.int64())
        if masks
        else pa.array(range(table.num_rows), pa.int64())
    )
    if wanted.sort == "order":
        return rows.take(pa.array(range(len(rows) - 1, -1, -1), pa.int64())) if wanted.descending else rows
    keys = times if wanted.sort == "latency" else qualities
    if wanted.sort == "score":
        keys = _first(table["scores"]) if "scores" in known else pa.nulls(table.num_rows, pa.float64())
    ranked = pa.table({"key": keys.take(rows), "row": rows})
    order: Literal["ascending", "descending"] = "descending" if wanted.descending else "ascending"
    # Of equal ones the first comes first; what has no score or was not timed comes last.
    return rows.take(pc.sort_indices(ranked, sort_keys=[("key", order), ("row", "ascending")]))


def _columns(wanted: Wanted) -> set[str]:
    found = {"right"} if wanted.only in ("right", "wrong") else set()
    if wanted.word:
        found |= {"id", "label", "classes", "target", "answer"}
    if wanted.id is not None:
        found.add("id")
    if wanted.label is not None:
        found |= {"label", "target"}
    if wanted.answer is not None:
        found.add("classes")
    if wanted.above is not None or wanted.below is not None or wanted.sort == "score":
        found.add("scores")
    return found


def _masks(table: pa.Table, wanted: Wanted) -> list[pa.ChunkedArray]:
    has, none = table.column_names, pa.chunked_array([pa.array([False] * table.num_rows, pa.bool_())])
    found = []
    if wanted.only == "failed":
        found.append(table["error"].is_valid())
    elif wanted.only is not None:
        found.append(pc.equal(table["right"], wanted.only == "right") if "right" in has else none)
    if wanted.id is not None:
        found.append(pc.equal(table["id"], wanted.id))
    if wanted.word:
        found.append(_mentioned(table, wanted.word, wanted.named))
    if wanted.label is not None:
        found.append(_labelled(table, frozenset({wanted.label})))
    if wanted.answer is not None:
        found.append(pc.equal(_first(table["classes"]), wanted.answer) if "classes" in has else none)
    if wanted.above is not None:
        found.append(pc.greater(_first(table["scores"]), wanted.above) if "scores" in has else none)
    if wanted.below is not None:
        found.append(pc.less(_first(table["scores"]), wanted.below) if "scores" in has else none)
    return [pc.fill_null(each, False) for each in found]


def _mentioned(table: pa.Table, word: str, named: Collection[int]) -> pa.ChunkedArray:
    texts = [pc.match_substring(table[name], word, ignore_case=True) for name in ("id", "error", "answer")]
    numbers = [_labelled(table, named)]
    if "label" in table.column_names:
        numbers.append(pc.is_in(_first(table["classes"]), value_set=pa.array(sorted(named), pa.int32())))
    return reduce(pc.or_, (pc.fill_null(each, False) for each in (*texts, *numbers)))


def _labelled(table: pa.Table, classes: Collection[int]) -> pa.ChunkedArray:
    """Of which one of these classes is true: by its label, or by those of the things in it."""
    if "label" in table.column_names:
        return pc.is_in(table["label"], value_set=pa.array(sorted(classes), pa.int32()))
    found = [False] * table.num_rows
    if classes and "target" in table.column_names:
        for place, text in enumerate(table["target"].to_pylist()):
            target = json.loads(text) if text else None
            inside = target.get("classes") if isinstance(target, dict) else None
            found[place] = isinstance(inside, list) and any(each in classes for each in inside)
    return pa.chunked_array([pa.array(found, pa.bool_())])


def _qualities(path: Path) -> pa.Array:
    """Of each sample, from its score; nothing where the table keeps none."""
    names = pq.read_schema(path).names
    if "score" not in names:
        return pa.nulls(pq.read_metadata(path).num_rows, pa.float64())
    scores = pq.read_table(path, columns=["score"])["score"]
    return pa.array([quality_of(each.as_py()) for each in scores], pa.float64())


def _first(lists: pa.ChunkedArray) -> pa.ChunkedArray:
    """The first of each list; what has none has none. `list_element` refuses a list without elements."""
    empty = pc.equal(pc.list_value_length(lists), 0)
    return pc.list_element(pc.if_else(pc.fill_null(empty, False), pa.scalar(None, lists.type), lists), 0)


def _latencies(folder: Path, count: int) -> pa.Array:
    """For each sample how long the call took that answered it; its batch shares one call."""
    path = folder / "batches.parquet"
    if not path.exists():
        return pa.nulls(count, pa.int64())
    table = pq.read_table(path, columns=["samples", "run_ns"])
    sizes = [size or 0 for size in table["samples"].to_pylist()]
    if sum(sizes) != count or min(sizes, default=0) < 0:  # before anything that long is made
        return pa.nulls(count, pa.int64())
    found: list[int] = []
    for size, run_ns in zip(sizes, table["run_ns"].to_pylist(), strict=True):
        found += [run_ns] * size
    return pa.array(found, pa.int64())


def _take(file: pq.ParquetFile, rows: pa.Array, largest: int | None = None) -> pa.Table:
    """Those rows in that order; only the parts of the file are unpacked that they lie in, one at a time."""
    wanted = rows.to_pylist()
    known = sorted(wanted)
    parts, begun, at = [file.schema_arrow.empty_table()], 0, 0
    for group in range(file.num_row_groups):
        size = file.metadata.row_group(group).num_rows
        first = at
        while at < len(known) and known[at] < begun + size:
            at += 1
        if at > first:
            inside = pa.array([row - begun for row in known[first:at]], pa.int64())
            parts.append(_without_large(file.read_row_group(group), largest).take(inside))
        begun += size
    places = {row: place for place, row in enumerate(known)}
    return pa.concat_tables(parts).take(pa.array([places[row] for row in wanted], pa.int64()))


def _without_large(table: pa.Table, largest: int | None) -> pa.Table:
    for place, field in enumerate(table.schema):
        if largest is not None and pa.types.is_binary(field.type):
            is_large = pc.greater(pc.binary_length(table[field.name]), largest)
            kept = pc.if_else(pc.fill_null(is_large, False), pa.scalar(None, field.type), table[field.name])
            table = table.set_column(place, field, kept)
    return table
