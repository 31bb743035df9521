"""Tables of somebody else's record, looked through row by row before anybody reads them.

It is called in a confined process: what a table takes once it is unpacked is known only when it is.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from mlmodelscope.errors import UsageError
from mlmodelscope.measure.facts import facts_of
from mlmodelscope.record.samples import BATCHES, LARGEST_GROUP, schema_of
from mlmodelscope.task.shape import Shape, named_by
from mlmodelscope.task.task import Task, task_named

_MOST_ROWS = 100_000_000
_LARGEST_TARGET = 8 << 20
_LARGEST_SIDE = 1 << 20
_SOME, _TIMES = 64 << 20, 20
"""What all columns but pictures may take once they are unpacked: so much, and so many times the file."""
DAMAGE = (ValueError, TypeError, KeyError, IndexError, AttributeError, ArithmeticError, RecursionError, struct.error)
"""What readers of a row raise where it is not what our own writers write."""


def check_tables(folder: str, task: str, samples: int) -> None:
    """They must be ours, as long as the record says, and hold what an evaluation could have written."""
    known = task_named(task)
    older = schema_of(task_named("classification"))  # what records of any task had before tasks had columns
    for name, schemas in {"samples.parquet": (schema_of(known), older), "batches.parquet": (BATCHES,)}.items():
        path = Path(folder) / name
        if not path.exists():
            continue
        try:
            with pq.ParquetFile(path) as file:
                rows, found = file.metadata.num_rows, file.schema_arrow
                if not any(found.equals(schema) for schema in schemas):
                    raise UsageError(f"{name} in the bundle has other columns than a record's")
                if rows > min(samples, _MOST_ROWS):
                    raise UsageError(f"{name} in the bundle has {rows} rows, the record has {samples} samples")
                _check_groups(file, name, path.stat().st_size, _row_check(known, found))
        except (pa.ArrowException, OSError, ValueError) as error:
            if isinstance(error, MemoryError):
                raise
            raise UsageError(f"{name} in the bundle cannot be read: {str(error)[:200]}") from None


def _check_groups(file: pq.ParquetFile, name: str, size: int, check: Callable[[dict[str, Any]], None] | None) -> None:
    """Who looks at a row unpacks the group that it lies in."""
    left = _SOME + _TIMES * size
    for number in range(file.num_row_groups):
        if file.metadata.row_group(number).total_byte_size > LARGEST_GROUP:
            raise UsageError(f"{name} in the bundle has a part that is too large")
        group = file.read_row_group(number)
        blobs = [each for each in group.column_names if pa.types.is_binary(group.schema.field(each).type)]
        left -= group.drop_columns(blobs).nbytes
        if group.nbytes > LARGEST_GROUP or left < 0:
            raise UsageError(f"{name} in the bundle takes too much once it is unpacked")
        if {"classes", "scores"} <= set(group.column_names):
            lengths = [pc.fill_null(pc.list_value_length(group[each]), -1) for each in ("classes", "scores")]
            if not pc.all(pc.equal(*lengths)).as_py() and group.num_rows:
                raise UsageError(f"{name} in the bundle has classes without scores")
        if check is not None:
            for row in group.to_pylist():
                try:
                    check(row)
                except DAMAGE as error:
                    said = str(error)[:200] or type(error).__name__
                    raise UsageError(f"{name} in the bundle has a row that cannot be read: {said}") from None


def _row_check(task: Task, schema: pa.Schema) -> Callable[[dict[str, Any]], None] | None:
    """Columns of numbers alone need none."""
    if "score" not in schema.names:
        return None
    blobs = {each.name: None for each in schema if pa.types.is_binary(each.type)}

    def check(row: dict[str, Any]) -> None:
        if "target" in row and row["target"] is not None:
            read_target(row["target"])
        if row["score"] is not None:
            _check_facts(facts_of(row["score"]))
        task.plain(row)
        # Pictures take long to unpack, and whoever draws them looks at each by itself.
        for shape in task.shapes({**row, **blobs}, None, named_by(())):
            _check_shape(shape)

    return check


def read_target(text: str) -> dict[str, Any]:
    """What a table says is true of a sample; ValueError where that is nothing that a dataset could have said."""
    if len(text) > _LARGEST_TARGET:
        raise ValueError("its target is too long")
    found = json.loads(text, parse_float=_finite, parse_int=_whole, parse_constant=_refused)
    if not isinstance(found, dict):
        raise ValueError("its target is not an object")
    size = found.get("size")
    if size is not None:
        height, width = size
        if not all(type(each) is int and 0 < each <= _LARGEST_SIDE for each in (height, width)):
            raise ValueError("its target has a size that is none")
    return found


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError("its target has a number beyond all floats")
    return value


def _whole(text: str) -> int:
    if len(text) > 19:
        raise ValueError("its target has a number of too many digits")
    return int(text)


def _refused(text: str) -> float:
    raise ValueError(f"its target has {text}")


def _check_facts(facts: Any) -> None:
    quality, shown = facts.get("quality", 0.0), facts.get("shown", {})
    if not 0 <= float(quality) <= 1:
        raise ValueError("its score has a quality that is not between 0 and 1")
    if not isinstance(shown, Mapping) or not all(math.isfinite(each) for each in shown.values()):
        raise ValueError("its score has numbers that are none")


def _check_shape(shape: Shape) -> None:
    numbers = [getattr(shape, each, None) for each in ("left", "top", "right", "bottom", "score")]
    numbers += [each for point in getattr(shape, "points", ()) for each in point]
    if not all(math.isfinite(each) for each in numbers if each is not None):
        raise ValueError("it has a place or a score that is not a number")
