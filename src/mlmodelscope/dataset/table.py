"""Tables whose rows are samples: texts, features or names of sound files, and what is true of each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from mlmodelscope.dataset.boxes import is_finite
from mlmodelscope.dataset.format import dataset_format
from mlmodelscope.dataset.parts import inside, name_of, sample_of, sound_part, text_part
from mlmodelscope.dataset.pattern import labels_in_names
from mlmodelscope.dataset.sample import NamedFile, Unlabelled
from mlmodelscope.dataset.table_rows import Column, Row, rows_of
from mlmodelscope.dataset.tags import tagged
from mlmodelscope.dataset.targets import BY_TASK, class_word, numbers
from mlmodelscope.errors import DatasetError
from mlmodelscope.manifest.schema import Columns
from mlmodelscope.plan.plan import PlannedDataset

_ROLES = ("query", "document")
_NUMBER = re.compile(r"[+-]?([0-9]{1,18})|[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")
_LONGEST_NUMBER = 60


@dataset_format("table", packed=True, names_classes=True)
def read_table(source: NamedFile, labels: NamedFile | None, dataset: PlannedDataset) -> list[Unlabelled]:
    """A table whose rows are samples: CSV, TSV, JSON Lines, a JSON list or Parquet; `columns` says what is what."""
    # `labels_url` of a table is the table, where `url` is the folder of sound files that it names.
    return samples_of(labels or source, source, dataset, columns_of(dataset))


def columns_of(dataset: PlannedDataset) -> Columns:
    columns = dataset.columns
    if columns is None or not _parts(columns):
        raise DatasetError(
            f"{dataset.name} does not say which columns of its table a model reads",
            hint="such as `columns: {text: sentence, target: label}`; a column is a name, or a number from 0",
        )
    return columns


def samples_of(table: NamedFile, files: NamedFile, dataset: PlannedDataset, columns: Columns) -> list[Unlabelled]:
    """A sample for each row; `files` is where sound files lie."""
    rows = rows_of(table, dataset, None if columns.features == "*" else named(columns))
    found, seen = [], set()
    for number, row in enumerate(rows):
        name = f"{number:05d}" if columns.id is None else name_of(row.get(columns.id), row.where)
        if name in seen:
            raise DatasetError(f"{row.where} has the id `{name[:80]}`, which an earlier row has")
        seen.add(name)
        found.append((name, row))
    features = _features([row for _, row in found], columns)
    words = _pattern_words([name for name, _ in found], dataset, columns)
    return [
        _sample(name, row, {"columns": {"cells": features[at]}} if features else {}, files, dataset, columns, words[at])
        for at, (name, row) in enumerate(found)
    ]


def named(columns: Columns) -> list[Column]:
    """All columns that are needed."""
    listed: list[Column] = []
    for key, value in columns.__dict__.items():
        if key == "season":
            continue
        listed += value if isinstance(value, tuple) else [value] if value is not None and value != "*" else []
    return listed


def _parts(columns: Columns) -> list[Any]:
    return [each for each in (columns.text, columns.audio, columns.features or None) if each is not None]


def _sample(
    name: str, row: Row, parts: dict[str, Any], files: NamedFile, dataset: PlannedDataset, columns: Columns, word: Any
) -> Unlabelled:
    if dataset.task == "token_classification" and columns.text is not None and columns.target is not None:
        text, target = tagged(row.get(columns.text), row.get(_targets(columns)[0]), row.where)
        return sample_of(name, {"text": {"text": text}, **parts}, None, target)
    for part, column in (("text", columns.text), ("text_pair", columns.text_pair)):
        if column is not None:
            parts[part] = text_part(row.get(column), row.where)
    if columns.audio is not None:
        path = inside(files, row.get(columns.audio), row.where)
        parts["audio"] = sound_part(path, _seconds(row, columns.start), _seconds(row, columns.seconds))
    label, target = _truth(name, row, dataset, columns, word)
    return sample_of(name, parts, label, target)


def _truth(name: str, row: Row, dataset: PlannedDataset, columns: Columns, word: Any) -> tuple[Any, Any]:
    cells = [row.get(each) for each in _targets(columns)] if word is None else [word]
    role = str(row.get(columns.role)).strip() if columns.role is not None else _ROLES[0]
    if role not in _ROLES:
        raise DatasetError(f"{row.where} has the role `{role[:40]}`, neither `query` nor `document`")
    if not cells and (dataset.task not in BY_TASK or role == "document"):
        label, target = None, None
    elif not cells:
        raise DatasetError(f"{dataset.name} does not say which column is the `target` of {dataset.task}")
    else:
        label, target = BY_TASK.get(dataset.task, class_word)(cells, row.where)
    if dataset.task == "embedding":
        target = {"role": role, "id": name, **(target if target and role == "query" else {})}
    if columns.group is not None and target is not None:
        target["group"] = str(row.get(columns.group))
    if columns.history and target is not None:
        target["history"] = numbers([row.get(each) for each in columns.history], row.where)
    if columns.season is not None and target is not None:
        target["season"] = columns.season
    return label, target


def _targets(columns: Columns) -> Sequence[Column]:
    given = columns.target
    return () if given is None else given if isinstance(given, tuple) else (given,)


def _pattern_words(names: list[str], dataset: PlannedDataset, columns: Columns) -> Sequence[str | None]:
    """Labels in the ids, where a pattern finds them there and no column has them."""
    if dataset.labels.pattern is None or columns.target is not None:
        return [None] * len(names)
    return labels_in_names(names, dataset.labels.pattern)


def _seconds(row: Row, column: Column | None) -> float | None:
    if column is None:
        return None
    found = numbers([row.get(column)], row.where)[0]
    if found < 0:
        raise DatasetError(f"{row.where} has a negative time: {found:g}")
    return found


def _features(rows: Sequence[Row], columns: Columns) -> list[dict[str, Any]]:
    """Cells by column name. A column whose cells are all numbers or missing is one of numbers, others are of words."""
    if not columns.features:
        return []
    if columns.features == "*":
        taken = set(named(columns))
        listed = [each for number, each in enumerate(rows[0].columns) if each not in taken and number not in taken]
    else:
        listed = list(columns.features)
    if not listed:
        raise DatasetError(f"{rows[0].table} has no column that could be a feature")
    kept: list[dict[str, Any]] = [{} for _ in rows]
    for column in listed:
        for cells, value in zip(kept, _column(rows, column), strict=True):
            cells[str(column)] = value
    return kept


def _column(rows: Sequence[Row], column: Column) -> Iterator[Any]:
    words = [_cell(row.get(column, optional=True), row, column) for row in rows]
    known = [each for each in words if each is not None]
    if all(isinstance(each, str) and len(each) <= _LONGEST_NUMBER and _NUMBER.fullmatch(each) for each in known):
        return (None if each is None else _number(each, row, column) for each, row in zip(words, rows, strict=True))
    return iter(words)


def _cell(value: Any, row: Row, column: Column) -> Any:
    if value is None or (isinstance(value, float) and value != value):
        return None
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, str):
        text = value.strip()
        return None if text == "" or text.lower() in ("nan", "null") else text_part(text, row.where)["text"]
    if not is_finite(value):
        raise DatasetError(f"{row.where} has {str(value)[:80]} in the column `{column}`, not a finite number or a word")
    return value


def _number(text: str, row: Row, column: Column) -> int | float:
    match = _NUMBER.fullmatch(text)
    number = int(text) if match is not None and match[1] else float(text)
    if not is_finite(number):
        raise DatasetError(f"{row.where} has {text[:80]} in the column `{column}`, which is beyond all floats")
    return number
