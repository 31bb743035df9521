"""What the layers of a model pass on, read in turn into a folder that the host named.

A tensor is written, summed up in a few numbers, and forgotten: the host pairs layers of two models by these numbers and
reads only what it compares. They are the same in whatever order the axes are.
"""

import os

from .failure import describe_failure
from .messages import LayersRead, WeightsRead
from .predictor import ModelError, NotSupported
from .predictor.predictor import fits, spell_shape
from .scenario.load.random_tensors import shape_of

_AT_ONCE = 1 << 13
"""Numbers at a time: few enough for the cache, and for one thread of a library for sums."""
_SHARE_OF_OUTPUTS = 16
"""What part of the room is left for the outputs, which are compared where layers do not fit."""
_MOST_WEIGHT_BYTES = 1 << 30
_MOST_WORDS = (100, 16, 2)
"""Numbers of words by chance stay below the first of these; where the model has no such word, below the next."""


def read_layers(session, asked, buffers):
    """LayersRead: the tensors that went in, what each layer passed on, and what came out."""
    folder = Folder(asked.folder, asked.most_bytes)
    predictor = session.predictor
    tensors, values, notes = _fed(session, asked, buffers)
    told = [folder.keep(given.name, tensor) for given, tensor in zip(predictor.inputs, tensors)]
    layers, unread = _layers(predictor, tensors, folder, asked.most_bytes // _SHARE_OF_OUTPUTS)
    # Last: what a framework keeps of a whole run would be held while the layers are read.
    values = values if values is not None else _run(predictor, tensors)
    ends = predictor.ends()
    outputs = [
        dict(folder.keep(given.name, value), layer=ends.get(given.name, ""))
        for given, value in zip(predictor.outputs, values)
        if getattr(value, "dtype", None) is not None and value.dtype.kind in "biuf"
    ]
    return LayersRead(told, layers, outputs, notes + unread)


def _layers(predictor, tensors, folder, leaving):
    """(what is told of each layer, notes on what could not be read)."""
    layers, notes = [], []
    try:
        for passed in predictor.layers(tensors):
            layers.append(
                dict(
                    folder.keep(passed.name, passed.value, leaving),
                    kind=passed.kind,
                    layer=passed.layer,
                    takes=passed.takes,
                    attributes=passed.attributes,
                )
            )
    except NotSupported as error:
        notes.append("layers: %s" % error)
    except Exception as error:  # of whatever class a framework has
        notes.append("layers: only %d could be read: %s" % (len(layers), describe_failure(error)))
    return layers, notes


def read_weights(session, asked):
    """WeightsRead: what the layer that makes a tensor takes besides other tensors, where the model's file tells."""
    graph = session.predictor.graph()
    node = graph.named(asked.layer)
    folder, found = Folder(asked.folder, _MOST_WEIGHT_BYTES), []
    for name in node.inputs if node is not None else ():
        value = graph.weight(name) if name in graph.weights else None
        found.append(None if value is None else folder.keep(name, value))
    return WeightsRead(found)


def _fed(session, asked, buffers):
    """(tensors that the model takes, what it answers where it was asked already, notes)."""
    tensors, notes = _tensors(session, asked, buffers, _MOST_WORDS[0])
    session.predictor.check(tensors)
    if asked.random is None or all(tensor.dtype.kind == "f" for tensor in tensors):
        return tensors, None, notes
    error = None
    for most in _MOST_WORDS:  # which words a model knows shows when it runs
        tensors, notes = _tensors(session, asked, buffers, most)
        try:
            return tensors, _run(session.predictor, tensors), notes
        except ModelError as failure:
            error = error or failure
    raise error


def _run(predictor, tensors):
    try:
        return predictor.run(tensors)
    except Exception as failure:  # of whatever class a framework has
        raise ModelError("the model does not run: %s" % describe_failure(failure))


class Folder(object):
    """Where tensors are kept, as their bare numbers; not more of them than the host allowed."""

    def __init__(self, path, most_bytes):
        self._path = path
        self._left = most_bytes
        self._count = len(os.listdir(path))

    def keep(self, name, value, leaving=0):
        """What the host is told of a tensor: name, shape, element type, sums, and the file with its numbers. So many
        bytes are left for others."""
        import numpy as np

        value = np.ascontiguousarray(value).reshape(np.shape(value))
        if value.dtype.kind not in "biuf":
            raise NotSupported("`%s` holds %s, which are not numbers" % (name, value.dtype))
        if value.nbytes > self._left - leaving:
            room = max(0, self._left - leaving) / float(1 << 20)
            raise NotSupported("the layers take more room than the %.1f MiB left for them" % room)
        self._left -= value.nbytes
        file = "%06d.raw" % self._count
        self._count += 1
        with open(os.path.join(self._path, file), "wb") as target:
            target.write(memoryview(value.reshape(-1).view(np.uint8)))
        return {
            "name": name,
            "shape": list(value.shape),
            "element_type": value.dtype.name,
            "file": file,
            "sums": sums(value),
        }


def sums(value):
    """Mean, spread, mean size, least, most, share of zeros, third moment, and how many numbers are not finite."""
    import numpy as np

    flat = value.reshape(-1)
    count, bad, zeros = flat.size, 0, 0
    least, most = float("inf"), float("-inf")
    totals = np.zeros(4)
    for start in range(0, count, _AT_ONCE):  # a copy in double precision of all of it would be twice as large
        part = flat[start : start + _AT_ONCE].astype(np.float64)
        squares = part * part
        whole = float(squares.sum())
        if whole - whole != 0:  # NaN or infinite, as one number of them is
            finite = np.isfinite(part)
            bad += int(part.size - finite.sum())
            part, squares = part[finite], squares[finite]
            whole = float(squares.sum())
        if not part.size:
            continue
        zeros += part.size - int(np.count_nonzero(part))
        least, most = min(least, float(part.min())), max(most, float(part.max()))
        totals += (part.sum(), whole, np.abs(part).sum(), squares.dot(part))
    good = count - bad
    if not good:
        return [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, float(bad)]
    mean, second, size, third = (float(each) for each in totals / good)
    spread = max(0.0, second - mean * mean) ** 0.5
    return [mean, spread, size, least, most, zeros / float(good), _cube_root(third), float(bad)]


def _cube_root(value):
    return abs(value) ** (1 / 3.0) * (1 if value >= 0 else -1)


def _tensors(session, asked, buffers, most):
    """(the arrays that the model takes, notes): of samples, of files that another model was given, or by chance."""
    expected = session.predictor.inputs
    if asked.tensors:
        return _given(expected, asked.folder, asked.tensors)
    if asked.random is not None:
        return random_inputs(expected, asked.random, most), []
    notes = []
    prepared = []
    for sample in asked.samples:
        try:
            prepared.append(session.prepare(sample, buffers))
        except Exception as error:
            notes.append("a sample is left out: %s" % describe_failure(error))
    if not prepared:
        raise ModelError("none of the samples can be prepared: %s" % (notes[-1] if notes else "there are none"))
    if not hasattr(session, "stack"):
        raise ModelError("this model is asked by functions of its manifest: its layers are not read from samples")
    return [tensor.copy() for tensor in session.stack(prepared)], notes


def random_inputs(expected, wanted, words):
    """An array for each input, of a seed."""
    import numpy as np

    source = np.random.RandomState(wanted["seed"])
    found = []
    for tensor in expected:
        shape = shape_of(tensor, wanted["batch_size"], wanted["shapes"])
        kind = np.dtype(tensor.element_type or "float32")
        if kind.kind == "f":
            found.append(source.standard_normal(shape).astype(kind))
        elif kind.kind == "b":
            found.append(source.randint(0, 2, shape).astype(kind))
        else:
            most = 256 if kind.name == "uint8" else 128 if kind.itemsize == 1 else words
            found.append(source.randint(0, most, shape).astype(kind))
    return found


def _given(expected, folder, tensors):
    """What another model took, as this one takes it: by name, else by place; axes and element types made to fit."""
    import numpy as np

    if len(tensors) != len(expected):
        raise ModelError("the other model takes %d inputs, this one %d" % (len(tensors), len(expected)))
    by_name = {each["name"]: each for each in tensors}
    same = all(each.name in by_name for each in expected)
    found, notes = [], []
    for place, each in enumerate(expected):
        told = by_name[each.name] if same else tensors[place]
        (value,) = given_arrays(folder, [told])
        value = _fitted(value, each, notes)
        found.append(np.ascontiguousarray(value))
    return found, notes


def given_arrays(folder, tensors):
    """The arrays that LayersRead tells of."""
    import numpy as np

    paths = [os.path.join(folder, os.path.basename(told["file"])) for told in tensors]
    return [np.fromfile(path, told["element_type"]).reshape(told["shape"]) for path, told in zip(paths, tensors)]


def _fitted(value, expected, notes):
    if expected.element_type and value.dtype.name != expected.element_type:
        notes.append("input `%s`: %s became %s" % (expected.name, value.dtype.name, expected.element_type))
        value = value.astype(expected.element_type)
    if fits(value.shape, expected.shape):
        return value
    for axes, words in (((0, 2, 3, 1), "NCHW became NHWC"), ((0, 3, 1, 2), "NHWC became NCHW")):
        if value.ndim == 4 and fits(value.transpose(axes).shape, expected.shape):
            notes.append("input `%s`: %s" % (expected.name, words))
            return value.transpose(axes)
    if expected.shape is not None and None not in expected.shape:
        size = 1
        for each in expected.shape:
            size *= each
        if size == value.size:
            return value.reshape(expected.shape)
    if value.ndim and expected.shape and fits(value.shape[1:], expected.shape[1:]) and expected.shape[0]:
        rows = expected.shape[0]
        if rows < len(value):
            raise ModelError(
                "input `%s` takes %d rows at once, the other model got %d: ask for fewer samples"
                % (expected.name, rows, len(value))
            )
    raise ModelError(
        "input `%s` takes the shape %s, the other model's has %s"
        % (expected.name, spell_shape(expected.shape), spell_shape(value.shape))
    )
