"""Samples of a record that are not pictures: texts, cells and sounds, what the model hears, numbers beside truth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mlmodelscope.ledger.tokens import Person
from mlmodelscope.record.record import Record
from mlmodelscope.report.heard import heard_inputs
from mlmodelscope.report.sound import kind_of
from mlmodelscope.server import confined_inputs
from mlmodelscope.server.desk import Desk, demand
from mlmodelscope.server.gallery import NoPicture
from mlmodelscope.server.handle.samples import is_strangers

_NO_NUMBERS: dict[str, Any] = {
    **dict.fromkeys(("samples", "values", "lost"), 0),
    **dict.fromkeys(("is_several", "has_residuals"), False),
    **{name: [] for name in ("points", "largest")},
}


@dataclass(frozen=True)
class SoundFile:
    data: bytes
    media_type: str


def told(desk: Desk, person: Person, name: str, sample: str) -> dict[str, Any]:
    """What a model was asked about, in a form that every page can show."""
    demand(person, "read")
    record = desk.store.get(name)
    found: dict[str, Any] = _read(desk, record, sample, confined_inputs.told_input, largest=desk.config.largest_input)
    return {"id": sample, **found}


def sound(desk: Desk, person: Person, name: str, sample: str) -> SoundFile:
    """A sound that browsers play; no file of another kind, and none that is too large."""
    demand(person, "read")
    record = desk.store.get(name)
    data: bytes = _read(desk, record, sample, confined_inputs.sound, largest=desk.config.largest_input)
    media_type = kind_of(data[:16])
    if media_type is None:
        raise NoPicture(f"`{sample[:200]}` cannot be shown: it is not a sound that a browser plays")
    return SoundFile(data, media_type)


def heard(desk: Desk, person: Person, name: str, sample: str) -> dict[str, Any]:
    """What steps make of a sound before the model gets it."""
    demand(person, "read")
    record = desk.store.get(name)
    inputs = heard_inputs(record.plan.inputs)
    return {"id": sample, "inputs": _read(desk, record, sample, confined_inputs.heard, inputs=inputs)}


def residuals(desk: Desk, person: Person, name: str) -> dict[str, Any]:
    """Numbers that were answered beside those that are true; none where the task compares none."""
    demand(person, "read")
    record = desk.store.get(name)
    folder = str(desk.store.samples_file(record).parent)
    found = desk.confined.call(confined_inputs.residuals, folder=folder, task=record.plan.task)
    return {"dataset": record.plan.dataset.name, **(found or _NO_NUMBERS)}


def _read(desk: Desk, record: Record, sample: str, function: Callable[..., Any], **more: Any) -> Any:
    public_only = is_strangers(desk, record)
    return desk.gallery.read(record.plan.dataset, sample, function, public_only=public_only, **more)
