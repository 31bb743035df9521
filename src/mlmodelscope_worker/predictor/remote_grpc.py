"""The Open Inference Protocol over gRPC, for `remote`. Only `grpcio` is needed: its messages are few, and are written
and read here by hand, because generated code fits one release of protobuf and stacks bring many."""

import struct

from .predictor import ModelError
from .remote import TYPES, WORDS, in_order, shaped

_SERVICE = "/inference.GRPCInferenceService/"
# InferTensorContents: how the values of each field are packed. Bytes (8) are no numbers.
_CONTENTS = {1: "unsigned", 2: "signed", 3: "signed", 4: "unsigned", 5: "unsigned", 6: "f", 7: "d"}


class Grpc(object):
    def __init__(self, place, model, version, timeout_s, headers):
        import grpc

        self.name = "%s://%s" % (place.scheme, place.netloc)
        self._grpc = grpc
        self._timeout_s = timeout_s
        self._headers = [(name.lower(), value) for name, value in headers]
        unlimited = [("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1)]
        target = "%s:%d" % (place.hostname, place.port or 8001)
        if place.scheme == "grpcs":
            self._channel = grpc.secure_channel(target, grpc.ssl_channel_credentials(), unlimited)
        else:
            self._channel = grpc.insecure_channel(target, unlimited)
        self._model = _text(1, model) + (_text(2, version) if version else b"")

    def metadata(self):
        said = {"inputs": [], "outputs": []}
        for number, value in _fields(self._ask("ModelMetadata", self._model)):
            if number in (4, 5):
                said["inputs" if number == 4 else "outputs"].append(_tensor(value))
        return said

    def infer(self, inputs, tensors, outputs):
        import numpy as np

        parts = [self._model]
        for tensor, value in zip(inputs, tensors):
            sizes = b"".join(_varint(size) for size in value.shape)
            described = _text(1, tensor.name) + _text(2, WORDS[tensor.element_type]) + _bytes(3, sizes)
            parts.append(_bytes(5, described))
        parts.extend(_bytes(6, _text(1, output.name)) for output in outputs)
        for value in tensors:
            value = np.ascontiguousarray(value)
            parts.append(_varint(7 << 3 | 2) + _varint(value.nbytes))
            parts.append(value.reshape(-1).view(np.uint8).data)
        described, raw = [], []
        for number, value in _fields(self._ask("ModelInfer", b"".join(parts))):
            if number == 5:
                described.append(_tensor(value))
            elif number == 6:
                raw.append(value)
        found = {}
        for place, part in enumerate(described):
            if part["datatype"] in TYPES:
                kind = TYPES[part["datatype"]]
                if raw:
                    if place >= len(raw):
                        raise ModelError("%s answered with fewer tensors than it names" % self.name)
                    values = np.frombuffer(raw[place], kind)
                else:
                    values = np.array(part["values"], kind)
                found[part["name"]] = shaped(values, part, self.name)
        return in_order(found, outputs, self.name)

    def _ask(self, method, message):
        call = self._channel.unary_unary(_SERVICE + method)  # without (de)serializers bytes go and come as they are
        try:
            return memoryview(call(message, timeout=self._timeout_s, metadata=self._headers))
        except self._grpc.RpcError as error:
            raise ModelError("%s answered %s: %s" % (self.name, error.code().name, error.details()))

    def close(self):
        self._channel.close()


def _varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def _bytes(number, content):
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _text(number, text):
    return _bytes(number, text.encode("utf-8"))


def _read_varint(content, place):
    value = shift = 0
    while True:
        if place >= len(content) or shift > 63:
            raise ModelError("the server's message is broken off")
        byte = content[place]
        place += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, place


def _fields(content):
    """(number, value) of a message's fields; nested messages and the like stay memory, numbers become int."""
    place = 0
    while place < len(content):
        key, place = _read_varint(content, place)
        kind = key & 7
        if kind == 0:
            value, place = _read_varint(content, place)
        else:
            length = {1: 8, 5: 4}.get(kind)
            if kind == 2:
                length, place = _read_varint(content, place)
            if length is None or place + length > len(content):
                raise ModelError("the server's message is broken off")
            value, place = content[place : place + length], place + length
        yield key >> 3, value


def _numbers(value, form="signed"):
    """Whole numbers that may stand alone or packed; 64 bits, the highest of which may be the sign."""
    if isinstance(value, int):
        found = [value]
    else:
        found, place = [], 0
        while place < len(value):
            number, place = _read_varint(value, place)
            found.append(number)
    return [number - (1 << 64) if form == "signed" and number >> 63 else number for number in found]


def _tensor(content):
    part = {"name": "", "datatype": "", "shape": [], "values": []}
    for number, value in _fields(content):
        if number in (1, 2):
            part["name" if number == 1 else "datatype"] = bytes(value).decode("utf-8", "replace")
        elif number == 3:
            part["shape"] += _numbers(value)
        elif number == 5:
            for field, packed in _fields(value):
                if field in _CONTENTS:
                    part["values"] += _values(packed, _CONTENTS[field])
    return part


def _values(packed, form):
    if len(form) > 1:
        return _numbers(packed, form)
    size = struct.calcsize(form)
    return list(struct.unpack("<%d%s" % (len(packed) // size, form), packed))
