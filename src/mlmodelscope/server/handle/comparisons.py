"""Records side by side: what was measured, what differs between them, and of two what the difference comes to."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from mlmodelscope.analysis.overview import (
    Entry,
    Number,
    accuracy_measure,
    by_dataset,
    dataset_name,
    make_overview,
    pareto,
    same_samples,
)
from mlmodelscope.analysis.overview_table import overview_notes
from mlmodelscope.bench.compare import facts_of, latencies
from mlmodelscope.errors import UsageError
from mlmodelscope.ledger.tokens import Person
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.record.builds import build_differences
from mlmodelscope.record.kind import kind_of
from mlmodelscope.record.latencies import RawRun, load_latencies
from mlmodelscope.record.record import Record
from mlmodelscope.record.spread import spread
from mlmodelscope.record.told import Told
from mlmodelscope.record.work import machine_name, part_of, stack_name
from mlmodelscope.server.desk import Desk, demand
from mlmodelscope.server.handle.measures import measures_of
from mlmodelscope.server.handle.pair import compare_two
from mlmodelscope.task.measure import measure_or_bare

MOST = 24
"""Records in a comparison: more are no longer told apart."""
_MOST_SUMMED = 2000


def compare(desk: Desk, person: Person, names: Sequence[str]) -> dict[str, Any]:
    """Any number of them; what is said of two only is there where there are two."""
    demand(person, "read")
    records = list({record.id: record for record in map(desk.store.get, names)}.values())
    called = _names(records)
    columns = [dict(facts_of(record)) for record in records]
    facts = [{"name": name, "values": [each[name] for each in columns]} for name in columns[0]]
    facts += [{"name": name, "values": list(values)} for name, values in build_differences(records)]
    return {
        "records": [_spell(record, name) for record, name in zip(records, called, strict=True)],
        "facts": [{**each, "differs": len(set(each["values"])) > 1} for each in facts if any(each["values"])],
        "measures": measures_of(records),
        "latencies": _latencies(desk, records),
        "overview": _overview(desk, records),
        "pair": compare_two(desk, *records) if len(records) == 2 else None,
    }


def overview(desk: Desk, person: Person, models: Sequence[str], everything: bool = False) -> dict[str, Any]:
    """The newest record of each work, summed up for each dataset, and there for each model, stack and machine."""
    demand(person, "read")
    found = list(islice(desk.store.newest_told(list(models), all_of_them=everything), _MOST_SUMMED + 1))
    answer = _overview(desk, found[:_MOST_SUMMED])
    if len(found) > _MOST_SUMMED:
        answer["notes"].append(f"of the newest {_MOST_SUMMED} records; name models to see older ones")
    return answer


def _runs(desk: Desk, record: Record) -> list[RawRun]:
    bench = record.bench
    return load_latencies(desk.store.folder(record.id)) if bench is not None and bench.measured is not None else []


def _names(records: Sequence[Record]) -> list[str]:
    """What tells each from the others, and where nothing does, its id."""
    parts = [
        [
            each.plan.model.reference,
            stack_name(each.plan),
            machine_name(each),
            each.plan.dataset.name,
            _kind(each),
            f"batch {each.plan.scenario.batch_size}",
        ]
        for each in records
    ]
    kept = [place for place in range(len(parts[0])) if len({own[place] for own in parts}) > 1]
    found = [", ".join(own[place] for place in kept) for own in parts]
    return [
        name if name and found.count(name) == 1 else f"{name}, {record.id}".removeprefix(", ")
        for name, record in zip(found, records, strict=True)
    ]


def _kind(record: Record) -> str:
    kind, scenario = kind_of(record)
    return scenario or kind


def _spell(record: Record, name: str) -> dict[str, Any]:
    return {
        "id": record.id,
        "name": name,
        "model": record.plan.model.reference,
        "dataset": dataset_name(record.plan),
        "part": _part(record),
        "kind": _kind(record),
        "stack": stack_name(record.plan),
        "machine": machine_name(record),
        "samples": record.samples,
        "created_at": record.created_at,
        "notes": list(record.notes),
        "unstable": list(record.bench.stability.because) if record.bench is not None else [],
    }


def _part(record: Record) -> str | None:
    """`12 of 70`, where an evaluation took some samples only."""
    found = part_of(record)
    if found is None or kind_of(record)[0] != "evaluation":
        return None
    size = record.plan.dataset.size
    return f"{record.samples} of {size}" if size else f"{record.samples}, not all"


def _latencies(desk: Desk, records: Sequence[Record]) -> dict[str, Any] | None:
    """How often each took how long; those that keep no latencies are left out."""
    known: dict[str, list[float]] = {}
    for record in records:
        with contextlib.suppress(UsageError):
            values = [value for run in latencies(record, _runs(desk, record)) for value in run]
            if values:
                known[record.id] = values
    return spread(known) if known else None


def _overview(desk: Desk, records: Sequence[Record | Told]) -> dict[str, Any]:
    entries = make_overview(
        sorted(records, key=lambda each: each.created_at, reverse=True),
        ArtifactStore(replace(desk.settings, offline=True)),
    )
    tables = [
        {"dataset": dataset, "rows": _rows(rows), "notes": overview_notes(rows)}
        for dataset, rows in by_dataset(entries).items()
    ]
    return {"tables": tables, "notes": []}


def _rows(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """Rows of one dataset: only what was measured on the same samples is told to be better or worse."""
    comparable = same_samples(entries)
    fronts = {what: _front(entries, comparable, what) for what in ("latency_s", "samples_per_s")}
    rows = []
    for place, entry in enumerate(entries):
        told = {name: _number(getattr(entry, name)) for name in _NUMBERS}
        rows.append(
            {
                **{name: getattr(entry, name) for name in _FACTS},
                **told,
                "top1": told["accuracy"] if entry.accuracy and entry.accuracy.metric == "top1" else None,
                "total": entry.plan.dataset.size,
                "sweep": [
                    {"batch_size": size, "samples_per_s": entry.sweep[size], "speed_up": gained}
                    for size, gained in entry.speed_up.items()
                ],
                "missing": [vars(each) for each in entry.missing],
                "comparable": entry in comparable,
                "fastest": place in fronts["latency_s"],
                "most": place in fronts["samples_per_s"],
            }
        )
    return rows


def _number(found: Number | None) -> dict[str, Any] | None:
    if found is None:
        return None
    told = {**{name: value for name, value in vars(found).items() if name != "subset"}, "whole": found.whole}
    if not found.metric:
        return {**told, "metric": None}
    measure = measure_or_bare(found.metric)
    return {**told, "title": measure.title, "unit": measure.unit.name, "better": measure.better}


_FACTS = ("model", "dataset", "stack", "machine", "size_bytes", "best_batch", "optimal_batch")
_NUMBERS = ("accuracy", "latency_s", "p90_s", "samples_per_s")


def _front(entries: Sequence[Entry], comparable: Sequence[Entry], speed: str) -> set[int]:
    """Those of the same samples than which no other is both faster and more accurate."""
    points = {}
    for place, entry in enumerate(entries):
        number = getattr(entry, speed)
        if entry in comparable and entry.accuracy is not None and number is not None:
            points[place] = (number.value, entry.accuracy.value)
    measure = accuracy_measure(comparable)
    is_better_higher = measure is None or measure.is_better_higher
    front = set(pareto(list(points.values()), speed != "latency_s", is_better_higher)) if len(points) > 1 else set()
    return {place for place, point in points.items() if point in front}
