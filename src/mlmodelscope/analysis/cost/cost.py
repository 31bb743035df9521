"""Operations and bytes of one layer.

A multiplication with the addition that follows it is two operations. What a framework fused into a layer without saying
so, such as a bias or an activation, is not counted. Bytes are those of inputs, weights and outputs, each once: a layer
cannot move less, so that the time which they take at full speed is a limit that no implementation goes below, unless
its tensors are in a cache.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from mlmodelscope.analysis.cost import element_wise, inferred, matrix, recurrent, window

Shape = Sequence[int]

_BITS = {
    **{"bool": 8, "int4": 4, "uint4": 4, "float8e4m3fn": 8, "float8e5m2": 8, "bfloat16": 16, "complex64": 64},
    **{f"{kind}{bits}": bits for kind in ("int", "uint") for bits in (8, 16, 32, 64)},
    **{f"float{bits}": bits for bits in (16, 32, 64)},
}
# Words around an operator's name that change nothing about its shapes.
_PREFIXES = re.compile(
    r"^(com\.microsoft\.|ai\.onnx\.|aten::_?|onednn::|mkldnn::|qlinear|_mkl(native)?|_?fused(?!matmul)|nhwc|delegate/)"
)
_SUFFIXES = re.compile(r"(integer|v\d+|_nchwc|native)$")


@dataclass(frozen=True)
class Cost:
    flops: int | None
    """Operations on numbers, of whatever type the numbers are."""
    moved_bytes: int | None
    """Of all that it reads and writes, each once."""


def layer_cost(kind: str, said: Mapping[str, Any]) -> Cost:
    """`said` are the attributes of a layer's span: inputs, outputs, element_type, flops, moved_bytes."""
    inputs, outputs = _shapes(said.get("inputs")), _shapes(said.get("outputs"))
    name = plain_name(said.get("operator") or kind)  # a kernel's own name, and what it stands for in the model
    flops = said.get("flops")
    if inputs and not outputs:
        outputs = inferred.outputs(name, inputs, flops)
    if flops is None and inputs and outputs:
        flops = _flops(name, inputs, outputs, kind if "operator" not in said else str(said["operator"]))
    if flops is None and (name in window.WEIGHTED or name in matrix.WEIGHTED or name in recurrent.WEIGHTED):
        return Cost(None, None)  # its weights are not among what was told, so that the bytes are not all there either
    return Cost(None if flops is None else int(flops), _moved(name, inputs, outputs, said))


def plain_name(kind: str) -> str:
    """`aten::conv2d`, `_FusedConv2D`, `QLinearConv` and `Conv` without what sets them apart."""
    name = kind.partition("(")[0].strip().lower().replace(" ", "")
    if name.startswith("aten."):  # `aten.conv2d.default`
        name = name.split(".")[1].lstrip("_")
    for _ in range(3):
        shorter = _SUFFIXES.sub("", _PREFIXES.sub("", name))
        if shorter == name or not shorter:
            break
        name = shorter
    return name.replace("_", "").replace("-", "")


def _flops(name: str, inputs: Sequence[Shape], outputs: Sequence[Shape], spelled: str) -> int | None:
    found = window.flops(name, inputs, outputs, spelled)
    for family in (matrix.flops, recurrent.flops, element_wise.flops):
        found = family(name, inputs, outputs) if found is None else found
    return found


def _moved(name: str, inputs: Sequence[Shape], outputs: Sequence[Shape], said: Mapping[str, Any]) -> int | None:
    if name in element_wise.VIEWS:
        return 0
    size = _BITS.get(str(said.get("element_type")))
    if name in element_wise.PICKS:  # of a table only the rows that are asked for
        return sum(map(prod, outputs)) * 2 * size // 8 if size and outputs else None
    told = said.get("moved_bytes")
    if told is not None:
        return int(told)
    if not inputs or not outputs or size is None:
        return None
    return sum(map(prod, (*inputs, *outputs))) * size // 8


def _shapes(said: Any) -> list[Shape]:
    """Shapes that are whole; a size that is left open makes all of them useless."""
    shapes = [list(shape) for shape in said or ()]
    known = all(isinstance(size, int) and size >= 0 for shape in shapes for size in shape)
    return shapes if known else []  # type: ignore[return-value]
