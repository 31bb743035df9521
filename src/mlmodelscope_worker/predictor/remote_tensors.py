"""Tensors in the Open Inference Protocol's words, and what a server says of them, believed only where it fits."""

from .predictor import ModelError, Tensor
from .remote_address import printable

TYPES = {
    "BOOL": "bool",
    "UINT8": "uint8",
    "UINT16": "uint16",
    "UINT32": "uint32",
    "UINT64": "uint64",
    "INT8": "int8",
    "INT16": "int16",
    "INT32": "int32",
    "INT64": "int64",
    "FP16": "float16",
    "FP32": "float32",
    "FP64": "float64",
}
WORDS = {ours: theirs for theirs, ours in TYPES.items()}
_MOST_AXES = 32  # what every numpy takes


class Refusal(ModelError):
    """The server answered, and the answer is no."""


class Unreachable(ModelError):
    """No answer came: there is no server, it does not speak the protocol, or it took too long."""


def describe(parts, what):
    """What the model takes or gives, as Tensors. Outputs of words, which nothing here could use, are left out."""
    found = []
    for part in parts:
        name, kind, shape = part.get("name"), part.get("datatype"), part.get("shape")
        if not isinstance(name, str) or not name:
            raise ModelError("the server has an %s without a name" % what)
        if kind in TYPES:
            found.append(Tensor(name, TYPES[kind], None if shape is None else _sizes(shape, name)))
        elif what == "input":
            words = (what, printable(name), printable(kind))
            raise ModelError("%s `%s` is %s, which is not a tensor of numbers" % words)
    return found


def _sizes(shape, name):
    if not isinstance(shape, list) or len(shape) > _MOST_AXES or not all(_is_whole(size) for size in shape):
        raise ModelError("the server says that `%s` has the shape %s" % (printable(name), printable(shape)))
    return [size if size >= 0 else None for size in shape]


def _is_whole(value):
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 63


def listed(said, key, server):
    """A list of objects."""
    parts = said.get(key) or []
    if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
        raise ModelError("%s says something else than a list of %s" % (server, key))
    return parts


def unpack(parts, rest, server):
    """{name: array} of an answer over REST: values in its JSON, or binary data behind it."""
    import numpy as np

    found, offset = {}, 0
    for part in parts:
        parameters = part.get("parameters")
        size = parameters.get("binary_data_size") if isinstance(parameters, dict) else None
        kind = TYPES.get(part.get("datatype")) if isinstance(part.get("datatype"), str) else None
        if size is not None:
            if not _is_whole(size) or size < 0 or offset + size > len(rest):
                raise ModelError("%s answered with less binary data than it says" % server)
            content, offset = rest[offset : offset + size], offset + size
        if kind is None:
            continue
        try:
            values = np.frombuffer(content, kind) if size is not None else np.asarray(part["data"], kind).reshape(-1)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise ModelError("%s answered with no tensor for `%s`: %s" % (server, printable(part.get("name")), error))
        found[str(part.get("name"))] = shaped(values, part, server)
    return found


def shaped(values, part, server):
    """Values in the shape that the server says they have."""
    name, shape = printable(part.get("name")), part.get("shape")
    if not isinstance(shape, list) or len(shape) > _MOST_AXES or not all(_is_whole(n) and n >= 0 for n in shape):
        raise ModelError("%s gave `%s` the shape %s" % (server, name, printable(shape)))
    count = 1
    for size in shape:
        count *= size
    if count != values.size:
        words = (server, values.size, name, printable(shape))
        raise ModelError("%s gave %d values for `%s`, whose shape it says is %s" % words)
    return values.reshape(shape)


def in_order(found, outputs, server):
    """The answers in the order of the model's outputs, each checked against what the server said of it."""
    answers = []
    for output in outputs:
        if output.name not in found:
            gave = printable(", ".join(found)) or "none"
            raise ModelError("%s answered without `%s`; it gave %s" % (server, output.name, gave))
        if found[output.name].dtype.name != output.element_type:
            words = (server, output.element_type, output.name, found[output.name].dtype.name)
            raise ModelError("%s promised %s for `%s` and gave %s" % words)
        answers.append(found[output.name])
    return answers
