"""What a model file says of its inputs and outputs, for OpenCV, which does not tell.

Each reader answers with two lists of (name, element type or None, shape or None), an open size being None.
"""

import re

from . import protobuf
from .protobuf import Damaged
from .tflite_file import TfliteFile

_ONNX_TYPES = {1: "float32", 2: "uint8", 3: "int8", 6: "int32", 7: "int64", 9: "bool", 10: "float16", 11: "float64"}
_TENSORFLOW_TYPES = {1: "float32", 2: "float64", 3: "int32", 4: "uint8", 6: "int8", 9: "int64", 10: "bool"}


def of_onnx(data):
    """ModelProto.graph is 7; a graph's initializers are 5, inputs 11, outputs 12."""
    inputs, outputs, weights = [], [], set()
    for graph in protobuf.each(data, 7):
        weights.update(protobuf.text(each, 8) for each in protobuf.each(graph, 5))
        inputs += [_onnx_value(each) for each in protobuf.each(graph, 11)]
        outputs += [_onnx_value(each) for each in protobuf.each(graph, 12)]
    return [value for value in inputs if value[0] not in weights], outputs


def _onnx_value(value):
    for kind in protobuf.each(value, 2):
        for tensor in protobuf.each(kind, 1):
            shapes = protobuf.each(tensor, 2)
            sizes = [protobuf.integer(size, 1) for size in protobuf.each(shapes[0], 1)] if shapes else None
            shape = None if sizes is None else [size if size > 0 else None for size in sizes]
            return protobuf.text(value, 1), _ONNX_TYPES.get(protobuf.integer(tensor, 1)), shape
    return protobuf.text(value, 1), None, None


def of_frozen_graph(data):
    """GraphDef.node is 1: name 1, operation 2, attributes 5. Nothing says what the outputs are."""
    inputs = []
    for node in protobuf.each(data, 1):
        if protobuf.text(node, 2) == "Placeholder":
            said = {protobuf.text(each, 1): protobuf.each(each, 2) for each in protobuf.each(node, 5)}
            kind = protobuf.integer(said["dtype"][0], 6) if said.get("dtype") else 0
            shape = None
            for value in protobuf.each(said["shape"][0], 7) if said.get("shape") else ():
                if not protobuf.integer(value, 3):
                    sizes = [protobuf.integer(size, 1) for size in protobuf.each(value, 2)]
                    shape = [size if size > 0 else None for size in sizes]
            inputs.append((protobuf.text(node, 1), _TENSORFLOW_TYPES.get(kind), shape))
    return inputs, []


def of_tflite(data):
    model = TfliteFile(data)
    return model.inputs, model.outputs


def of_prototxt(data):
    """A Caffe network's inputs, as layers or, in older files, as `input` and `input_dim` or `input_shape`."""
    if len(data) > 1 << 26:
        raise Damaged("a prototxt file of more than 64 MiB is none")
    network = _parse(bytes(data).decode("utf-8", "replace"))
    inputs = []
    for layer in network.get("layer", []):
        if isinstance(layer, dict) and layer.get("type") == ["Input"]:
            shapes = [shape for said in layer.get("input_param", []) for shape in said.get("shape", [])]
            inputs += [(name, "float32", _sizes(shapes, place)) for place, name in enumerate(layer.get("top", []))]
    old, shapes = network.get("input", []), network.get("input_shape", [])
    flat = [int(size) for size in network.get("input_dim", [])]
    for place, name in enumerate(old):
        inputs.append((name, "float32", _sizes(shapes, place) if shapes else flat[4 * place : 4 * place + 4] or None))
    return inputs, []


def _sizes(shapes, place):
    if not shapes:
        return None
    return [int(size) for size in shapes[min(place, len(shapes) - 1)].get("dim", [])] or None


def _parse(text):
    """Protocol buffers as text: {name: [values and nested messages]}."""
    root = {}
    stack, name = [root], None
    for quoted, mark, word in re.findall(r'#[^\n]*|"((?:[^"\\\n]|\\.)*)"|([{}:;,])|([^\s{}:;,#"]+)', text):
        if mark == "{":
            if name is None:
                raise Damaged("it is no network of Caffe: a brace has no name")
            stack[-1].setdefault(name, []).append({})
            stack.append(stack[-1][name][-1])
            name = None
        elif mark == "}":
            stack.pop()
            if not stack or name is not None:
                raise Damaged("it is no network of Caffe: its braces do not match")
        elif (quoted or word) and name is None:
            name = word
        elif quoted or word:
            stack[-1].setdefault(name, []).append(quoted or word)
            name = None
    if len(stack) != 1:
        raise Damaged("it is cut off: a brace is not closed")
    if name is not None or not root:
        raise Damaged("it is no network of Caffe, or cut off")
    return root


READERS = {"onnx": of_onnx, "tflite": of_tflite, "frozen_graph": of_frozen_graph, "caffe": of_prototxt}
