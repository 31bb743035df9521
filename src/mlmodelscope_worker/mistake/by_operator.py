"""Which mistakes can be made in which operator.

A change is likely before it is strange: what explains a difference equally well comes in this order.
"""

from .activation import ACTIVATIONS, activation, bounds, erf, softmax
from .arithmetic import arithmetic, chosen
from .normalization import batch_normalization, layer_normalization, lrn, plain_epsilon
from .order import (
    blocks,
    flatten,
    gather,
    joined,
    pad,
    reshape,
    resize,
    slice_of,
    split,
    transposed,
    turned_angle,
)
from .other import as_the_other, left_out, other_weights
from .weighted import convolution, product
from .window import pooling, whole_pooling


def mistakes_of(node, value, alive, other):
    """Mistakes in a node. `value` gives arrays by name, `alive` are the inputs that are no weights, `other` is what is
    known of the other model's layer."""
    for each in as_the_other(node, other):
        yield each
    own = _BY_KIND.get(node.kind)
    if own is not None:
        for each in own(node, value, alive):
            yield each
    for each in left_out(node, value, alive):
        yield each
    for each in other_weights(node, value, alive, other):
        yield each


_BY_KIND = {
    "Conv": convolution,
    "ConvTranspose": convolution,
    "MaxPool": pooling,
    "AveragePool": pooling,
    "GlobalMaxPool": whole_pooling,
    "GlobalAveragePool": whole_pooling,
    "ReduceMean": whole_pooling,
    "ReduceMax": whole_pooling,
    "ReduceSum": whole_pooling,
    "BatchNormalization": batch_normalization,
    "LayerNormalization": layer_normalization,
    "InstanceNormalization": plain_epsilon,
    "GroupNormalization": plain_epsilon,
    "RMSNormalization": layer_normalization,
    "SimplifiedLayerNormalization": layer_normalization,
    "LRN": lrn,
    "Clip": bounds,
    "Softmax": softmax,
    "LogSoftmax": softmax,
    "Gemm": product,
    "MatMul": product,
    "Add": arithmetic,
    "Sub": arithmetic,
    "Mul": arithmetic,
    "Div": arithmetic,
    "Transpose": transposed,
    "Reshape": reshape,
    "Concat": joined,
    "Split": split,
    "Slice": slice_of,
    "Gather": gather,
    "Resize": resize,
    "Upsample": resize,
    "Pad": pad,
    "Where": chosen,
    "DepthToSpace": blocks,
    "Flatten": flatten,
    "Sin": turned_angle,
    "Cos": turned_angle,
}
_BY_KIND.update({kind: activation for kind in ACTIVATIONS})
_BY_KIND["Erf"] = erf
