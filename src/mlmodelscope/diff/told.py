"""What two layers of one kind were told, where both frameworks show it: stride, padding, epsilon, an axis.

Where no layer can be run alone, as in PyTorch and TensorFlow, this is what tells a wrong epsilon from a wrong weight.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mlmodelscope.diff.reading import Held
from mlmodelscope.diff.result import Fault

_KINDS: Mapping[str, str] = {
    "eps": "epsilon",
    "epsilon": "epsilon",
    "stride": "stride",
    "strides": "stride",
    "padding": "padding",
    "paddings": "padding",
    "explicit_paddings": "padding",
    "pad": "padding",
    "pads": "padding",
    "auto_pad": "padding",
    "output_padding": "padding",
    "dilation": "dilation",
    "dilations": "dilation",
    "rate": "dilation",
    "groups": "groups",
    "group": "groups",
    "kernel_size": "window",
    "kernel_shape": "window",
    "ksize": "window",
    "negative_slope": "slope or factor",
    "alpha": "slope or factor",
    "beta": "slope or factor",
    "scale": "slope or factor",
    "min_val": "activation",
    "max_val": "activation",
    "min": "activation",
    "max": "activation",
    "approximate": "activation",
    "count_include_pad": "pooling rule",
    "ceil_mode": "pooling rule",
    "dim": "axis",
    "axis": "axis",
    "dims": "order of axes",
    "perm": "order of axes",
    "shape": "reshape",
    "size": "reshape",
    "align_corners": "upsampling rule",
    "half_pixel_centers": "upsampling rule",
    "coordinate_transformation_mode": "upsampling rule",
    "mode": "upsampling rule",
    "is_causal": "mask",
    "transpose_a": "transposed weights",
    "transpose_b": "transposed weights",
    "transA": "transposed weights",
    "transB": "transposed weights",
    "data_format": "order of axes",
}
"""By what frameworks call it. What else they tell changes no number: a momentum, how an algorithm is chosen."""


def told_otherwise(mine: Held, theirs: Held) -> Fault | None:
    """None where kinds differ, or where both were told the same."""
    if not mine.kind or mine.kind != theirs.kind:
        return None
    one, other = mine.attributes, theirs.attributes
    names = [name for name in _KINDS if name in one and name in other and one[name] != other[name]]
    if not names:
        return None
    words = " and ".join(f"`{name}` is {_spelled(other[name])}, and not {_spelled(one[name])}" for name in names)
    return Fault(_KINDS[names[0]], f"in B {words}", "", f"what both sides' {mine.kind} were told")


def _spelled(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
