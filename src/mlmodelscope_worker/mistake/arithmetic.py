"""Mistakes of sums and products: a branch or a mask that is missing, other constants."""

from ..predictor.onnx_graph import make_node
from .mistake import EPSILONS, Mistake, with_array


def arithmetic(node, value, alive):
    others = {"Add": ("Sub", "Mul"), "Sub": ("Add",), "Mul": ("Div", "Add"), "Div": ("Mul",)}
    for other in others[node.kind]:
        words = "it is %s, and not %s" % (other, node.kind)
        yield Mistake("arithmetic", words, [node.changed(kind=other)])
    own = node.outputs[0]
    for place in (0, 1):
        left, kept = node.inputs[place], node.inputs[1 - place]
        array, rest, whole = value(left), value(kept), value(own)
        if array is None or rest is None or whole is None or rest.shape != whole.shape:
            continue
        if left not in alive:
            kind = {"Add": "missing bias", "Sub": "missing bias"}.get(node.kind, "missing scale")
            words = "`%s` is left out" % left
        elif node.kind in ("Add", "Sub"):
            kind, words = "missing branch", "what `%s` brings is left out" % left
        else:
            kind, words = "missing scale", "the factor `%s` is left out" % left
        if _looks_like_a_mask(array):
            kind = "mask"
        yield Mistake(kind, words, [make_node("Identity", [kept], [own])])
    for each in _other_constants(node, value, alive):
        yield each
    if node.kind in ("Sub", "Div"):
        yield Mistake("arithmetic", "its inputs are swapped", [node.changed(inputs=node.inputs[::-1])])


def _looks_like_a_mask(array):
    import numpy as np

    if array.dtype.kind == "b":
        return True
    low = np.where(np.isfinite(array), array, -1e9) if array.dtype.kind == "f" else array
    return bool(array.size > 1 and low.min() <= -1e3 and low.max() == 0)


def _other_constants(node, value, alive):
    """A number or a vector that is another one."""
    import numpy as np

    for place in (0, 1):
        name = node.inputs[place]
        array = value(name) if name not in alive else None
        if array is None or array.dtype.kind != "f":
            continue
        other = node.outputs[0] + ".other"
        if _looks_like_a_mask(array):
            turned = np.swapaxes(array, -1, -2) if array.ndim > 1 and array.shape[-1] == array.shape[-2] else None
            low = array.min()
            if turned is not None:
                yield with_array(node, place, turned.copy(), other, "mask", "its mask is transposed: it hides the past")
                for step in (-1, 1):
                    moved = np.roll(array, step, -1)
                    yield with_array(node, place, moved, other, "mask", "its mask is off by one")
                    ones = np.ones(array.shape[-2:])
                    moved = np.where(np.tril(ones, step) > 0, 0, low).astype(array.dtype)
                    moved = np.broadcast_to(moved, array.shape).copy()
                    yield with_array(node, place, moved, other, "mask", "its mask is off by one")
            inverted = np.where(array == 0, low, 0).astype(array.dtype)
            yield with_array(node, place, inverted, other, "mask", "its mask is turned around")
        elif array.size == 1 and float(array.reshape(-1)[0]) > 0:
            number = float(array.reshape(-1)[0])
            for words, changed in (
                ("squared", number**2),
                ("its root", number**0.5),
                ("inverted", 1 / number),
                ("one", 1.0),
            ):
                if changed != number:
                    again = np.full_like(array, changed)
                    said = "its factor %g is %s (%g)" % (number, words, changed)
                    yield with_array(node, place, again, other, "slope or factor", said)
            for epsilon in EPSILONS if node.kind == "Add" and number < 0.1 else ():
                said = "its epsilon is %g, and not %g" % (epsilon, number)
                yield with_array(node, place, np.full_like(array, epsilon), other, "epsilon", said)
        elif array.size > 1:
            for axis in range(array.ndim):
                if array.shape[axis] > 1:
                    turned = np.flip(array, axis)
                    yield with_array(
                        node, place, turned.copy(), other, "swapped channels", "its numbers are in another order"
                    )
            yield with_array(node, place, 2 * array, other, "bias", "it is added twice")


def chosen(node, value, alive):
    condition, yes, no = node.inputs
    yield Mistake("mask", "its mask is turned around", [node.changed(inputs=[condition, no, yes])])
    made = value(node.outputs[0])
    for name in (yes, no):
        array = value(name)
        if array is not None and made is not None and array.shape == made.shape:
            yield Mistake("mask", "it has no mask", [make_node("Identity", [name], [node.outputs[0]])])
