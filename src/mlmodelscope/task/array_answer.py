"""An answer that is made of arrays: boxes, maps, pictures. The host passes it on without looking inside."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

KEPT = "kept"
"""The name of the bytes that have what a language model was shown, see `spelled`."""
_CODES = {"<f8": "d", "<f4": "f", "<i8": "q", "<i4": "i", "<u2": "H", "|u1": "B", "|i1": "b"}


@dataclass(frozen=True, slots=True)
class Array:
    """Numbers as they travelled: element type and shape as numpy writes them."""

    element_type: str
    shape: tuple[int, ...]
    content: bytes

    def tolist(self) -> list[Any]:
        """All numbers, one behind the other."""
        return array(_CODES[self.element_type], self.content).tolist()


@dataclass(frozen=True, slots=True)
class ArrayAnswer:
    """What a model said about one sample."""

    arrays: Mapping[str, Array]
    fields: Mapping[str, Any] = field(default_factory=dict)


def array_answers(content: Mapping[str, Any], buffers: Sequence[bytes]) -> list[ArrayAnswer]:
    """The answers of a batch, from the form in which they travelled."""
    remaining, found = iter(buffers), []
    for each in content["answers"]:
        arrays = {name: Array(kind, tuple(shape), next(remaining)) for name, kind, shape in each["arrays"]}
        found.append(ArrayAnswer(arrays, each["fields"]))
    return found
