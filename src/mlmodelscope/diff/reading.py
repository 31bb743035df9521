"""What was read of one side: the tensors that went in, what each layer passed on, and what came out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mlmodelscope.layer.alignment import Seen
from mlmodelscope_worker.messages import LayersRead, StepsRead


@dataclass(frozen=True)
class Held:
    """A tensor whose numbers are in a file."""

    name: str
    shape: tuple[int, ...]
    element_type: str
    file: str
    """Its name in the folder of the comparison."""
    sums: tuple[float, ...]
    """As the alignment wants them."""
    kind: str = ""
    layer: str = ""
    """The layer's own name, where that is not the tensor's."""
    takes: tuple[str, ...] = ()
    attributes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def seen(self) -> Seen:
        names = (self.name, self.layer) if self.layer and self.layer != self.name else (self.name,)
        return Seen(names, self.kind, self.shape, self.sums)

    @property
    def size(self) -> int:
        count = 1
        for each in self.shape:
            count *= each
        return count

    def described(self) -> dict[str, Any]:
        """As a worker or the measuring process is told of it."""
        return {
            "name": self.name,
            "shape": list(self.shape),
            "element_type": self.element_type,
            "file": self.file,
            "sums": list(self.sums),
        }


@dataclass(frozen=True)
class Reading:
    inputs: tuple[Held, ...]
    layers: tuple[Held, ...]
    outputs: tuple[Held, ...]
    notes: tuple[str, ...]


def reading_of(told: LayersRead) -> Reading:
    inputs, layers, outputs = (tuple(map(_held, each)) for each in (told.inputs, told.layers, told.outputs))
    return Reading(inputs, layers, outputs, tuple(told.notes))


@dataclass(frozen=True)
class Steps:
    """What the steps around a model made; each tensor's `kind` is its step."""

    before: tuple[Held, ...]
    after: tuple[Held, ...]
    notes: tuple[str, ...]


def steps_of(told: StepsRead) -> Steps:
    return Steps(tuple(map(_held, told.before)), tuple(map(_held, told.after)), tuple(told.notes))


def _held(told: Mapping[str, Any]) -> Held:
    return Held(
        told["name"],
        tuple(told["shape"]),
        told["element_type"],
        told["file"],
        tuple(told["sums"]),
        told.get("kind", ""),
        told.get("layer", ""),
        tuple(told.get("takes", ())),
        {**told.get("attributes", {}), **{name: told[name] for name in _OF_STEPS if name in told}},
    )


_OF_STEPS = ("sample", "input", "row", "role")
