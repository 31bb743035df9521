"""What `predict` is asked about: its arguments and standard input, read as the model takes them."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mlmodelscope.errors import UsageError
from mlmodelscope.model_input import (
    COLUMNS,
    DOCUMENT,
    TEXT,
    ModelInput,
    cell_of,
    row_input,
    takes,
    text_input,
    turns_input,
)

_STDIN = "-"
_CALLED = "standard input"
_MOST_BYTES = 256 << 20
_MOST_LINES = 100_000


@dataclass(frozen=True)
class Arguments:
    """The words of a command, to be read once it is known which part of a sample the model takes."""

    words: Sequence[str]
    pair: str | None = None
    needs_pictures: bool = False

    def __call__(self, part: str) -> list[ModelInput]:
        if self.words.count(_STDIN) > 1:
            raise UsageError("standard input can be read once; there are several -")
        if self.pair is not None and part != TEXT:
            raise UsageError(f"--pair is for texts, and the model {takes(part)}")
        if self.needs_pictures and (part != "image" or _STDIN in self.words):
            what = _CALLED if part == "image" else f"answers of a model that {takes(part)}"
            raise UsageError(f"--draw draws into files of pictures, not into {what}")
        return [each for word in self.words for each in self._read(word, part)]

    def _read(self, word: str, part: str) -> Iterator[ModelInput]:
        if part == TEXT:
            texts = _lines() if word == _STDIN else [word]
            yield from (self._text(each) for each in texts)
        elif part == DOCUMENT:
            yield turns_input([{"role": "user", "content": _whole() if word == _STDIN else word}])
        elif part == COLUMNS:
            yield from _rows() if word == _STDIN else [row_input(word)]
        else:
            yield ModelInput(_CALLED, _bytes()) if word == _STDIN else ModelInput(word, word)

    def _text(self, word: str) -> ModelInput:
        text, tab, pair = word.partition("\t")
        if tab and self.pair is not None:
            raise UsageError("a text has a tab with a second text behind it, and --pair gives another")
        return text_input(text, pair if tab else self.pair)


def _bytes() -> bytes:
    data = sys.stdin.buffer.read(_MOST_BYTES + 1)
    if not data:
        raise UsageError(f"{_CALLED} is empty")
    if len(data) > _MOST_BYTES:
        raise UsageError(f"{_CALLED} has more than {_MOST_BYTES >> 20} MiB")
    return data


def _whole() -> str:
    """All of it as one text: a prompt has several lines."""
    try:
        return _bytes().decode()
    except UnicodeDecodeError:
        raise UsageError(f"{_CALLED} is not UTF-8 text", hint="iconv changes encodings") from None


def _lines() -> list[str]:
    """Lines as UTF-8; only line feeds end them, since a text may hold other separators."""
    data = _bytes().removeprefix(b"\xef\xbb\xbf")
    found = []
    for number, line in enumerate(data.removesuffix(b"\n").split(b"\n"), 1):
        if number > _MOST_LINES:
            raise UsageError(f"{_CALLED} has more than {_MOST_LINES:,} lines", hint="a dataset may have more: evaluate")
        try:
            found.append(line.removesuffix(b"\r").decode())
        except UnicodeDecodeError:
            raise UsageError(f"line {number} of {_CALLED} is not UTF-8 text", hint="iconv changes encodings") from None
    return found


def _rows() -> Iterator[ModelInput]:
    lines = _lines()
    first = next((line for line in lines if line.strip()), "")
    yield from _json_rows(lines) if first.lstrip().startswith("{") else _csv_rows(lines)


def _json_rows(lines: Sequence[str]) -> Iterator[ModelInput]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"line {number} of {_CALLED} is not JSON: {error}") from None
        if not isinstance(row, dict):
            raise UsageError(f"line {number} of {_CALLED} is not an object with named columns")
        yield row_input(row)


def _csv_rows(lines: Sequence[str]) -> Iterator[ModelInput]:
    """A column whose cells are all numbers or missing is one of numbers, as in a dataset."""
    reader = csv.reader(io.StringIO("\n".join(lines)), strict=True)
    try:
        header, *rows = [cells for cells in reader if cells] or [[]]
    except csv.Error as error:
        raise UsageError(f"line {reader.line_num} of {_CALLED} cannot be read: {error}") from None
    names = [name.strip() for name in header]
    if not rows or len(set(names)) < len(names):
        why = "has no rows below its header" if not rows else "has two columns of one name in its header"
        raise UsageError(f"{_CALLED} {why}", hint="rows are JSON Lines, or CSV whose first line names the columns")
    odd = next((number for number, cells in enumerate(rows, 1) if len(cells) != len(names)), None)
    if odd is not None:
        raise UsageError(f"row {odd} of {_CALLED} has {len(rows[odd - 1])} cells, the header has {len(names)}")
    columns = [_column([cells[place] for cells in rows]) for place in range(len(names))]
    for number in range(len(rows)):
        yield row_input({name: column[number] for name, column in zip(names, columns, strict=True)})


def _column(words: Sequence[str]) -> list[int | float | str | None]:
    cells = [cell_of(word) for word in words]
    if any(isinstance(cell, str) for cell in cells):
        return [None if cell is None else word.strip() for cell, word in zip(cells, words, strict=True)]
    return cells
