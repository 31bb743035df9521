"""Tensors as they travel: name, type, shape and bytes. Nothing here looks into the bytes, unless they come as JSON."""

from __future__ import annotations

import math
import struct
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from mlmodelscope.inference.refusal import Refusal
from mlmodelscope.worker.process import Buffer
from mlmodelscope_worker.predictor.remote_tensors import TYPES, WORDS

_CODES = {
    "uint8": "B",
    "uint16": "H",
    "uint32": "I",
    "uint64": "Q",
    "int8": "b",
    "int16": "h",
    "int32": "i",
    "int64": "q",
    "float32": "f",
    "float64": "d",
}
"""How Python's own arrays call them; they know neither `bool` nor `float16`."""
_SIZES = {**{name: array(code).itemsize for name, code in _CODES.items()}, "bool": 1, "float16": 2}
_MOST_AXES = 32  # what every numpy takes
_MOST_VALUES = 1 << 40


@dataclass(frozen=True)
class Tensor:
    name: str
    element_type: str
    shape: tuple[int, ...]
    content: Buffer

    def describe(self) -> dict[str, Any]:
        """As the worker is told of it."""
        return {"name": self.name, "element_type": self.element_type, "shape": list(self.shape)}

    def listed(self) -> list[Any]:
        """Its values, in turn."""
        if self.element_type == "bool":
            return [bool(each) for each in bytes(self.content)]
        if self.element_type == "float16":
            return list(struct.unpack(f"<{len(self.content) // 2}e", self.content))
        values = array(_CODES[self.element_type])
        values.frombytes(self.content)
        return values.tolist()


@dataclass(frozen=True)
class Wanted:
    """An output that is asked for, and how it is to travel."""

    name: str
    binary: bool


@dataclass(frozen=True)
class Question:
    """What one call asks of a model."""

    model: str
    version: str
    tensors: Sequence[Tensor]
    outputs: Sequence[Wanted] = ()
    """All of them where none is named."""
    id: str = ""
    binary_outputs: bool = False
    """How outputs travel that nobody named."""

    def is_binary(self, name: str) -> bool:
        return next((each.binary for each in self.outputs if each.name == name), self.binary_outputs)


@dataclass(frozen=True)
class Answer:
    model: str
    version: str
    id: str
    tensors: Sequence[Tensor]


def make_tensor(name: object, datatype: object, shape: object, content: Buffer | list[Any]) -> Tensor:
    """A tensor somebody sent: its words are checked, its bytes counted; values in a list become bytes."""
    if not isinstance(name, str) or not name:
        raise Refusal(400, "an input has no name")
    if not isinstance(datatype, str) or datatype not in TYPES:
        raise Refusal(400, f"input `{name[:200]}` has the datatype {_short(datatype)}; known: {', '.join(TYPES)}")
    element_type = TYPES[datatype]
    sizes = _sizes(name, shape)
    if isinstance(content, list):
        content = _packed(name, element_type, content)
    expected = math.prod(sizes) * _SIZES[element_type]
    if len(content) != expected:
        wrong = f"{len(content)} bytes came, {datatype} of the shape {list(sizes)} has {expected}"
        raise Refusal(400, f"input `{name[:200]}`: {wrong}")
    return Tensor(name, element_type, sizes, content)


def _sizes(name: str, shape: object) -> tuple[int, ...]:
    good = isinstance(shape, list | tuple) and len(shape) <= _MOST_AXES
    if not good or not all(type(size) is int and 0 <= size < _MOST_VALUES for size in shape):  # type: ignore[attr-defined]
        raise Refusal(400, f"input `{name[:200]}` has no shape: {_short(shape)}")
    return tuple(shape)  # type: ignore[arg-type]


def _packed(name: str, element_type: str, values: list[Any]) -> bytes:
    """Values from JSON, in a flat list or in lists of lists, as bytes."""
    try:
        for _ in range(_MOST_AXES):
            if not values or not isinstance(values[0], list):
                break
            values = list(chain.from_iterable(values))
        if element_type == "bool":
            return bytes([(False, True).index(each) for each in values])
        if element_type == "float16":
            return struct.pack(f"<{len(values)}e", *values)
        return array(_CODES[element_type], values).tobytes()
    except (TypeError, ValueError, OverflowError, struct.error) as error:
        raise Refusal(400, f"input `{name[:200]}` has values that are no {element_type}: {_short(error)}") from None


def datatype_of(element_type: str) -> str | None:
    """The protocol's word for a type; None for what is no number."""
    return WORDS.get(element_type)


def sizes_of(shape: Sequence[int | None] | None) -> list[int] | None:
    """A model's shape in the protocol's words; None where even the number of axes is open."""
    return None if shape is None else [-1 if size is None else size for size in shape]


def described(tensors: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What a model takes or gives, in the protocol's words; what is no tensor of numbers is left out."""
    found = []
    for each in tensors:
        datatype, shape = datatype_of(each["element_type"]), sizes_of(each["shape"])
        if datatype is not None:
            part = {"name": each["name"], "datatype": datatype}
            found.append(part if shape is None else {**part, "shape": shape})
    return found


def _short(value: object) -> str:
    return str(value)[:100]
