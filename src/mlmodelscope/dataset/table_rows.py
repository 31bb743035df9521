"""Rows of a table: CSV, TSV, JSON Lines, a JSON list, Parquet, recognized by name and content."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from mlmodelscope.dataset.lines import LONGEST_LINE, lines_of, refuse_folder
from mlmodelscope.dataset.parquet import rows_of_parquet
from mlmodelscope.dataset.sample import NamedFile
from mlmodelscope.dataset.text import read_json, read_text
from mlmodelscope.errors import DatasetError
from mlmodelscope.plan.plan import PlannedDataset

Column = int | str

_MOST_ROWS = 5_000_000
_LARGEST_JSON = 256 << 20
_TEXTS = (".csv", ".tsv", ".tab", ".txt")
_LISTS = ("data", "rows", "examples")
"""Where a JSON object keeps its rows."""


@dataclass(frozen=True, slots=True)
class Row:
    where: str
    """`line 7 of test.csv`, for errors."""
    table: str
    cells: Mapping[str, Any] | Sequence[Any]
    places: Mapping[str, int | None]
    """Of the names in the first line; None where two columns share one."""

    @property
    def columns(self) -> list[Column]:
        """All columns: their names, or their numbers where they have none."""
        if isinstance(self.cells, Mapping):
            return list(self.cells)
        return list(self.places) or list(range(len(self.cells)))

    def get(self, column: Column, *, optional: bool = False) -> Any:
        """What a cell holds; None where it may be missing and is."""
        if isinstance(self.cells, Mapping):
            if optional or column in self.cells:
                return self.cells.get(str(column))
            raise self._missing(column, self.cells)
        place = column if isinstance(column, int) else self.places.get(column, -1)
        if place is None:
            raise DatasetError(f"{self.table} has two columns called `{column}`", hint="say which by its number")
        if not 0 <= place < len(self.cells):
            raise self._missing(column, self.places or [f"{len(self.cells)} without names"])
        return self.cells[place]

    def _missing(self, column: Column, known: Mapping[str, Any] | Sequence[str]) -> DatasetError:
        listed = ", ".join(str(each)[:40] for each in list(known)[:30])
        hint = "`columns` of the dataset says which column is what"
        if isinstance(column, str) and not isinstance(self.cells, Mapping) and not self.places:
            hint = "with `header: false`, columns are numbers that count from 0"
        return DatasetError(f"{self.where} has no column `{str(column)[:80]}`; it has {listed}", hint=hint)


def rows_of(file: NamedFile, dataset: PlannedDataset, wanted: Sequence[Column] | None = None) -> Iterator[Row]:
    """The rows, in their order; `wanted` are the columns that are needed, all by default."""
    number = 0
    for number, row in enumerate(_rows(file, dataset, wanted), 1):
        if number > _MOST_ROWS:
            raise DatasetError(f"{file.name} has more than {_MOST_ROWS:,} rows")
        yield row
    if not number:
        raise DatasetError(f"{file.name} has no rows")


def _rows(file: NamedFile, dataset: PlannedDataset, wanted: Sequence[Column] | None) -> Iterator[Row]:
    refuse_folder(file)
    with file.path.open("rb") as opened:
        head = opened.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip()
    name = file.name.lower()
    if head.startswith(b"PAR1"):
        names = None if wanted is None else [each for each in wanted if isinstance(each, str)]
        return _named(rows_of_parquet(file, names), file, "row")
    if name.endswith(_TEXTS) or not head.startswith((b"[", b"{")):
        return _csv(file, dataset)
    if head.startswith(b"[") or (name.endswith(".json") and not _is_lines(file)):
        return _named(enumerate(_json_list(file), 1), file, "item")
    return _named(_json_lines(file), file, "line")


def _named(rows: Iterator[tuple[int, Any]] | enumerate[Any], file: NamedFile, word: str) -> Iterator[Row]:
    for number, cells in rows:
        where = f"{word} {number} of {file.name}"
        if not isinstance(cells, dict):
            raise DatasetError(f"{where} is not an object with named columns: {str(cells)[:80]}")
        yield Row(where, file.name, cells, {})


def _json_lines(file: NamedFile) -> Iterator[tuple[int, Any]]:
    for number, line in lines_of(file):
        if line.strip():
            yield number, read_json(line, NamedFile(file.path, f"line {number} of {file.name}"))


def _is_lines(file: NamedFile) -> bool:
    """Whether the first line of a `.json` file is an object by itself, and not all of it."""
    numbered = lines_of(file)
    first = next((line for _, line in numbered if line.strip()), "")
    try:
        row = json.loads(first)
    except (ValueError, RecursionError):
        return False
    return not any(isinstance(row.get(each), list) for each in _LISTS) if isinstance(row, dict) else False


def _json_list(file: NamedFile) -> list[Any]:
    if file.path.stat().st_size > _LARGEST_JSON:
        raise DatasetError(
            f"{file.name} is larger than {_LARGEST_JSON >> 20} MiB, which is too much for one JSON document",
            hint="write it as JSON Lines: one object a line",
        )
    data = read_json(read_text(file), file)
    if isinstance(data, dict):
        data = next((data[each] for each in _LISTS if isinstance(data.get(each), list)), data)
    if not isinstance(data, list):
        raise DatasetError(f"{file.name} is neither a JSON list of rows nor JSON Lines")
    return data


def _csv(file: NamedFile, dataset: PlannedDataset) -> Iterator[Row]:
    delimiter = dataset.delimiter or _delimiter(file)
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if dataset.quoting else csv.QUOTE_NONE
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_LINE))
    reader = csv.reader((line for _, line in lines_of(file, keep_ends=True)), delimiter=delimiter, quoting=quoting)
    places: dict[str, int | None] = {}
    width = 0
    try:
        for cells in reader:
            if not cells:
                continue
            where = f"line {reader.line_num} of {file.name}"
            if not width:
                width = len(cells)
                if dataset.header:
                    places = _places(cells)
                    continue
            if len(cells) != width:
                raise DatasetError(
                    f"{where} has {len(cells)} cells, the first line has {width}",
                    hint="`delimiter` says what stands between cells, `quoting: false` that quotation marks are text",
                )
            yield Row(where, file.name, cells, places)
    except csv.Error as error:
        raise DatasetError(f"line {reader.line_num} of {file.name} cannot be read: {error}") from None


def _places(cells: Sequence[str]) -> dict[str, int | None]:
    places: dict[str, int | None] = {}
    for place, cell in enumerate(cells):
        name = cell.strip()
        places[name] = None if name in places else place
    return places


def _delimiter(file: NamedFile) -> str:
    if file.name.lower().endswith((".tsv", ".tab")):
        return "\t"
    first = next(line for _, line in lines_of(file))
    return max(",\t;|", key=first.count)
