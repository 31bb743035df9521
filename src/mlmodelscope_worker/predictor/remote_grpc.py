"""The Open Inference Protocol over gRPC, for `remote`. Only `grpcio` is needed: its messages are few, and are written
and read here by hand, because generated code fits one release of protobuf and stacks bring many."""

import socket
import struct

from ..public_address import is_asked_for, lookup
from . import protobuf
from .predictor import ModelError
from .remote_address import printable
from .remote_tensors import TYPES, WORDS, Refusal, Unreachable, in_order, shaped

_SERVICE = "/inference.GRPCInferenceService/"
_MOST_BYTES = 1 << 30
_MOST_SENT = (1 << 31) - 1  # a message of protocol buffers cannot be larger
_LOOK_S = 5.0
# InferTensorContents: how the values of each field are packed. Bytes (8) are no numbers.
_CONTENTS = {1: "unsigned", 2: "signed", 3: "signed", 4: "unsigned", 5: "unsigned", 6: "f", 7: "d"}


def _pinned(address, options):
    """An address that was looked at, and the name that it is still called by."""
    try:
        family, _, _, place = lookup(address.host, address.port)[0]
    except OSError as error:
        raise ModelError("%s cannot be asked: %s" % (address.name, error))
    target = "ipv6:[%s]:%d" % place[:2] if family == socket.AF_INET6 else "ipv4:%s:%d" % place[:2]
    named = [("grpc.default_authority", address.target)]
    if address.is_encrypted:
        named.append(("grpc.ssl_target_name_override", address.host))
    return target, options + named


class Grpc(object):
    """One channel for all threads. Proxies of the environment are not used: they would see what is sent."""

    def __init__(self, address, model, version, timeout_s, headers):
        try:
            import grpc
        except ImportError:
            raise ModelError("%s needs gRPC, which this stack does not have: pip install grpcio" % address.name)

        self.name = address.name
        self._grpc = grpc
        self._timeout_s = timeout_s
        self._headers = [(name.lower(), value) for name, value in headers]
        options = [
            ("grpc.max_send_message_length", -1),
            ("grpc.max_receive_message_length", _MOST_BYTES),
            ("grpc.enable_http_proxy", 0),
        ]
        target = address.target
        if is_asked_for(address.name):
            target, options = _pinned(address, options)
        if address.is_encrypted:
            self._channel = grpc.secure_channel(target, grpc.ssl_channel_credentials(), options)
        else:
            self._channel = grpc.insecure_channel(target, options)
        self._calls = {}
        self._was_reached = False
        self._name = model
        self._model = protobuf.write(1, model) + (protobuf.write(2, version) if version else b"")

    # What the server says of itself and of the model.

    def server(self):
        said = {"extensions": []}
        try:
            for number, value in self._ask("ServerMetadata", b""):
                if number in (1, 2):
                    said["name" if number == 1 else "version"] = _decode(value)
                elif number == 3:
                    said["extensions"].append(_decode(value))
        except Refusal:
            pass  # a server need not describe itself
        return said

    def describe(self):
        said = {"versions": [], "inputs": [], "outputs": []}
        for number, value in self._ask("ModelMetadata", self._model):
            if number in (1, 3):
                said["name" if number == 1 else "platform"] = _decode(value)
            elif number == 2:
                said["versions"].append(_decode(value))
            elif number in (4, 5):
                said["inputs" if number == 4 else "outputs"].append(_tensor(value))
        return said

    def is_live(self):
        try:
            self._call("ServerLive")(b"", timeout=min(_LOOK_S, self._timeout_s), metadata=self._headers)
        except self._grpc.RpcError as error:
            codes = self._grpc.StatusCode
            return error.code() not in (codes.UNAVAILABLE, codes.DEADLINE_EXCEEDED)
        return True

    def is_ready(self):
        try:
            return any(number == 1 and value for number, value in self._ask("ModelReady", self._model))
        except Refusal as refusal:
            if refusal.status in ("UNAUTHENTICATED", "PERMISSION_DENIED"):
                raise
            return False

    def index(self):
        models = []
        try:
            for number, value in self._ask("RepositoryIndex", b""):
                if number == 1:
                    keys = {1: "name", 2: "version", 3: "state", 4: "reason"}
                    models.append({keys[n]: _decode(text) for n, text in _fields(value) if n in keys})
        except ModelError:
            return None
        return models

    def parameters(self):
        """ModelConfigResponse.config is 1, ModelConfig.parameters 14: entries of key 1 and {string_value: 1} 2."""
        found = {}
        try:
            for number, config in self._ask("ModelConfig", self._model):
                for entry in protobuf.each(config, 14) if number == 1 else ():
                    value = protobuf.each(entry, 2)
                    found[protobuf.text(entry, 1)] = protobuf.text(value[0], 1) if value else ""
        except (ModelError, protobuf.Damaged):
            return {}
        return found

    # The model repository extension.

    def load(self, config, parts, timeout_s):
        """RepositoryModelLoadRequest: model_name 2, parameters 3, of which a text is 3 and bytes are 4."""
        size = sum(part.size for part in parts)
        if size > _MOST_SENT - (1 << 20):
            raise ModelError("%d bytes of files are more than gRPC can carry; ask over http:// instead" % size)
        pieces = [protobuf.write(2, self._name)]
        if parts:
            pieces.append(protobuf.write(3, protobuf.write(1, "config") + protobuf.write(2, protobuf.write(3, config))))
        for part in parts:
            content = b"".join(part.raw())
            value = _prefix(4, len(content))
            entry = protobuf.write(1, "file:" + part.name) + _prefix(2, len(value) + len(content)) + value
            pieces += [_prefix(3, len(entry) + len(content)), entry, content]
        self._ask("RepositoryModelLoad", b"".join(pieces), timeout_s)

    def unload(self):
        self._ask("RepositoryModelUnload", protobuf.write(2, self._name))

    # Inference.

    def infer(self, inputs, tensors, outputs):
        import numpy as np

        parts = [self._model]
        for tensor, value in zip(inputs, tensors):
            sizes = b"".join(_varint(size) for size in value.shape)
            described = protobuf.write(1, tensor.name) + protobuf.write(2, WORDS[tensor.element_type])
            parts.append(protobuf.write(5, described + protobuf.write(3, sizes)))
        parts.extend(protobuf.write(6, protobuf.write(1, output.name)) for output in outputs)
        for value in tensors:
            value = np.ascontiguousarray(value)
            parts.append(_prefix(7, value.nbytes))
            if value.size:
                parts.append(value.reshape(-1).view(np.uint8).data)
        described, raw = [], []
        for number, value in self._ask("ModelInfer", b"".join(parts)):
            if number == 5:
                described.append(_tensor(value))
            elif number == 6:
                raw.append(value)
        found = {}
        for place, part in enumerate(described):
            if part["datatype"] in TYPES:
                found[part["name"]] = shaped(self._values(part, raw, place), part, self.name)
        return in_order(found, outputs, self.name)

    def _values(self, part, raw, place):
        import numpy as np

        if raw and place >= len(raw):
            raise ModelError("%s answered with fewer tensors than it names" % self.name)
        try:
            kind = TYPES[part["datatype"]]
            return np.frombuffer(raw[place], kind) if raw else np.array(part["values"], kind)
        except (ValueError, OverflowError) as error:
            raise ModelError("%s answered with no tensor for `%s`: %s" % (self.name, printable(part["name"]), error))

    # Asking.

    def _call(self, method):
        if method not in self._calls:  # without (de)serializers bytes go and come as they are
            self._calls[method] = self._channel.unary_unary(_SERVICE + method)
        return self._calls[method]

    def _ask(self, method, message, timeout_s=None):
        """The fields of the answer."""
        timeout_s = timeout_s or self._timeout_s
        try:
            answer = self._call(method)(message, timeout=timeout_s, metadata=self._headers)
        except self._grpc.RpcError as error:
            raise self._complaint(error, timeout_s)
        self._was_reached = True
        return _fields(memoryview(answer))

    def _complaint(self, error, timeout_s):
        code, details = error.code().name, printable(error.details() or "no reason given", 400)
        if code == "DEADLINE_EXCEEDED":
            return Unreachable("%s cannot be asked: no answer within %g s" % (self.name, timeout_s))
        if code == "UNAVAILABLE" and not self.is_live():  # a server that is there says this of a model that is not
            is_there = not self._was_reached and "refused" not in details.lower()
            hint = "; a port for REST has an address with http://" if is_there else ""
            return Unreachable("%s cannot be asked: %s%s" % (self.name, details, hint))
        refusal = Refusal("%s answered %s: %s" % (self.name, code, details))
        refusal.status = code
        return refusal

    def close(self):
        self._channel.close()


def _varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def _prefix(number, length):
    """What stands before bytes of that length."""
    return _varint(number << 3 | 2) + _varint(length)


def _fields(content):
    """(number, value) of a message's fields; nested messages and the like stay memory, numbers become int."""
    try:
        for field in protobuf.fields(content):
            yield field
    except protobuf.Damaged:
        raise ModelError("the server's message is broken off")


def _decode(value):
    return bytes(value).decode("utf-8", "replace") if isinstance(value, memoryview) else str(value)


def _numbers(value, form="signed"):
    """Whole numbers that may stand alone or packed; 64 bits, the highest of which may be the sign."""
    if isinstance(value, int):
        found = [value]
    else:
        found, number, shift = [], 0, 0
        for byte in value:
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                found.append(number)
                number = shift = 0
            elif shift > 63:
                raise ModelError("the server's message is broken off")
    return [number - (1 << 64) if form == "signed" and number >> 63 else number for number in found]


def _tensor(content):
    part = {"name": "", "datatype": "", "shape": [], "values": []}
    for number, value in _fields(content):
        if number in (1, 2):
            part["name" if number == 1 else "datatype"] = _decode(value)
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
    count = len(packed) // size
    return list(struct.unpack("<%d%s" % (count, form), packed[: count * size]))
