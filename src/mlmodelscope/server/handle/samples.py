"""What a model said of each sample: searched and shown, with its picture where the dataset is at hand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mlmodelscope.errors import UsageError
from mlmodelscope.hub.origin import origin_of
from mlmodelscope.ledger.tokens import Person
from mlmodelscope.manifest.reference import parse_reference
from mlmodelscope.plan.plan import PlannedDataset
from mlmodelscope.record.record import Record
from mlmodelscope.record.search import Only, Sort, Wanted
from mlmodelscope.report.classes import class_table
from mlmodelscope.report.thumbnail import Picture
from mlmodelscope.server.desk import Desk, demand
from mlmodelscope.server.gallery import NoPictures


def find(
    desk: Desk,
    person: Person,
    name: str,
    *,
    start: int,
    limit: int,
    only: Only | None = None,
    q: str | None = None,
    label: int | None = None,
    answer: int | None = None,
    above: float | None = None,
    below: float | None = None,
    sort: Sort = "order",
    descending: bool = False,
) -> tuple[list[dict[str, Any]], int]:
    """(some samples, how many there are)."""
    demand(person, "read")
    record = desk.store.get(name)
    word = (q or "").strip()
    wanted = Wanted(only, word, _named(record, word), label, answer, above, below, sort, descending)
    return desk.search.page(desk.store.samples_file(record).parent, wanted, start, limit)


def _named(record: Record, word: str) -> frozenset[int]:
    """Classes whose names contain a word."""
    sought = word.lower()
    return frozenset(number for number, name in enumerate(record.class_names) if sought in name.lower() and sought)


def classes(desk: Desk, person: Person, name: str) -> Mapping[str, Any]:
    """Each class with its accuracy and what it is taken for, the worst first."""
    demand(person, "read")
    record = desk.store.get(name)
    if record.metrics.per_class is None:
        reason = record.metrics.refused.get("per_class", f"it is {record.status}" if not record.samples else "")
        raise UsageError(f"there is no accuracy by class of record {record.id}{': ' if reason else ''}{reason}")
    return class_table(record, desk.store)


def table(desk: Desk, person: Person, name: str) -> Path:
    """The samples as a Parquet file."""
    demand(person, "read")
    record = desk.store.get(name)
    if record.bench is not None or record.profile is not None or record.status != "finished":
        raise UsageError(f"there is no table of samples of record {record.id}")
    return desk.store.samples_file(record)


def picture(desk: Desk, person: Person, name: str, sample: str, side: int) -> Picture:
    demand(person, "read")
    record = desk.store.get(name)
    dataset = record.plan.dataset
    is_strangers = origin_of(desk.store.database, record.id) is not None
    if is_strangers:
        _refuse_local(dataset)
    return desk.gallery.picture(dataset, sample, side, public_only=is_strangers)


def _refuse_local(dataset: PlannedDataset) -> None:
    """Somebody else's record says where its files were on another machine; here it may not say what is looked at."""
    for source in dataset.sources:
        for file in (source.files, source.labels, dataset.classes):
            if file is not None and parse_reference(file.url).is_local:
                raise NoPictures(f"there is no copy of {dataset.name} at hand: it lies on the machine of who made it")
