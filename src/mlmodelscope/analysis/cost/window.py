"""Convolutions and poolings.

Every weight of a convolution meets every place of its output once (of its input, where it is transposed), however
many groups there are and in whichever order the weights have their axes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import prod

from mlmodelscope.model_file.graph import words

Shape = Sequence[int]

_CONVOLUTIONS = words(
    """
    conv conv1d conv2d conv3d convolution convolutiond convolution1d convolution3d cudnnconvolution
    mkldnnconvolution groupconvolution convolutiondepthwise convolutiondepthwise1d depthwiseconv2d depthwiseconv
    depthwiseconv2dnative depthwiseconvolution binaryconvolution thnnconv2d slowconv2d convdepthwise2d
    convolutionoverrideable sgconvolution sgmkldnnconv quantizedconv2d quantizedconv convbiasrelu
    """
)
_TRANSPOSED = words(
    """
    convtranspose convtranspose1d convtranspose2d convtranspose3d deconvolution deconvolutiondepthwise
    convolutionbackpropdata groupconvolutionbackpropdata slowconvtranspose2d
    """
)
_WEIGHTS_FIRST = frozenset(["conv2dbackpropinput", "transposeconv"])
"""Transposed convolutions of TensorFlow, which take what they convolve last."""
_POOLINGS = words(
    """
    maxpool averagepool avgpool lppool pool pooling maxpool1d maxpool2d maxpool3d avgpool1d avgpool2d avgpool3d
    averagepool2d l2pool2d globalaveragepool globalmaxpool globallppool adaptiveavgpool2d adaptivemaxpool2d
    maxpool2dwithindices adaptiveavgpool1d adaptiveavgpool3d adaptiveaveragepool pooling2d
    """
)

WEIGHTED = _CONVOLUTIONS | _TRANSPOSED | _WEIGHTS_FIRST


_CHANNELS_LAST = re.compile(
    r"_?(Mkl|Native|Fused|Quantized)*(Depthwise)?Conv[23]D|DepthwiseConv2dNative|CONV_2D|DEPTHWISE_CONV_2D|TRANSPOSE_CONV|Nhwc"
)
"""How TensorFlow and TensorFlow Lite spell them, which have the channels last unless told otherwise."""


def flops(name: str, inputs: Sequence[Shape], outputs: Sequence[Shape], spelled: str = "") -> int | None:
    if name in _POOLINGS:
        return prod(inputs[0])  # each element once, though windows may overlap: their size is not in the shapes
    last = _CHANNELS_LAST.match(spelled) is not None
    if name in _WEIGHTS_FIRST:
        pair = [shape for shape in inputs if len(shape) == len(outputs[0])]
        return _met(pair[1], pair[0], last, transposed=True) if len(pair) == 2 else None
    weights = _weights(inputs[1:], len(outputs[0]))
    if weights is None or name not in WEIGHTED:
        return None
    transposed = name in _TRANSPOSED
    return _met(inputs[0] if transposed else outputs[0], weights, last, transposed)


def _weights(inputs: Sequence[Shape], rank: int) -> Shape | None:
    """The first with as many axes as the output, or one more, where groups have an axis of their own; a tensor that is
    added, which has the output's own shape, comes behind it."""
    return next((shape for shape in inputs if len(shape) in (rank, rank + 1) and rank >= 3), None)


def _met(places: Shape, weights: Shape, last: bool, transposed: bool) -> int | None:
    """Two operations for each weight at each place. Which axis of the places has the channels is all that need be
    known, and weights that do not fit tell that it is not this one."""
    second = {weights[0]} | ({weights[1]} if transposed else set()) | ({weights[-1]} if last else set())
    if len(weights) > len(places):  # groups, outputs, inputs, …
        second = {weights[0] * weights[1], weights[0] * weights[2]} if transposed else {weights[0] * weights[1]}
    behind = {weights[0], weights[-1], weights[-1] * weights[-2]} | ({weights[1]} if transposed else set())
    axes = [(-1, behind), (1, second)] if last else [(1, second), (-1, behind)]
    channels = next((places[axis] for axis, sizes in axes if places[axis] in sizes), None)
    return 2 * prod(places) // channels * prod(weights) if channels else None
