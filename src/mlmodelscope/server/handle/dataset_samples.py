"""Samples of a dataset that is available, to try a model with."""

from __future__ import annotations

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
from mlmodelscope.report.thumbnail import Picture
from mlmodelscope.server.confined_work import ConfinedStore
from mlmodelscope.server.desk import Desk, demand
from mlmodelscope.server.gallery import NoPictures
from mlmodelscope.server.handle import artifacts
from mlmodelscope.server.handle.shelf import find


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
