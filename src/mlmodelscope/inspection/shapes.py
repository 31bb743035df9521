"""Shapes of what passes between layers: those that the file tells, and those that follow from them.

Only what is certain is inferred. An operator without a rule, or one whose rule misses something, gives shapes that are
not known, and so does everything that depends on them.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from mlmodelscope.errors import UsageError
from mlmodelscope.inspection.fold import fold
from mlmodelscope.inspection.shape_rules import RULES
from mlmodelscope.inspection.spelling import spelled_as_onnx
from mlmodelscope.model_file.model_file import TensorInfo
from mlmodelscope.model_file.network import Layer, Network, Shape, Weight

Whole = tuple[int, ...]
_MOST_VALUES = 1 << 12
"""Shapes are computed with short lists of numbers; longer ones are no shapes."""
_FORMS = {"int64": "q", "int32": "i", "float32": "f"}


@dataclass
class Shapes:
    """Whole shapes by the tensor's name, and the numbers of those that are known beforehand."""

    shapes: dict[str, Whole] = field(default_factory=dict)
    values: dict[str, tuple[int | float, ...]] = field(default_factory=dict)

    def of(self, name: str) -> Whole | None:
        return self.shapes.get(name)

    def all(self, names: Sequence[str]) -> list[Whole] | None:
        """Of every name; None where one is not known."""
        found = [self.shapes.get(name) for name in names]
        whole = [shape for shape in found if shape is not None]
        return whole if len(whole) == len(found) else None

    def numbers(self, layer: Layer, place: int) -> Whole | None:
        """The whole numbers of an input that is known beforehand."""
        name = layer.inputs[place] if place < len(layer.inputs) else ""
        values = self.values.get(name) if name else None
        return tuple(int(value) for value in values) if values is not None else None


def settle_inputs(network: Network, given: Mapping[str, Whole]) -> tuple[dict[str, Whole], list[str]]:
    """A whole shape for each input, and what was supposed for it: an open batch is 1."""
    found, said = {}, []
    for tensor in network.file.inputs:
        shape: Shape | None = given.get(tensor.name, given.get("", tensor.shape) if len(given) == 1 else tensor.shape)
        if shape is None:
            continue
        if tensor.name in given or "" in given:
            _refuse_other_sizes(tensor, shape)
        whole = tuple(size for size in shape if size is not None)
        if len(whole) == len(shape):
            found[tensor.name] = whole
        elif shape[0] is None and len(whole) == len(shape) - 1:
            found[tensor.name] = (1, *whole)
            said.append(f"the batch of {tensor.name[:80]} is open and counts as 1")
    return found, said


def _refuse_other_sizes(tensor: TensorInfo, given: Shape) -> None:
    """What the file fixes stays: the shapes behind it are for that size."""
    told = tensor.shape
    if told is None:
        return
    fits = len(told) == len(given) and all(size in (None, other) for size, other in zip(told, given, strict=False))
    if not fits:
        spelled = ", ".join("?" if size is None else str(size) for size in told)
        raise UsageError(f"the input `{tensor.name}` has the shape [{spelled}], and only what is open can be given")


def infer(network: Network, inputs: Mapping[str, Whole]) -> Shapes:
    """Shapes of all tensors that can be told."""
    found = Shapes()
    for weight in network.weights.values():
        found.shapes[weight.name] = weight.shape
        values = _values(weight)
        if values is not None:
            found.values[weight.name] = values
    found.shapes |= inputs
    told = _told(network, _batch(network, inputs))
    for layer in network.layers:
        spelled = spelled_as_onnx(network.file.format, layer)
        rule = RULES.get(spelled.kind)
        made = rule(found, spelled) if rule is not None and not spelled.domain else None
        _note(found, layer, made or [], told)
        fold(found, spelled)
    return found


def _note(found: Shapes, layer: Layer, made: Sequence[Whole | None], told: Mapping[str, Whole]) -> None:
    for place, name in enumerate(layer.outputs):
        shape = made[place] if place < len(made) else None
        shape = shape if shape is not None else told.get(name)
        found.values.pop(name, None)
        if shape is not None and prod(shape) < 1 << 62 and min(shape, default=0) >= 0:
            found.shapes[name] = shape
        else:
            found.shapes.pop(name, None)


def _batch(network: Network, inputs: Mapping[str, Whole]) -> int | None:
    """How many samples there are, where the file leaves that open and formats carry it through all layers."""
    for tensor in network.file.inputs:
        if tensor.shape and tensor.shape[0] is None and tensor.name in inputs:
            return inputs[tensor.name][0]
    return None


_CARRIES_BATCH = {"pt2": 2, "tflite": 4, "savedmodel": 4, "frozen_graph": 4}
"""Formats whose tensors of at least so many axes have the batch in front, where that axis alone is open."""


def _told(network: Network, batch: int | None) -> dict[str, Whole]:
    """What the file says, where it leaves nothing open but the batch."""
    found = {}
    least = _CARRIES_BATCH.get(network.file.format)
    for name, known in network.tensors.items():
        if known.shape is None:
            continue
        whole = tuple(size for size in known.shape if size is not None)
        if len(whole) == len(known.shape):
            found[name] = whole
        elif batch is not None and least is not None and len(known.shape) >= least and known.shape[1:] == whole:
            found[name] = (batch, *whole)
    return found


def _values(weight: Weight) -> tuple[int | float, ...] | None:
    form = _FORMS.get(weight.element_type)
    if form is None or weight.data is None or weight.count > _MOST_VALUES or len(weight.shape) > 1:
        return None
    if form == "f" and weight.count > 8:
        return None
    if len(weight.data) != weight.count * struct.calcsize(f"<{form}"):
        return None
    return struct.unpack(f"<{weight.count}{form}", bytes(weight.data))
