"""Samples of a dataset that is available, to try a model with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from mlmodelscope.connection.resolve import with_folder
from mlmodelscope.errors import MLModelScopeError
from mlmodelscope.ledger.tokens import Person
from mlmodelscope.manifest.schema import DatasetManifest
from mlmodelscope.plan.dataset import plan_dataset
from mlmodelscope.plan.options import Options
from mlmodelscope.plan.plan import PlannedDataset
from mlmodelscope.preparation import pin
from mlmodelscope.report.sound import kind_of
from mlmodelscope.report.thumbnail import Picture
from mlmodelscope.server import confined_inputs, confined_work
from mlmodelscope.server.confined_work import ConfinedStore
from mlmodelscope.server.desk import Desk, demand
from mlmodelscope.server.gallery import NoPicture, NoPictures
from mlmodelscope.server.handle import artifacts
from mlmodelscope.server.handle.sample_inputs import SoundFile
from mlmodelscope.server.handle.shelf import find

_LONGEST_NAME = 200


def listed(desk: Desk, person: Person, name: str, start: int, limit: int) -> Mapping[str, Any]:
    """Some samples by name, with their labels."""
    demand(person, "read")
    dataset, is_strangers = _planned(desk, name)
    opened = desk.gallery.opened(dataset, public_only=is_strangers)
    shown = opened.samples[start : start + limit]
    items = [{"id": each.id, "label": each.label, "label_name": _name(opened.classes, each.label)} for each in shown]
    return {"items": items, "total": len(opened.samples)}


def picture(desk: Desk, person: Person, name: str, sample: str, side: int) -> Picture:
    demand(person, "read")
    dataset, is_strangers = _planned(desk, name)
    return desk.gallery.picture(dataset, sample, side, public_only=is_strangers)


def content(desk: Desk, person: Person, name: str, sample: str) -> bytes:
    """The file itself, for whoever may ask a model about it."""
    demand(person, "run")
    dataset, is_strangers = _planned(desk, name)
    return desk.gallery.content(dataset, sample, desk.config.largest_input, public_only=is_strangers)


def told(desk: Desk, person: Person, name: str, sample: str) -> dict[str, Any]:
    """A sample that is not a picture: its texts, its cells, or how loud it is."""
    demand(person, "read")
    dataset, is_strangers = _planned(desk, name)
    largest = desk.config.largest_input
    found: dict[str, Any] = desk.gallery.read(
        dataset, sample, confined_inputs.told_input, public_only=is_strangers, largest=largest
    )
    return {"id": sample, **found}


def sound(desk: Desk, person: Person, name: str, sample: str) -> SoundFile:
    """A sound that browsers play; no file of another kind, and none that is too large."""
    demand(person, "read")
    dataset, is_strangers = _planned(desk, name)
    data: bytes = desk.gallery.read(
        dataset, sample, confined_inputs.sound, public_only=is_strangers, largest=desk.config.largest_input
    )
    media_type = kind_of(data[:16])
    if media_type is None:
        raise NoPicture(f"`{sample[:200]}` cannot be shown: it is not a sound that a browser plays")
    return SoundFile(data, media_type)


def classes(desk: Desk, person: Person, name: str, q: str | None, start: int, limit: int) -> dict[str, Any]:
    """Names of the classes, with how many samples each has where the data is connected."""
    demand(person, "read")
    names, counts = _classes(desk, name)
    words = (q or "").lower().split()
    found = [
        {"number": number, "name": each[:_LONGEST_NAME], "samples": counts[number] if counts is not None else None}
        for number, each in enumerate(names)
        if all(word in each.lower() for word in words)
    ]
    return {"items": found[start : start + limit], "total": len(found), "all": len(names)}


def _classes(desk: Desk, name: str) -> tuple[Any, Counter[int] | None]:
    try:
        dataset, is_strangers = _planned(desk, name)
        opened = desk.gallery.opened(dataset, public_only=is_strangers)
        labels = [each.label for each in opened.samples if each.label is not None]
        return opened.classes, Counter(labels) if labels else None
    except NoPictures:
        return desk.planned.get(("classes", name), lambda: _listed_classes(desk, name)), None


def _listed_classes(desk: Desk, name: str) -> list[str]:
    """From the list of classes that a manifest names, where that is here and the data is not."""
    manifest, text = find(desk, DatasetManifest, name)
    if manifest.classes_url is None:
        return []
    is_strangers = not Path(manifest.file).is_file()
    if is_strangers:
        artifacts.demand_present(desk, text)
    settings = replace(desk.offline, public_only=is_strangers)
    try:
        found: list[str] = desk.confined.call(
            confined_work.listed_classes,
            reference=manifest.classes_url,
            checksum=manifest.classes_checksum,
            settings=confined_work.spelled_settings(settings),
        )
    except (MLModelScopeError, OSError):
        return []  # no copy of the list is here
    return found


def _planned(desk: Desk, name: str) -> tuple[PlannedDataset, bool]:
    """(the dataset, whether a manifest names it that came from another machine)."""
    found: tuple[PlannedDataset, bool] = desk.planned.get(name, lambda: _plan(desk, name))
    return found


def _plan(desk: Desk, name: str) -> tuple[PlannedDataset, bool]:
    """The whole dataset of the newest manifest of that name."""
    manifest, text = find(desk, DatasetManifest, name)
    is_strangers = not Path(manifest.file).is_file()
    if is_strangers:
        artifacts.demand_present(desk, text)
    here = ConfinedStore(replace(desk.offline, public_only=is_strangers), desk.confined)
    try:
        if not is_strangers:  # what lies in folders of this machine is not for other people's manifests
            manifest = with_folder(manifest, desk.offline)
        return plan_dataset(manifest, Options(), pin(manifest, here)), is_strangers
    except (MLModelScopeError, OSError) as error:
        said = error.message if isinstance(error, MLModelScopeError) else str(error)
        raise NoPictures(f"there is no copy of {manifest.name} available: {said}") from None


def _name(classes: Any, number: int | None) -> str | None:
    return classes[number] if number is not None and 0 <= number < len(classes) else None
