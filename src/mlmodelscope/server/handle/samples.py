"""What a model said of each sample: searched and shown, with its picture where the dataset is available."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mlmodelscope.errors import UsageError
from mlmodelscope.hub.origin import origin_of
from mlmodelscope.ledger.tokens import Person
from mlmodelscope.manifest.reference import parse_reference
from mlmodelscope.plan.plan import PlannedDataset
from mlmodelscope.record.record import Record
from mlmodelscope.record.search import Only, Sort, Wanted
from mlmodelscope.report.class_numbers import class_sheet
from mlmodelscope.report.classes import class_table
from mlmodelscope.report.thumbnail import Picture
from mlmodelscope.server import confined_records
from mlmodelscope.server.desk import Desk, demand
from mlmodelscope.server.gallery import NoPicture, NoPictures
from mlmodelscope.task.shape import SHOWN_ABOVE, named_by
from mlmodelscope.task.task import task_named


def find(
    desk: Desk,
    person: Person,
    name: str,
    *,
    start: int,
    limit: int,
    only: Only | None = None,
    q: str | None = None,
    id: str | None = None,
    label: int | None = None,
    answer: int | None = None,
    above: float | None = None,
    below: float | None = None,
    sort: Sort | None = None,
    descending: bool = False,
) -> dict[str, Any]:
    """Some samples, how many there are, and what they can be told apart by."""
    demand(person, "read")
    record = desk.store.get(name)
    word = (q or "").strip()
    wanted = Wanted(only, word, id, _named(record, word), label, answer, above, below, sort, descending)
    known: dict[str, Any] = desk.confined.call(
        confined_records.found_samples,
        **_about(desk, record),
        wanted={**asdict(wanted), "named": sorted(wanted.named)},
        start=start,
        limit=limit,
    )
    return known


def _about(desk: Desk, record: Record) -> dict[str, Any]:
    folder = desk.store.samples_file(record).parent
    return {"folder": str(folder), "task": record.plan.task, "names": list(record.class_names)}


def shapes(desk: Desk, person: Person, name: str, sample: str) -> dict[str, Any]:
    """What there is to see of one sample: its truth and its answer, over its picture."""
    demand(person, "read")
    record = desk.store.get(name)
    about = _about(desk, record)
    target, size = _of_dataset(desk, record, sample) if task_named(record.plan.task).quality else (None, None)
    found = desk.confined.call(confined_records.seen_sample, **about, sample=sample, target=target)
    if found is None:
        raise UsageError(f"there is no sample `{sample[:200]}` in record {record.id}")
    return {
        "id": sample,
        **found,
        "about": task_named(record.plan.task).quality,
        "size": size or found["size"],
        "shown_above": SHOWN_ABOVE,
    }


def prompt(desk: Desk, person: Person, name: str, sample: str) -> dict[str, Any]:
    """What a language model was shown of a sample, as the record keeps it."""
    demand(person, "read")
    record = desk.store.get(name)
    folder = str(desk.store.samples_file(record).parent)
    found: dict[str, Any] | None = desk.confined.call(confined_records.kept_prompt, folder=folder, sample=sample)
    if found is None:
        raise UsageError(f"there is no sample `{sample[:200]}` in record {record.id}")
    return {"id": sample, **found}


def _of_dataset(desk: Desk, record: Record, sample: str) -> tuple[str | None, tuple[int, int] | None]:
    """(what is true of it as JSON, its size), where the dataset is available."""
    try:
        return desk.gallery.seen(record.plan.dataset, sample, public_only=is_strangers(desk, record))
    except (NoPictures, NoPicture):
        return None, None


def _named(record: Record, word: str) -> frozenset[int]:
    """Classes whose names contain a word."""
    sought = word.lower()
    return frozenset(number for number, name in enumerate(record.class_names) if sought in name.lower() and sought)


def classes(desk: Desk, person: Person, name: str) -> Mapping[str, Any]:
    """Each class with its accuracy and what it is taken for, the worst first."""
    demand(person, "read")
    record = desk.store.get(name)
    if "per_class" not in record.details:
        reason = record.refused.get("per_class", f"it is {record.status}" if not record.samples else "")
        raise UsageError(f"there is no accuracy by class of record {record.id}{': ' if reason else ''}{reason}")
    sheet = class_sheet(record)
    if sheet is None:
        file = str(desk.store.samples_file(record))
        found = desk.confined.call(confined_records.taken_for, file=file)
        pairs = [((label, answer), count) for (label, answer), count in found]
        return {**class_table(record, pairs), "columns": [], "measured": []}
    columns = [{"name": each.name, "title": each.title, "is_count": each.is_count} for each in sheet.columns]
    measured = [{"label": each.label, "name": each.name, "values": list(each.values)} for each in sheet.classes]
    return {"items": [], "confused": _confused(record), "about": sheet.about, "columns": columns, "measured": measured}


def _confused(record: Record) -> list[dict[str, Any]]:
    """Pairs of pixels or boxes, where no sample is simply wrong."""
    found = record.details.get("pixel_confusion") or record.details.get("box_confusion") or ()
    named = named_by(record.class_names)
    return [{**each, "label_name": named(each["label"]), "answer_name": named(each["answer"])} for each in found]


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
    return desk.gallery.picture(record.plan.dataset, sample, side, public_only=is_strangers(desk, record))


def is_strangers(desk: Desk, record: Record) -> bool:
    """Whether somebody else made it; one whose dataset lies on their machine is refused."""
    came_from = origin_of(desk.store.database, record.id)
    if came_from is not None:
        _refuse_local(record.plan.dataset)
    return came_from is not None


def _refuse_local(dataset: PlannedDataset) -> None:
    """Somebody else's record says where its files were on another machine; here it may not say what is looked at."""
    for source in dataset.sources:
        for file in (source.files, source.labels, source.names, dataset.classes):
            if file is not None and parse_reference(file.url).is_local:
                raise NoPictures(f"there is no copy of {dataset.name} available: it lies on the machine of who made it")
