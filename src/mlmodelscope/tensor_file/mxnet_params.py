"""Tensors from a parameters file of MXNet: a list of arrays, then their names."""

from __future__ import annotations

import struct
from math import prod

from mlmodelscope.errors import ArtifactError
from mlmodelscope.tensor_file.fault import damaged, quote
from mlmodelscope.tensor_file.tensor import ELEMENT_BYTES, Tensor

_MAGIC = 0x112
_V1, _V2, _V3 = 0xF993FAC8, 0xF993FAC9, 0xF993FACA
_MOST_ARRAYS, _MOST_AXES, _MOST_NAME_BYTES = 1 << 17, 32, 1 << 12
_ELEMENT_TYPES = {
    0: "float32",
    1: "float64",
    2: "float16",
    3: "uint8",
    4: "int32",
    5: "int8",
    6: "int64",
    7: "bool",
    12: "bfloat16",
}


def is_mxnet_params(start: bytes) -> bool:
    return start[:8] == _MAGIC.to_bytes(8, "little") and len(start) >= 24


def read_mxnet_params(data: memoryview) -> dict[str, Tensor]:
    """By name, without the `arg:` or `aux:` in front of it; auxiliary states keep their `aux:`."""
    reader = _Reader(data)
    if reader.number("Q") != _MAGIC:
        raise damaged("it does not begin as MXNet's parameters do")
    reader.number("Q")
    arrays = [_array(reader) for _ in range(reader.count(_MOST_ARRAYS))]
    names = [reader.text() for _ in range(reader.count(_MOST_ARRAYS))]
    if len(names) != len(arrays) or len(set(names)) != len(names):
        raise damaged(f"it has {len(arrays):,} arrays and {len(set(names)):,} names")
    found = {}
    for name, (element_type, shape, content) in zip(names, arrays, strict=True):
        plain = name.removeprefix("arg:")
        found[plain] = Tensor(plain, element_type, shape, content)
    return found


def _array(reader: _Reader) -> tuple[str, tuple[int, ...], memoryview]:
    version = reader.number("I")
    if version in (_V2, _V3):
        storage = reader.number("i")
        if storage != 0:
            raise ArtifactError("it has a sparse array, which is not read")
        shape = reader.shape("q")
    elif version == _V1:
        shape = reader.shape("q")
    else:  # before 2017 the number of axes came first
        if version > _MOST_AXES:
            raise damaged("an array begins with an unknown version")
        shape = tuple(reader.number("I") for _ in range(version))
    if not shape and version != _V3:
        return "float32", (0,), reader.take(0)
    reader.take(8)  # which device it was on
    kind = reader.number("i")
    if kind not in _ELEMENT_TYPES:
        raise ArtifactError(f"an array has the element type {kind}, which is not known")
    element_type = _ELEMENT_TYPES[kind]
    return element_type, shape, reader.take(prod(shape) * ELEMENT_BYTES[element_type])


class _Reader:
    def __init__(self, data: memoryview) -> None:
        self._data = data
        self._position = 0

    def take(self, size: int) -> memoryview:
        start, self._position = self._position, self._position + size
        if self._position > len(self._data):
            raise damaged(f"byte {start:,} begins something that the file does not hold to its end")
        return self._data[start : self._position]

    def number(self, form: str) -> int:
        return int(struct.unpack(f"<{form}", self.take(struct.calcsize(f"<{form}")))[0])

    def count(self, most: int) -> int:
        number = self.number("Q")
        if number > most:
            raise damaged(f"it claims {number:,} arrays")
        return number

    def shape(self, form: str) -> tuple[int, ...]:
        axes = self.number("i")
        if not -1 <= axes <= _MOST_AXES:
            raise damaged(f"an array claims {axes:,} axes")
        sizes = tuple(self.number(form) for _ in range(max(0, axes)))
        if any(not 0 <= size < 1 << 48 for size in sizes):
            raise damaged("an array has a size that is none")
        return sizes

    def text(self) -> str:
        size = self.number("Q")
        if size > _MOST_NAME_BYTES:
            raise damaged(f"a name claims {size:,} bytes")
        name = bytes(self.take(size))
        try:
            return name.decode()
        except UnicodeDecodeError as error:
            raise damaged(f"a name is not text: {quote(repr(name))}") from error
