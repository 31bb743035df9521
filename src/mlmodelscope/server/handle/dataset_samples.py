"""Samples of a dataset that is at hand, to try a model with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
from mlmodelscope.server.handle.shelf import find


def listed(desk: Desk, person: Person, name: str, start: int, limit: int) -> Mapping[str, Any]:
    """Some samples by name, with their labels."""
    demand(person, "read")
    opened = desk.gallery.opened(_planned(desk, name))
    shown = opened.samples[start : start + limit]
    items = [{"id": each.id, "label": each.label, "label_name": _name(opened.classes, each.label)} for each in shown]
    return {"items": items, "total": len(opened.samples)}


def picture(desk: Desk, person: Person, name: str, sample: str, side: int) -> Picture:
    demand(person, "read")
    return desk.gallery.picture(_planned(desk, name), sample, side)


def content(desk: Desk, person: Person, name: str, sample: str) -> bytes:
    """The file itself, for whoever may ask a model about it."""
    demand(person, "run")
    return desk.gallery.content(_planned(desk, name), sample, desk.config.largest_input)


def _planned(desk: Desk, name: str) -> PlannedDataset:
    found: PlannedDataset = desk.planned.get(name, lambda: _plan(desk, name))
    return found


def _plan(desk: Desk, name: str) -> PlannedDataset:
    """The whole dataset of the newest manifest of that name."""
    manifest, _ = find(desk, DatasetManifest, name)
    try:
        return plan_dataset(manifest, Options(), pin(manifest, ConfinedStore(desk.offline, desk.confined)))
    except (MLModelScopeError, OSError) as error:
        said = error.message if isinstance(error, MLModelScopeError) else str(error)
        raise NoPictures(f"there is no copy of {manifest.name} at hand: {said}") from None


def _name(classes: Any, number: int | None) -> str | None:
    return classes[number] if number is not None and 0 <= number < len(classes) else None
