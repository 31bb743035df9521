"""A TensorFlow Lite file read by hand, every offset checked before it is followed.

TensorFlow Lite and OpenCV follow them unchecked and take the process with them when the file is damaged; and OpenCV
does not tell what a model's inputs are.
"""

import struct

from .protobuf import Damaged

ELEMENT_TYPES = {
    0: "float32",
    1: "float16",
    2: "int32",
    3: "uint8",
    4: "int64",
    6: "bool",
    7: "int16",
    9: "int8",
    10: "float64",
    12: "uint64",
    15: "uint32",
    16: "uint16",
}
FULLY_CONNECTED = 9
_MOST = 1 << 20  # tables and numbers in one list


class TfliteFile(object):
    """Tensors as (name, element type or None, shape with None for open sizes) and operators of the main graph."""

    def __init__(self, data):
        if bytes(data[4:8]) != b"TFL3":
            raise Damaged("it is no TensorFlow Lite file: the mark TFL3 is missing")
        model = _Table(data, _read(data, 0, "<I"))
        codes = [max(code.number(0, "<b"), code.number(3, "<i")) for code in model.tables(1)]
        buffers = model.tables(4)
        graphs = model.tables(2)
        if not graphs:
            raise Damaged("it has no graph")
        for buffer in buffers:
            buffer.vector(0, 1)
            if buffer.number(1, "<Q") + buffer.number(2, "<Q") > len(data):
                raise Damaged("weights reach beyond the end of the file")
        for entry in model.tables(6) + model.tables(7):  # metadata and signatures
            entry.text(0)
        for graph in graphs[1:]:
            _Graph(graph, codes, len(buffers))
        main = _Graph(graphs[0], codes, len(buffers))
        self.tensors = main.tensors
        self.inputs = [main.tensors[index] for index in main.inputs]
        self.outputs = [main.tensors[index] for index in main.outputs]
        self.operators = main.operators


class _Graph(object):
    def __init__(self, table, codes, buffers):
        self.tensors = [_describe(tensor, buffers) for tensor in table.tables(0)]
        self.inputs = self._known(table.numbers(1, "<i"))
        self.outputs = self._known(table.numbers(2, "<i"))
        self.operators = []
        for operator in table.tables(3):
            code = operator.number(0, "<I")
            if code >= len(codes):
                raise Damaged("it names operator code %d and has %d" % (code, len(codes)))
            inputs = self._known(operator.numbers(1, "<i"), -1)  # -1 stands for an input that is left out
            self.operators.append((codes[code], inputs, self._known(operator.numbers(2, "<i"))))
            operator.table(4)
            operator.vector(5, 1)

    def _known(self, indices, least=0):
        for index in indices:
            if not least <= index < len(self.tensors):
                raise Damaged("it names tensor %d and has %d" % (index, len(self.tensors)))
        return indices


def _describe(tensor, buffers):
    if tensor.number(2, "<I") >= max(buffers, 1):
        raise Damaged("a tensor names buffer %d and there are %d" % (tensor.number(2, "<I"), buffers))
    sizes, signature = tensor.numbers(0, "<i"), tensor.numbers(7, "<i")
    shape = [size if size >= 0 else None for size in (signature if len(signature) == len(sizes) else sizes)]
    quantisation = tensor.table(4)
    if quantisation is not None:
        for number, width in ((0, 4), (1, 4), (2, 4), (3, 8)):
            quantisation.vector(number, width)
    return tensor.text(3), ELEMENT_TYPES.get(tensor.number(1, "<b")), shape


class _Table(object):
    def __init__(self, data, position):
        self._data = data
        self._position = position
        self._vtable = position - _read(data, position, "<i")
        self._size = _read(data, self._vtable, "<H")
        if self._size < 4 or self._size % 2:
            raise Damaged("the table at byte %d is malformed" % position)
        _inside(data, self._vtable, self._size)
        _inside(data, position, _read(data, self._vtable + 2, "<H"))

    def number(self, number, form, default=0):
        place = self._place(number)
        return default if place is None else _read(self._data, place, form)

    def numbers(self, number, form):
        place, count = self.vector(number, struct.calcsize(form))
        if count > _MOST:
            raise Damaged("a list has %d numbers" % count)
        return list(struct.unpack_from("<%d%s" % (count, form[1:]), self._data, place))

    def text(self, number):
        place, count = self.vector(number, 1)
        return bytes(self._data[place : place + count]).decode("utf-8", "replace")

    def table(self, number):
        place = self._follow(number)
        return None if place is None else _Table(self._data, place)

    def tables(self, number):
        place, count = self.vector(number, 4)
        if count > _MOST:
            raise Damaged("a list has %d tables" % count)
        slots = range(place, place + 4 * count, 4)
        return [_Table(self._data, slot + _read(self._data, slot, "<I")) for slot in slots]

    def vector(self, number, width):
        """(where its elements start, how many they are)"""
        place = self._follow(number)
        if place is None:
            return 0, 0
        count = _read(self._data, place, "<I")
        _inside(self._data, place + 4, count * width)
        return place + 4, count

    def _follow(self, number):
        place = self._place(number)
        return None if place is None else place + _read(self._data, place, "<I")

    def _place(self, number):
        slot = 4 + 2 * number
        offset = _read(self._data, self._vtable + slot, "<H") if slot + 2 <= self._size else 0
        return self._position + offset if offset else None


def _read(data, place, form):
    _inside(data, place, struct.calcsize(form))
    return struct.unpack_from(form, data, place)[0]


def _inside(data, place, size):
    if place < 0 or place + size > len(data):
        raise Damaged("an offset points outside the file, which may be cut off")
