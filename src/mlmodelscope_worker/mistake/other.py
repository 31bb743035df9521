"""Mistakes that the other model's file tells: other attributes, other weights; and a layer that is left out."""

from ..predictor.onnx_graph import make_node
from .activation import ACTIVATIONS
from .mistake import Mistake

_OTHER_ATTRIBUTES = {
    "epsilon": "epsilon",
    "pads": "padding",
    "auto_pad": "padding",
    "strides": "stride",
    "dilations": "dilation",
    "group": "groups",
    "kernel_shape": "kernel size",
    "axis": "axis",
    "axes": "axis",
    "perm": "order of axes",
    "mode": "rule",
    "ceil_mode": "pooling rule",
    "count_include_pad": "pooling rule",
    "coordinate_transformation_mode": "upsampling rule",
    "nearest_mode": "upsampling rule",
    "cubic_coeff_a": "upsampling rule",
    "transA": "transposed weights",
    "transB": "transposed weights",
    "alpha": "slope or factor",
    "beta": "factor",
    "approximate": "activation",
    "keepdims": "shape",
    "output_padding": "padding",
    "size": "window",
    "bias": "normalization",
    "to": "element type",
}


_OTHER_NUMBERS = {
    "Slice": "slice",
    "Gather": "slice",
    "Split": "slice",
    "Reshape": "reshape",
    "Expand": "reshape",
    "Tile": "reshape",
    "Pad": "padding",
    "Resize": "upsampling rule",
}
"""What whole numbers among a node's inputs say."""


def as_the_other(node, other):
    """With the attributes that the other model's layer has."""
    theirs = other.get("attributes") or {}
    if other.get("kind") != node.kind:
        return
    differing = [name for name in set(theirs) | set(node.attributes) if theirs.get(name) != node.attributes.get(name)]
    for name in sorted(differing):
        words = "%s is %s here and %s there" % (name, _spell(node.attributes.get(name)), _spell(theirs.get(name)))
        yield Mistake(_kind_of(node, name), words, [node.changed(**{name: theirs.get(name)})])
    if len(differing) > 1:
        kind = _kind_of(node, sorted(differing)[0])
        words = "%s differ" % ", ".join(sorted(differing))
        yield Mistake(kind, words, [node.changed(**{name: theirs.get(name) for name in differing})])


def _kind_of(node, attribute):
    """What a difference in an attribute is called; a mode says something else in each operator."""
    if attribute == "mode" and node.kind in ("Resize", "Upsample"):
        return "upsampling rule"
    return _OTHER_ATTRIBUTES.get(attribute, attribute)


def other_weights(node, value, alive, other):
    """With the weights that the other model's layer has."""
    changed, differing, inputs = {}, [], list(node.inputs)
    for place, theirs in enumerate(other.get("weights") or ()):
        name = node.inputs[place] if place < len(node.inputs) else ""
        own = value(name) if name and name not in alive else None
        if theirs is None or own is None or own.shape != theirs.shape or own.dtype != theirs.dtype:
            continue
        if not (own == theirs).all():
            inputs[place] = "%s.theirs%d" % (node.outputs[0], place)
            changed[inputs[place]] = theirs
            differing.append("%d of the %d numbers of `%s`" % ((own != theirs).sum(), own.size, name))
    if changed:
        words = "it has other weights: %s differ" % " and ".join(differing)
        numbers = any(array.dtype.kind == "f" for array in changed.values())
        kind = "other weights" if numbers else _OTHER_NUMBERS.get(node.kind, "axis")
        if node.kind in ("Mul", "Div") and all(array.size == 1 for array in changed.values()):
            kind = "slope or factor"
        yield Mistake(kind, words, [node.changed(inputs=inputs)], changed)


def _spell(value):
    return "left out" if value is None else "%g" % value if isinstance(value, float) else str(value)


_NORMALIZATIONS = (
    "BatchNormalization",
    "LayerNormalization",
    "InstanceNormalization",
    "GroupNormalization",
    "RMSNormalization",
    "SimplifiedLayerNormalization",
    "LRN",
    "LpNormalization",
)


def left_out(node, value, alive):
    """Without the operator, where what it takes has the shape of what it gives."""
    if node.kind in ACTIVATIONS or node.kind in ("Identity", "Clip", "Add", "Sub", "Mul", "Div", "Where"):
        return
    made = value(node.outputs[0])
    for name in alive[:1]:
        taken = value(name)
        if taken is None or made is None or taken.shape != made.shape:
            continue
        kind = "missing layer"
        if node.kind in _NORMALIZATIONS:
            kind = "missing normalization"
        elif node.kind in ("Softmax", "LogSoftmax"):
            kind = "missing activation"
        yield Mistake(kind, "%s is left out" % node.kind, [make_node("Identity", [name], [node.outputs[0]])])
