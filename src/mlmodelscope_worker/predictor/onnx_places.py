"""Where the weights of an ONNX model lie: inside the file, or in others of its own folder, and nowhere else.

A tensor may name a file that holds its numbers. Whoever opens the model opens that file, too, and its bytes come out as
answers; releases before 2025 follow any path.
"""

import os
import re

from . import protobuf
from .predictor import ModelError

_DEPTH = 50
"""Graphs inside graphs; no model has more than a few."""
_ALONE = re.compile("[0-9a-f]{64}$")
"""A file of the cache lies among those of everybody else."""


def refuse_outside(path):
    """ModelError where a tensor's numbers are in a file that is not the model's own."""
    try:
        data = protobuf.view(path)
    except (OSError, protobuf.Damaged):  # a folder, or empty: the framework says so in its own words
        return
    if data.obj.find(b"location") < 0:
        return
    folder = os.path.dirname(os.path.realpath(path))
    is_alone = _ALONE.search(os.path.realpath(path)) is not None
    try:
        places = set(_places(data))
    except protobuf.Damaged as error:  # a framework's own reader may be more patient, and follow what we cannot see
        raise ModelError("the ONNX file is damaged: %s" % error)
    for place in sorted(places):
        target = os.path.realpath(os.path.join(folder, place))
        is_inside = target.startswith(os.path.join(folder, "")) and not os.path.isabs(place)
        if is_alone or not is_inside or not os.path.isfile(target):
            raise ModelError(
                "the ONNX file says that numbers of it are in `%s`, which is no file of the model: refused. Publish it "
                "with its weights inside, or as an archive that holds both files" % place[:200]
            )


def _places(model):
    """Of all tensors, in whatever graph, function or attribute. ModelProto: graph is 7, training 20, functions 25."""
    for number, value in protobuf.fields(model):
        if not isinstance(value, memoryview):
            continue
        if number == 7:
            yield from _in_graph(value, _DEPTH)
        elif number == 20:  # TrainingInfoProto: initialization is 1, algorithm 2
            for part in protobuf.each(value, 1) + protobuf.each(value, 2):
                yield from _in_graph(part, _DEPTH)
        elif number == 25:  # FunctionProto: nodes are 7, attributes with defaults 11
            for node in protobuf.each(value, 7):
                yield from _in_node(node, _DEPTH)
            for attribute in protobuf.each(value, 11):
                yield from _in_attribute(attribute, _DEPTH)


def _in_graph(graph, depth):
    """GraphProto: nodes are 1, initializers 5, sparse ones 15."""
    if not depth:
        raise ModelError("the ONNX file has graphs inside graphs without end: refused")
    for number, value in protobuf.fields(graph):
        if not isinstance(value, memoryview):
            continue
        if number == 5:
            yield from _of_tensor(value)
        elif number == 15:
            yield from _of_sparse(value)
        elif number == 1:
            yield from _in_node(value, depth)


def _in_node(node, depth):
    for attribute in protobuf.each(node, 5):
        yield from _in_attribute(attribute, depth)


def _in_attribute(attribute, depth):
    """AttributeProto: a tensor is 5, a graph 6, tensors 10, graphs 11, sparse tensors 22 and 23."""
    for number, value in protobuf.fields(attribute):
        if not isinstance(value, memoryview):
            continue
        if number in (5, 10):
            yield from _of_tensor(value)
        elif number in (6, 11):
            yield from _in_graph(value, depth - 1)
        elif number in (22, 23):
            yield from _of_sparse(value)


def _of_sparse(tensor):
    """SparseTensorProto: values are 1, indices 2."""
    for part in protobuf.each(tensor, 1) + protobuf.each(tensor, 2):
        yield from _of_tensor(part)


def _of_tensor(tensor):
    """TensorProto: what lies elsewhere is 13, by keys (1) and values (2)."""
    for entry in protobuf.each(tensor, 13):
        if protobuf.text(entry, 1) == "location":
            yield protobuf.text(entry, 2)
