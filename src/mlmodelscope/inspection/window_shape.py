"""How large what a convolution or pooling gives is, by the words of ONNX's attributes."""

from __future__ import annotations

from collections.abc import Sequence

from mlmodelscope.model_file.network import Layer, Value

Whole = tuple[int, ...]


def numbers(layer: Layer, name: str) -> Whole | None:
    """An attribute that is a list of whole numbers."""
    value: Value | None = layer.attributes.get(name)
    if isinstance(value, int):
        return (value,)
    if isinstance(value, tuple) and all(isinstance(each, int) for each in value):
        return tuple(int(each) for each in value)
    return None


def number(layer: Layer, name: str, default: int) -> int:
    value = layer.attributes.get(name, default)
    return value if isinstance(value, int) else default


def convolved(layer: Layer, sizes: Sequence[int], kernel: Sequence[int]) -> Whole | None:
    """Sizes of the places, behind batch and channels; None where the attributes make no sense."""
    if len(kernel) != len(sizes):
        return None
    told = _window(layer, len(sizes))
    if told is None:
        return None
    strides, dilations, pads = told
    spans = [(size - 1) * dilation + 1 for size, dilation in zip(kernel, dilations, strict=True)]
    auto = layer.attributes.get("auto_pad", "NOTSET")
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        return tuple(-(-size // stride) for size, stride in zip(sizes, strides, strict=True))
    if auto == "VALID":
        pads = (0,) * (2 * len(sizes))
    found = []
    for axis, (size, span, stride) in enumerate(zip(sizes, spans, strides, strict=True)):
        room = size + pads[axis] + pads[axis + len(sizes)] - span
        if room < 0:
            return None
        steps = room // stride
        if number(layer, "ceil_mode", 0) and room % stride:
            steps += 1
            # A window that would begin in the padding behind the picture is left out.
            if steps * stride >= size + pads[axis]:
                steps -= 1
        found.append(steps + 1)
    return tuple(found)


def spread(layer: Layer, sizes: Sequence[int], kernel: Sequence[int]) -> Whole | None:
    """The same of a transposed convolution."""
    if len(kernel) != len(sizes):
        return None
    told, output = _window(layer, len(sizes)), numbers(layer, "output_shape")
    if output is not None:
        return output[-len(sizes) :]
    if told is None:
        return None
    strides, dilations, pads = told
    more = numbers(layer, "output_padding") or (0,) * len(sizes)
    if len(more) != len(sizes):
        return None
    if layer.attributes.get("auto_pad", "NOTSET") in ("SAME_UPPER", "SAME_LOWER"):
        return tuple(size * stride for size, stride in zip(sizes, strides, strict=True))
    found = [
        (size - 1) * strides[axis]
        + more[axis]
        + (kernel[axis] - 1) * dilations[axis]
        + 1
        - pads[axis]
        - pads[axis + len(sizes)]
        for axis, size in enumerate(sizes)
    ]
    return tuple(found) if min(found, default=1) > 0 else None


def _window(layer: Layer, axes: int) -> tuple[Whole, Whole, Whole] | None:
    strides = numbers(layer, "strides") or (1,) * axes
    dilations = numbers(layer, "dilations") or (1,) * axes
    pads = numbers(layer, "pads") or (0,) * (2 * axes)
    if len(strides) != axes or len(dilations) != axes or len(pads) != 2 * axes or min((*strides, *dilations)) < 1:
        return None
    return strides, dilations, pads
