"""Tables of results, in CSV, TSV, JSON or JSON Lines: a row is a number that a model reached by a metric."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from mlmodelscope.author.request import name_from
from mlmodelscope.catalog.entry import ClaimFact, Entry, Unit, WeightsFact
from mlmodelscope.catalog.files import Files
from mlmodelscope.catalog.source.form import Reading, source_form
from mlmodelscope.catalog.unit import Told, number_text, tell_unit
from mlmodelscope.catalog.words import Word, dataset_word, metric_condition, metric_word, task_word
from mlmodelscope.errors import ManifestError
from mlmodelscope.manifest.schema.task import task_names
from mlmodelscope.model_file.limit import clean
from mlmodelscope.task.measure import find_measure

_NAMES = ("*.csv", "*.tsv", "*.jsonl", "*.ndjson", "*.json")
_COLUMNS = {
    "model": ("model", "model_name", "model_id", "name", "network", "arch", "architecture", "checkpoint"),
    "metric": ("metric", "metric_name", "measure", "score_name"),
    "value": ("value", "metric_value", "score", "result"),
    "dataset": ("dataset", "dataset_name", "benchmark", "test_set", "data"),
    "split": ("split", "subset"),
    "unit": ("unit", "units"),
    "task": ("task", "task_name"),
    "conditions": ("conditions", "condition", "notes", "note", "comment"),
    "url": ("url", "file_url", "weights_url", "weights"),
    "framework": ("framework",),
    "license": ("license", "licence"),
}
"""What columns are called; of two that mean the same, the first counts."""
_NEEDED = ("model", "metric", "value")
_UNITS: dict[str, Unit] = {
    **dict.fromkeys(("%", "percent", "percentage", "pct"), "percent"),
    **dict.fromkeys(("share", "fraction", "ratio", "0-1", "proportion"), "share"),
    "db": "dB",
    **dict.fromkeys(("number", "count", "px", "pixel", "pixels", "points"), "number"),
}
_MOST_ROWS = 200_000
_MOST_CELLS = 256
_LONGEST = 2000


@dataclass(frozen=True)
class _Row:
    cells: Mapping[str, str]
    """By our names of columns."""
    place: str


@dataclass
class _Model:
    rows: list[_Row] = field(default_factory=list)
    claims: dict[tuple[str, ...], ClaimFact] = field(default_factory=dict)
    """Each number once, however often the tables repeat it."""


def _recognize(files: Files) -> bool:
    return any(True for name in files.matching(*_NAMES) for _ in _rows(Reading(files), name, most=1))


@source_form("results", _recognize)
def read(reading: Reading) -> Iterator[Entry]:
    """Results in CSV, TSV, JSON or JSON Lines, with columns for model, metric, value and dataset."""
    models: dict[str, _Model] = {}
    for file in reading.files.matching(*_NAMES):
        rows = list(_rows(reading, file))
        siblings = defaultdict(list)
        for row in rows:
            text = number_text(row.cells["value"])
            if text is not None:
                siblings[row.cells["metric"]].append(text)
        for row in rows:
            found = models.setdefault(row.cells["model"], _Model())
            found.rows.append(row)
            claim = _claim(reading, row, siblings[row.cells["metric"]])
            if claim is not None:
                key = (claim.metric, claim.value, claim.unit, claim.dataset, claim.split, claim.conditions)
                found.claims.setdefault(key, claim)
    for name, model in models.items():
        entry = _entry(reading, name, model) if model.claims else None
        if entry is not None:
            yield entry


def _rows(reading: Reading, file: str, most: int = _MOST_ROWS) -> Iterator[_Row]:
    """Rows that have a model, a metric and a value; the others are left out."""
    try:
        text = reading.files.read(file).decode("utf-8-sig", errors="replace")
    except ManifestError:
        reading.leave_out("a file that cannot be read", file)
        return
    is_table = file.endswith((".csv", ".tsv"))
    found = 0
    try:
        for number, raw in _table(text, file) if is_table else _objects(text, file):
            cells = _named(raw)
            if cells is None:
                continue  # a file about something else
            missing = next((each for each in _NEEDED if not cells[each]), None)
            if missing is not None:
                reading.leave_out(f"a row without a {missing}", f"{file}:{number}")
                continue
            if found >= most:
                if most == _MOST_ROWS:
                    reading.leave_out(f"rows beyond the first {_MOST_ROWS:,}", f"{file}:{number}")
                return
            found += 1
            yield _Row(cells, f"{file}:{number}")
    except (ValueError, RecursionError, csv.Error):
        reading.leave_out("a file that is damaged", file)


def _table(text: str, file: str) -> Iterator[tuple[int, Mapping[Any, Any]]]:
    reader = csv.DictReader(io.StringIO(text), delimiter="\t" if file.endswith(".tsv") else _delimiter(text))
    if reader.fieldnames is not None and len(reader.fieldnames) > _MOST_CELLS:
        raise ValueError("more columns than a table of results has")
    for row in reader:
        yield reader.line_num, row


def _delimiter(text: str) -> str:
    header = text.split("\n", 1)[0]
    return max(",;\t", key=header.count)


def _objects(text: str, file: str) -> Iterator[tuple[int, Mapping[Any, Any]]]:
    """Objects a line, or a list of them; of a mapping its longest list. Numbers keep their digits."""
    if file.endswith((".jsonl", ".ndjson")):
        for number, line in enumerate(text.split("\n"), 1):
            if line.strip():
                yield from _mappings([_json(line)], number)
        return
    data = _json(text)
    if isinstance(data, dict):
        data = max((each for each in data.values() if isinstance(each, list)), key=len, default=[])
    yield from _mappings(data if isinstance(data, list) else [], None)


def _json(text: str) -> Any:
    return json.loads(text, parse_float=str, parse_int=str, parse_constant=str)


def _mappings(items: list[Any], line: int | None) -> Iterator[tuple[int, Mapping[Any, Any]]]:
    for place, item in enumerate(items):
        if isinstance(item, dict):
            yield line if line is not None else place, item


def _named(raw: Mapping[Any, Any]) -> dict[str, str] | None:
    """Cells by our names of their columns; None where the columns are not those of results."""
    known = {_plain(key): value for key, value in list(raw.items())[:_MOST_CELLS] if isinstance(key, str)}
    found = {}
    for name, words in _COLUMNS.items():
        word = next((each for each in words if each in known), None)
        if word is None and name in _NEEDED:
            return None
        value = known[word] if word is not None else ""
        found[name] = clean(value.strip())[:_LONGEST] if isinstance(value, str) else ""
    return found


def _plain(title: str) -> str:
    return re.sub(r"[\s_-]+", "_", title.strip().lower())[:100]


def _claim(reading: Reading, row: _Row, siblings: list[str]) -> ClaimFact | None:
    cells, text = row.cells, number_text(row.cells["value"])
    if text is None:
        reading.leave_out("a value that is not a number", row.place)
        return None
    metric = metric_word(cells["metric"], cells["task"])
    told = _unit(cells, text, siblings, metric)
    if isinstance(told, str):
        reading.leave_out(told, row.place)
        return None
    dataset = dataset_word(cells["dataset"]) if cells["dataset"] else Word("", False)
    conditions = "; ".join(each for each in (metric_condition(cells["metric"]), cells["conditions"]) if each)
    return ClaimFact(
        metric.name,
        text,
        told.unit,
        told.because,
        row.place,
        dataset.name,
        split=name_from(cells["split"]) or "",
        conditions=conditions[:200],
        metric_as_written=cells["metric"][:100] if cells["metric"] != metric.name else "",
        dataset_as_written=cells["dataset"][:200] if cells["dataset"] != dataset.name else "",
        is_measurable=metric.is_known,
        is_known_dataset=dataset.is_known,
    )


def _unit(cells: Mapping[str, str], text: str, siblings: list[str], metric: Word) -> Told | str:
    """The unit that the row gives, else the one that its number shows; a reason where there is neither."""
    has_sign, written = cells["value"].endswith("%"), cells["unit"].lower()
    if written:
        unit = _UNITS.get(written)
        if unit is None:
            return "a number in a unit that is not known"
        if unit == "share" and (has_sign or abs(float(text)) > 1):
            return "a number that is no share, and is said to be one"
        return Told(unit, f"its unit is written as {written}")
    if not has_sign and not metric.is_known and not metric.unit:
        return "a number of an unknown metric without a unit"
    return tell_unit(text, siblings, metric, has_sign)


def _entry(reading: Reading, written: str, model: _Model) -> Entry | None:
    name = name_from(written)
    if name is None:
        reading.leave_out("a model without a name that can be written", model.rows[0].place)
        return None
    first = {key: next((row.cells[key] for row in model.rows if row.cells[key]), "") for key in _COLUMNS}
    claims = tuple(model.claims.values())
    return Entry(
        name,
        _task(first["task"], claims),
        architecture=written[:100] if written != name else "",
        framework=name_from(first["framework"]) or "",
        weights_license=first["license"][:100],
        weights=(WeightsFact(first["url"]),) if re.fullmatch(r"https?://[^\s]{1,1900}", first["url"]) else (),
        claims=claims,
        place=model.rows[0].place,
    )


def _task(written: str, claims: tuple[ClaimFact, ...]) -> str:
    """Our task as it is written; else the only one, or the first, that has the metric of a claim."""
    plain = re.sub(r"[\s-]+", "_", written.strip().lower())
    if plain in task_names():
        return plain
    known = task_word(written)
    if known != "general" or written:
        return known
    measure = next((found for each in claims if (found := find_measure(each.metric)) is not None), None)
    return measure.tasks[0] if measure is not None else "general"
