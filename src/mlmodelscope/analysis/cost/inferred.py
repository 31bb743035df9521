"""Shapes of outputs, for a framework that tells those of inputs alone, as PyTorch's profiler does.

They follow from the inputs; of a convolution, whose stride nobody tells, from the operations that the framework counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from mlmodelscope.analysis.cost import element_wise, matrix, window

Shape = Sequence[int]


def outputs(name: str, inputs: Sequence[Shape], flops: int | None) -> list[Shape]:
    """Nothing where it cannot be told."""
    if not inputs:
        return []
    if name in element_wise.KEEPS_SHAPE:
        return [max(inputs, key=prod)]  # whatever else there is, a weight or a number, is spread over the largest
    if name in matrix.WEIGHTED:
        return matrix.outputs(name, inputs)
    if name in window.WEIGHTED and flops:
        return _convolved(inputs, flops)
    return []


def _convolved(inputs: Sequence[Shape], flops: int) -> list[Shape]:
    """Channels, and all places of all samples in one axis: every weight is used twice at each place."""
    weights = next((shape for shape in inputs[1:] if len(shape) == len(inputs[0]) >= 3), None)
    if weights is None or flops % (2 * prod(weights)):
        return []
    places = flops // (2 * prod(weights))
    return [[1, weights[0], places, *[1] * (len(weights) - 3)]]
