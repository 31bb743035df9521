"""Rows of a Parquet file. How much it takes once it is unpacked is known only then, so a confined process reads it."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from mlmodelscope.confine.confined import Confined, Limits
from mlmodelscope.confine.inside import is_confined
from mlmodelscope.dataset.lines import LONGEST_LINE, lines_of
from mlmodelscope.dataset.sample import NamedFile
from mlmodelscope.errors import DatasetError, LimitError

_LIMITS = Limits(cpu_s=300.0, memory_bytes=1 << 30)
_MOST_BYTES = 2 << 30
"""What the rows may take as text."""


def rows_of_parquet(file: NamedFile, columns: Sequence[str] | None) -> Iterator[tuple[int, dict[str, Any]]]:
    """(number from 1, cells by column) of each row; only `columns` are read, all by default."""
    if is_confined():  # a server's: another process would have time and memory of its own, and leave its file behind
        for number, line in enumerate(_lines(str(file.path), file.name, columns), 1):
            yield number, json.loads(line)
        return
    with tempfile.TemporaryDirectory(prefix="mlmodelscope-") as folder, Confined(_LIMITS, processes=1) as confined:
        out = Path(folder) / "rows.jsonl"
        given = {"path": str(file.path), "name": file.name, "out": str(out), "most_bytes": _MOST_BYTES}
        try:
            rows = confined.call(unpack_rows, columns=None if columns is None else list(columns), **given)
        except LimitError as error:
            raise DatasetError(f"{file.name} cannot be read: {error.message}") from None
        if rows:
            for number, line in lines_of(NamedFile(out, file.name)):
                yield number, json.loads(line)


def unpack_rows(path: str, name: str, columns: list[str] | None, out: str, most_bytes: int) -> int:
    """Write the rows as JSON Lines; how many there are."""
    written = rows = 0
    try:
        with open(out, "w", encoding="ascii") as lines:
            for line in _lines(path, name, columns):
                rows, written = rows + 1, written + len(line)
                if written > most_bytes:
                    raise DatasetError(f"{name} takes more than {most_bytes >> 30} GiB once it is unpacked")
                lines.write(line + "\n")
    except OSError as error:
        raise DatasetError(f"{name} cannot be unpacked into {out}: {error.strerror or error}") from None
    return rows


def _lines(path: str, name: str, columns: Sequence[str] | None) -> Iterator[str]:
    """Each row as JSON."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = 0
    try:
        with pq.ParquetFile(path) as file:
            known = set(file.schema_arrow.names)
            chosen = None if columns is None else [each for each in columns if each in known]
            if columns and not chosen:
                chosen = None  # so that the error can list what there is
            for batch in file.iter_batches(batch_size=256, columns=chosen, use_threads=False):
                for row in batch.to_pylist():
                    rows += 1
                    line = json.dumps({key: _plain(value, key, name) for key, value in row.items()})
                    if len(line) >= LONGEST_LINE:
                        raise DatasetError(f"row {rows} of {name} takes more than {LONGEST_LINE >> 20} MiB")
                    yield line
    except (pa.ArrowException, OSError, ValueError, RecursionError) as error:
        if isinstance(error, MemoryError):
            raise
        raise DatasetError(f"{name} is not a Parquet file that can be read: {str(error)[:200]}") from None


def _plain(value: Any, column: str, name: str) -> Any:
    """What JSON can carry; dates become text."""
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, list):
        return [_plain(each, column, name) for each in value]
    if isinstance(value, dict):
        return {str(key): _plain(each, column, name) for key, each in value.items()}
    if isinstance(value, (bytes, bytearray)):
        return None  # a picture or a sound; the text formats have no use for it
    return str(value)
