"""An ONNX file as nodes that can be run a few at a time: what each takes and gives, and models made of some of them."""

from . import protobuf

ELEMENT_TYPES = {
    1: "float32",
    2: "uint8",
    3: "int8",
    4: "uint16",
    5: "int16",
    6: "int32",
    7: "int64",
    9: "bool",
    10: "float16",
    11: "float64",
    12: "uint32",
    13: "uint64",
}
_NUMBERS = {name: number for number, name in ELEMENT_TYPES.items()}
_FLOAT, _INT, _STRING, _FLOATS, _INTS = 1, 2, 3, 6, 7
_DEPTH = 50
"""Graphs inside graphs; no model has more than a few."""


class Node(object):
    """One operator. `attributes` are those that are numbers, words or lists of numbers, by name."""

    def __init__(self, content):
        self.content = content
        self.name = protobuf.text(content, 3)
        self.kind = protobuf.text(content, 4)
        self.domain = protobuf.text(content, 7)
        self.inputs = [bytes(each).decode("utf-8", "replace") for each in protobuf.each(content, 1)]
        self.outputs = [bytes(each).decode("utf-8", "replace") for each in protobuf.each(content, 2)]
        self.wants = [name for name in self.inputs if name] + list(_wanted_inside(content, _DEPTH))
        self.attributes = {}
        for attribute in protobuf.each(content, 5):
            value = _value_of(attribute)
            if value is not None:
                self.attributes[protobuf.text(attribute, 1)] = value

    def changed(self, kind=None, inputs=None, outputs=None, **attributes):
        """A copy with another operator, other inputs or other attributes; None takes an attribute away."""
        written = []
        for name in self.inputs if inputs is None else inputs:
            written.append(protobuf.write(1, name))
        for name in self.outputs if outputs is None else outputs:
            written.append(protobuf.write(2, name))
        written += [protobuf.write(3, self.name), protobuf.write(4, kind or self.kind)]
        for attribute in protobuf.each(self.content, 5):
            if protobuf.text(attribute, 1) not in attributes:
                written.append(protobuf.write(5, attribute))
        for name in sorted(attributes):
            if attributes[name] is not None:
                written.append(protobuf.write(5, attribute_of(name, attributes[name])))
        if self.domain:
            written.append(protobuf.write(7, self.domain))
        return Node(memoryview(b"".join(written)))


def make_node(kind, inputs, outputs, **attributes):
    content = [protobuf.write(1, each) for each in inputs] + [protobuf.write(2, each) for each in outputs]
    content.append(protobuf.write(4, kind))
    content += [protobuf.write(5, attribute_of(name, attributes[name])) for name in sorted(attributes)]
    return Node(memoryview(b"".join(content)))


class Graph(object):
    """The main graph of a model file, its weights unread until a piece needs them."""

    def __init__(self, data):
        self._head, graphs = [], []
        for number, value in protobuf.fields(data):
            if number == 7:
                graphs.append(value)
            elif number == 1 and isinstance(value, int):
                self._head.append(protobuf.write(1, value))
            elif number in (8, 25):  # operator sets and functions
                self._head.append(protobuf.write(number, value))
        if not graphs:
            raise protobuf.Damaged("it has no graph")
        self.nodes, self._weights, self.inputs, self.outputs = [], {}, [], []
        for graph in graphs:
            for number, value in protobuf.fields(graph):
                if not isinstance(value, memoryview):
                    continue
                if number == 1:
                    self.nodes.append(Node(value))
                elif number == 5:
                    self._weights[protobuf.text(value, 8)] = (5, value)
                elif number == 15:
                    values = protobuf.each(value, 1)
                    self._weights[protobuf.text(values[0], 8) if values else ""] = (15, value)
                elif number == 11:
                    self.inputs.append(protobuf.text(value, 1))
                elif number == 12:
                    self.outputs.append(protobuf.text(value, 1))
        self.inputs = [name for name in self.inputs if name not in self._weights]
        self.makers = {name: node for node in self.nodes for name in node.outputs if name}

    def named(self, name):
        """The node that makes a tensor of the name, else the one that has it; None where there is no such node."""
        if name in self.makers:
            return self.makers[name]
        return next((node for node in self.nodes if node.name and node.name == name), None)

    @property
    def weights(self):
        return self._weights.keys()

    def weight(self, name):
        """A weight as an array; None where its numbers are of a kind, or in a place, that is not read here."""
        number, content = self._weights[name]
        return tensor_values(content) if number == 5 else None

    def depends_on_inputs(self):
        """The names of all tensors that are not the same for every input."""
        alive = set(self.inputs)
        for node in self.nodes:
            if alive.intersection(node.wants):
                alive.update(node.outputs)
        return alive

    def between(self, wanted, known):
        """The nodes, in order, that make a tensor of tensors that are known."""
        needed, waiting = set(), [wanted]
        while waiting:
            name = waiting.pop()
            node = self.makers.get(name)
            if name in known or node is None or id(node) in needed:
                continue
            needed.add(id(node))
            waiting += node.wants
        return [node for node in self.nodes if id(node) in needed]

    def piece(self, nodes, given, wanted, replaced=()):
        """A model of some nodes: `given` are arrays by name that it takes, `replaced` arrays in place of weights."""
        replaced = dict(replaced)
        made = {name for node in nodes for name in node.outputs}
        needed = {name for node in nodes for name in node.wants} - made - set(given)
        graph = [protobuf.write(1, node.content) for node in nodes] + [protobuf.write(2, "piece")]
        for name in sorted(needed):
            if name in replaced:
                graph.append(protobuf.write(5, tensor_of(name, replaced[name])))
            elif name in self._weights:
                graph.append(protobuf.write(*self._weights[name]))
        for name in sorted(given):
            graph.append(protobuf.write(11, _value_info(name, given[name])))
        graph += [protobuf.write(12, protobuf.write(1, name)) for name in wanted]
        return b"".join(self._head) + protobuf.write(7, b"".join(graph))


def _wanted_inside(node, depth):
    """Names that graphs inside a node may take from around it; those that they make themselves do no harm."""
    if not depth:
        raise protobuf.Damaged("it has graphs inside graphs without end")
    for attribute in protobuf.each(node, 5):
        for graph in protobuf.each(attribute, 6) + protobuf.each(attribute, 11):
            for inner in protobuf.each(graph, 1):
                for name in protobuf.each(inner, 1):
                    if len(name):
                        yield bytes(name).decode("utf-8", "replace")
                for name in _wanted_inside(inner, depth - 1):
                    yield name
            for output in protobuf.each(graph, 12):
                yield protobuf.text(output, 1)


def _value_of(attribute):
    kind = protobuf.integer(attribute, 20)
    if kind == _INT:
        return protobuf.integer(attribute, 3)
    if kind == _INTS:
        return protobuf.integers(attribute, 8)
    if kind == _STRING:
        return protobuf.text(attribute, 4)
    if kind in (_FLOAT, _FLOATS):
        import numpy as np

        found = b"".join(bytes(value) for value in protobuf.each(attribute, 2 if kind == _FLOAT else 7))
        values = [float(each) for each in np.frombuffer(found[: len(found) // 4 * 4], "<f4")]
        return (values or [0.0])[-1] if kind == _FLOAT else values
    return None


def attribute_of(name, value):
    """An attribute as bytes."""
    import struct

    written = protobuf.write(1, name)
    if isinstance(value, str):
        return written + protobuf.write(4, value) + protobuf.write(20, _STRING)
    if isinstance(value, float):
        return written + protobuf.write(2, value) + protobuf.write(20, _FLOAT)
    if isinstance(value, int):
        return written + protobuf.write(3, _unsigned(value)) + protobuf.write(20, _INT)
    if value and isinstance(value[0], float):
        packed = struct.pack("<%df" % len(value), *value)
        return written + protobuf.write(7, packed) + protobuf.write(20, _FLOATS)
    return written + b"".join(protobuf.write(8, _unsigned(each)) for each in value) + protobuf.write(20, _INTS)


def _unsigned(value):
    return value + (1 << 64) if value < 0 else value


def tensor_values(content):
    """A TensorProto as an array; None where it is not of numbers, or lies in another file."""
    import numpy as np

    shape, kind = protobuf.integers(content, 1), ELEMENT_TYPES.get(protobuf.integer(content, 2))
    if kind is None or protobuf.each(content, 13):
        return None
    count = 1
    for size in shape:
        count *= size
    raw = protobuf.each(content, 9)
    if raw:
        values = np.frombuffer(raw[-1], np.dtype(kind).newbyteorder("<"))
    elif kind in ("float32", "float64"):
        packed = b"".join(bytes(each) for each in protobuf.each(content, 4 if kind == "float32" else 10))
        values = np.frombuffer(packed, np.dtype(kind).newbyteorder("<"))
    else:
        numbers = protobuf.integers(content, {"int64": 7, "uint32": 11, "uint64": 11}.get(kind, 5))
        values = np.array(numbers, "int64")
        values = values.astype("uint16").view("float16") if kind == "float16" else values.astype(kind)
    if values.size != count:
        raise protobuf.Damaged("a weight has %d numbers for the shape %s" % (values.size, shape))
    return values.reshape(shape).astype(kind, copy=False)


def tensor_of(name, array):
    """An array as a TensorProto's bytes."""
    sizes = b"".join(protobuf.write(1, int(size)) for size in array.shape)
    content = array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
    return sizes + protobuf.write(2, _NUMBERS[array.dtype.name]) + protobuf.write(8, name) + protobuf.write(9, content)


def _value_info(name, array):
    sizes = b"".join(protobuf.write(1, protobuf.write(1, int(size))) for size in array.shape)
    kind = _NUMBERS.get(array.dtype.name, 8)  # 8 is a string
    tensor = protobuf.write(1, kind) + protobuf.write(2, sizes)
    return protobuf.write(1, name) + protobuf.write(2, protobuf.write(1, tensor))
