"""Of the model alone: does it run, what does it answer, is it the same twice, and after it was saved."""

import os
from collections import OrderedDict

import numpy as np

from .arrays import off
from .side import finite
from .verdict import Failed


def pass_through(side, against, tolerance):
    """Data passes through, and each input has an effect."""
    adapter, model = side.adapter, side.build()
    inputs = side.inputs()
    outputs = adapter.forward(model, inputs)
    finite("output", outputs)
    for at, tensor in enumerate(side.given["inputs"]):
        changed = list(inputs)
        changed[at] = side.inputs("other")[at]
        others = adapter.forward(model, changed)
        if all(one.shape == other.shape and np.array_equal(one, other) for one, other in zip(outputs, others)):
            raise Failed("the input `%s` has no effect on any output" % tensor["name"])
    alone = adapter.forward(model, [each[:1] for each in inputs])
    for at, (one, whole) in enumerate(zip(alone, outputs)):
        if one.shape[:1] == (1,) and whole.shape[:1] == (side.rows,) and off(one[0], whole[0]) > tolerance:
            raise Failed(
                "output %d of a sample depends on which others are in its batch: by %.3g of its largest value"
                % (at, off(one[0], whole[0]))
            )
    return "%d inputs, %d outputs; each input has an effect" % (len(inputs), len(outputs)), {}


def shapes(side, against, tolerance):
    """Shapes and element types, for a batch and for one row."""
    adapter, model = side.adapter, side.build()
    expected = side.given["outputs"]
    for rows in (side.rows, 1):
        found = adapter.forward(model, [each[:rows] for each in side.inputs()])
        if not expected:
            return "not described: %s" % ", ".join(str(list(each.shape)) for each in found), {}
        if len(found) != len(expected):
            raise Failed("the model answers with %d tensors, %d are described" % (len(found), len(expected)))
        for at, (one, wanted) in enumerate(zip(found, expected)):
            shape = [rows] + list(wanted["shape"])
            if list(one.shape) != shape:
                raise Failed("output %d has the shape %s, not %s" % (at, list(one.shape), shape))
            if wanted.get("element_type") and one.dtype.name != wanted["element_type"]:
                raise Failed("output %d holds %s, not %s" % (at, one.dtype.name, wanted["element_type"]))
    return ", ".join("%s %s" % (["batch"] + list(each.shape[1:]), each.dtype.name) for each in found), {}


def determinism(side, against, tolerance):
    """One seed is one model, and one input one answer."""
    adapter, inputs = side.adapter, side.inputs()
    first, second = side.build(), side.build()
    _same(adapter.weights(first), adapter.weights(second), "two models of one seed differ in", tolerance)
    answers = [adapter.forward(model, inputs) for model in (first, first, second)]
    for words, others in (("called twice, the model", answers[1]), ("built twice, the model", answers[2])):
        worst = max(off(one, other) for one, other in zip(answers[0], others))
        if worst > tolerance:
            raise Failed("%s answers differently: by %.3g of the largest value" % (words, worst))
    other = adapter.weights(side.build(side.seed + 1))
    drawn = [name for name, value in adapter.weights(first).items() if not np.array_equal(value, other[name])]
    return "the same twice; the seed draws %d of %d tensors of weights" % (len(drawn), len(other)), {}


def serialization(side, against, tolerance):
    """Save, load, the same."""
    adapter, inputs = side.adapter, side.inputs()
    model = _moved(adapter, side.build())
    before, weights = adapter.forward(model, inputs), adapter.weights(model)
    path = os.path.join(side.folder, "saved-model")
    adapter.save(model, path)
    loaded = adapter.load(path, side.seed)
    found = adapter.weights(loaded)
    if list(found) != list(weights) and set(found) != set(weights):
        gone = sorted(set(weights) ^ set(found))
        raise Failed("after saving and loading, `%s` is on one side only" % gone[0])
    _same(weights, found, "saving and loading changes", tolerance)
    after = adapter.forward(loaded, inputs)
    worst = max(off(one, other) for one, other in zip(before, after))
    if worst > tolerance:
        raise Failed("after saving and loading the answer differs by %.3g of its largest value" % worst)
    return "%d tensors saved and loaded, the same answer" % len(weights), {}


def _moved(adapter, model):
    """The model with weights that it was not built with: building it once more must not pass for loading it."""
    weights = adapter.weights(model)
    return adapter.with_parameters(
        model,
        {
            name: (value * 1.125 + 0.0625).astype(value.dtype)
            for name, value in weights.items()
            if value.dtype.kind == "f"
        },
    )


def _same(one, other, words, tolerance):
    for name, value in one.items():
        if name not in other or value.shape != other[name].shape or off(value, other[name]) > tolerance:
            raise Failed("%s `%s`" % (words, name))


def record_parameters(side, weights):
    return OrderedDict(
        ("parameter:" + name, np.array(value.shape, np.int64))
        for name, value in side.adapter.parameters(side.build()).items()
    )


def parameters(side, against, tolerance):
    """As many as the original has; which shapes only one of the two has."""
    own = [tuple(each.shape) for each in side.adapter.parameters(side.build()).values()]
    count = sum(int(np.prod(shape)) for shape in own)
    if against is None:
        return "%d parameters in %d tensors" % (count, len(own)), {"parameters": count}
    theirs = [tuple(int(size) for size in each) for each in against.values()]
    expected = sum(int(np.prod(shape)) for shape in theirs)
    if count != expected:
        mine, missing = _only(own, theirs), _only(theirs, own)
        raise Failed(
            "%d parameters, the original has %d%s%s"
            % (count, expected, _spelled("; only here: ", mine), _spelled("; only there: ", missing)),
            {"parameters": count, "original": expected},
        )
    return "%d parameters, as in the original" % count, {"parameters": count, "original": expected}


def _only(one, other):
    left = [tuple(sorted(each)) for each in other]
    found = []
    for shape in one:
        if tuple(sorted(shape)) in left:
            left.remove(tuple(sorted(shape)))
        else:
            found.append(shape)
    return found


def _spelled(words, found):
    return words + ", ".join(str(list(each)) for each in found[:4]) if found else ""
