"""TensorFlow's graphs: read and vetted before they are imported, and walked from inputs to outputs."""

import os
import re

from .predictor import ModelError

NO_LAYERS = frozenset(
    ["Const", "Placeholder", "PlaceholderWithDefault", "NoOp", "_Arg", "_Retval", "Assert", "_SOURCE"]
)
# Attributes that operators had not before TensorFlow 1.14 or later, and whether a value is what was done before.
_LATER = {
    "explicit_paddings": lambda value: not value.list.i,
    "half_pixel_centers": lambda value: not value.b,
    "batch_dims": lambda value: value.i == 0,
    "incompatible_shape_error": lambda value: value.b,
    "exponential_avg_factor": lambda value: value.f == 1,
    "grad_a": lambda value: not value.b,
    "grad_b": lambda value: not value.b,
}


def read_graph(tf, path):
    graph = tf.compat.v1.GraphDef()
    with open(path, "rb") as file:
        content = file.read()
    try:
        graph.ParseFromString(content)
    except Exception as error:  # protobuf's class for this has moved
        if os.path.basename(path) != "saved_model.pb":
            raise ModelError("the file is no TensorFlow graph, or only a part of one: %s" % reason_of(error))
        graph.Clear()
    if not graph.node:
        raise ModelError("the file has no graph in it; a SavedModel is given by its folder, not by its saved_model.pb")
    return graph


def reason_of(error):
    lines = [line.strip() for line in str(error).split("\n") if line.strip()]
    text = lines[0][:600] if lines else type(error).__name__
    if "not in Op<" in text or "Op type not registered" in text:
        text = re.sub(r"Op<name=(\w+);.*", r"the operator \1", text)
        text += " (a newer TensorFlow, or an add-on to it, wrote this graph)"
    return text


def imported(tf, graph_def):
    """The graph; attributes that this release does not know are dropped where they say what it does anyway."""
    for last in (False, True):
        graph = tf.Graph()
        try:
            with graph.as_default():
                tf.compat.v1.import_graph_def(graph_def, name="")
            return graph
        except ValueError as error:
            if last or "mentions attr" not in str(error):
                raise
        for node in graph_def.node:
            for name, default in _LATER.items():
                if name in node.attr and default(node.attr[name]):
                    del node.attr[name]


def find_tensor(graph, name):
    try:
        return graph.get_tensor_by_name(name if ":" in name else name + ":0")
    except (KeyError, ValueError, TypeError):
        raise ModelError("the model's graph has no tensor `%s`" % name)


def bare(name):
    return name[:-2] if name.endswith(":0") else name


def above(operations):
    """Everything that these operations need, they themselves included."""
    seen, waiting = set(), list(operations)
    while waiting:
        operation = waiting.pop()
        if operation not in seen:
            seen.add(operation)
            waiting.extend(tensor.op for tensor in operation.inputs)
            waiting.extend(operation.control_inputs)
    return seen


def _below(operations):
    seen, waiting = set(), list(operations)
    while waiting:
        operation = waiting.pop()
        if operation not in seen:
            seen.add(operation)
            waiting.extend(each for tensor in operation.outputs for each in tensor.consumers())
    return seen


def between(graph, feeds, fetches):
    """Tensors on the way from the inputs to the outputs, in the graph's order."""
    way = above(tensor.op for tensor in fetches) & _below(tensor.op for tensor in feeds)
    operations = [each for each in graph.get_operations() if each in way and each.type not in NO_LAYERS]
    return [tensor for each in operations for tensor in each.outputs if graph.is_fetchable(tensor)]


def loose_ends(graph):
    """What no other node takes and some input leads to."""
    operations = graph.get_operations()
    fed = _below(each for each in operations if each.type == "Placeholder")
    ends = [
        each
        for each in operations
        if each in fed and each.type not in NO_LAYERS and each.outputs and not any(t.consumers() for t in each.outputs)
    ]
    return [(bare(tensor.name), tensor) for each in ends for tensor in each.outputs]
