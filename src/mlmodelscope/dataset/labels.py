"""Label files: text, CSV, JSON and JSON Lines, recognised by content where names do not tell."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any

from mlmodelscope.dataset.classes import class_words, read_classes, to_number
from mlmodelscope.dataset.sample import NamedFile, Word
from mlmodelscope.dataset.text import read_json, read_lines, read_text
from mlmodelscope.errors import DatasetError
from mlmodelscope.manifest.schema import Labels

_LONGEST_CELL = 131_072
__all__ = ["class_words", "read_classes", "read_labels", "to_number"]


def read_labels(file: NamedFile, rule: Labels, names: list[str]) -> list[Word | None]:
    """The label of each named sample, in their order; None where the file has none for it."""
    text = read_text(file)
    if text.lstrip()[:1] in ("[", "{"):
        return _from_json(text, file, rule, names)
    delimiter = _delimiter(text.split("\n", 1)[0], file, rule)
    if delimiter:
        reader = csv.DictReader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True)
        return _match(_by_columns(_rows(reader, file), rule, file), names, file)
    lines = read_lines(text)
    pairs = [tuple(line.rsplit(None, 1)) for line in lines if line]
    known = {*names, *(_bare(name) for name in names)}
    if any(len(pair) == 2 and _normal(pair[0]) in known for pair in pairs):
        return _match(((pair[0], pair[1] if len(pair) == 2 else None) for pair in pairs), names, file)
    return _in_order(lines, names, file, rule)


def _from_json(text: str, file: NamedFile, rule: Labels, names: list[str]) -> list[Word | None]:
    data = _json_lines(text, file, rule) or read_json(text, file)
    if isinstance(data, dict):
        return _match(data.items(), names, file)
    if data and all(isinstance(item, dict) for item in data):
        return _match(_by_columns(data, rule, file), names, file)
    return _in_order(data, names, file, rule)


def _json_lines(text: str, file: NamedFile, rule: Labels) -> list[Any] | None:
    """An object a line; a single line counts when it has the columns."""
    first = text.lstrip().split("\n", 1)[0]
    try:
        row = json.loads(first)
    except (ValueError, RecursionError):
        return None
    is_row = isinstance(row, dict) and rule.file_column in row and rule.label_column in row
    if not is_row and not (isinstance(row, dict) and first != text.strip()):
        return None
    return [
        read_json(line, NamedFile(file.path, f"line {number} of {file.name}"))
        for number, line in enumerate(text.split("\n"), 1)
        if line.strip()
    ]


def _delimiter(header: str, file: NamedFile, rule: Labels) -> str | None:
    found = max(",\t;", key=header.count)
    is_table = file.name.lower().endswith((".csv", ".tsv")) or found == "," or rule.file_column in header.split(found)
    return found if is_table and found in header else None


def _rows(reader: Iterable[Any], file: NamedFile) -> Iterator[Any]:
    try:
        for row in reader:
            # Python's own limit is one for all of a process, and others may have lifted it.
            if any(isinstance(cell, str) and len(cell) > _LONGEST_CELL for cell in row.values()):
                raise csv.Error(f"field larger than field limit ({_LONGEST_CELL})")
            yield row
    except csv.Error as error:
        raise DatasetError(f"{file.name} is not a table: {error}") from None


def _flagged(row: Mapping[str, Any], rule: Labels, file: NamedFile) -> Any:
    """The numbers of the classes whose columns hold a 1."""
    found = []
    for number, column in enumerate(rule.label_columns):
        cell = row[column]
        if str(cell).strip().lower() in ("1", "1.0", "true"):
            found.append(number + rule.offset)
        elif str(cell).strip().lower() not in ("0", "0.0", "false", ""):
            name = row[rule.file_column]
            raise DatasetError(f"{file.name} has {str(cell)[:40]} for `{name}` in the column `{column}`, not 0 or 1")
    return found


def _by_columns(rows: Iterable[Any], rule: Labels, file: NamedFile) -> Iterator[tuple[str, Word | None]]:
    for row in rows:
        try:
            if rule.label_columns:
                yield str(row[rule.file_column]), _flagged(row, rule, file)
            else:
                yield str(row[rule.file_column]), row[rule.label_column]
        except (KeyError, TypeError):
            known = ", ".join(map(str, row)) if isinstance(row, dict) else repr(row)
            wanted = " and ".join(
                f"`{each}`" for each in (rule.file_column, *(rule.label_columns or (rule.label_column,)))
            )
            raise DatasetError(
                f"{file.name} has no columns {wanted}; it has {known}",
                hint="its first line names the columns; say in the dataset's `labels` which are the two: "
                "file_column, label_column",
            ) from None


def _in_order(words: Sequence[Word | None], names: list[str], file: NamedFile, rule: Labels) -> list[Word | None]:
    if len(words) != len(names):
        raise DatasetError(f"{file.name} has {len(words)} labels for {len(names)} samples")
    if rule.listed_by == "path":
        return list(words)
    order = sorted(range(len(names)), key=lambda at: _bare(names[at]))
    twins = next((names[a] for a, b in pairwise(order) if _bare(names[a]) == _bare(names[b])), None)
    if twins is not None:
        raise DatasetError(f"{file.name} lists labels in the order of names, and `{_bare(twins)}` lies in two folders")
    found: list[Word | None] = [None] * len(names)
    for at, word in zip(order, words, strict=True):
        found[at] = word
    return found


def _match(pairs: Iterable[tuple[str, Word | None]], names: list[str], file: NamedFile) -> list[Word | None]:
    """Labels by the sample's whole id, its file name, or that without its ending, where only one sample has it."""
    labels: dict[str, Word | None] = {}
    for key, word in pairs:
        name = _normal(str(key))
        if labels.setdefault(name, word) != word:
            raise DatasetError(f"{file.name} gives `{name}` two labels: {labels[name]} and {word}")
    return _look_up(labels, names)


def _look_up(labels: Mapping[str, Word | None], names: list[str]) -> list[Word | None]:
    shorter = [(_bare(name), PurePosixPath(name).stem) for name in names]
    owners = Counter(word for pair in shorter for word in set(pair))
    return [
        next((labels[key] for key in (name, *pair) if key in labels and (key == name or owners[key] == 1)), None)
        for name, pair in zip(names, shorter, strict=True)
    ]


def _bare(name: str) -> str:
    return name.rpartition("/")[2]


def _normal(key: str) -> str:
    return key.strip().replace("\\", "/").removeprefix("./")
