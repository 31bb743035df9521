"""A model that somebody else serves, by the Open Inference Protocol v2 (Triton, KServe, MLServer, OpenVINO and others).

This is also how devices come in on which nothing of ours can run: FPGAs, ASICs, boards with a vendor's own server.
What is timed is the question's whole way there and back. REST needs the standard library alone; tensors travel as
binary data where the server offers that, and as JSON otherwise. gRPC needs `grpcio`.
"""

import http.client
import json
import os
import ssl
import threading
from urllib.parse import quote, urlsplit

from ..parameters import Choice, Integer, Number, Text
from .predictor import ModelError, NotSupported, Predictor, Tensor, predictor

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
_MAX_BYTES = 1 << 30


@predictor(packages=())
def remote(
    files,
    *,
    url: Text(
        "Where the server is: http://, https://, grpc:// or grpcs://, a host and a port; a path goes before /v2."
    ),
    model: Text("The model's name on that server."),
    model_version: Text("Which version of the model; the server's choice when left out.") = None,
    threads: Integer("Ignored, the server decides; here so that plans look alike.", at_least=1) = 1,
    encoding: Choice(
        "How tensors travel over REST: as binary data, as JSON, or as binary data where the server says it can.",
        "auto",
        "binary",
        "json",
    ) = "auto",
    timeout_s: Number("How long to wait for each answer.", above=0) = 60.0,
    headers: Text("Further headers, one `Name: value` a line; nothing secret, they are part of the record.") = "",
    token_variable: Text("The environment variable that holds a bearer token; only its name is recorded.") = None,
):
    """Models behind a server of the Open Inference Protocol."""
    place = _parse(url)
    extra = _headers(headers, token_variable)
    if place.scheme in ("grpc", "grpcs"):
        from .remote_grpc import Grpc

        transport = Grpc(place, model, model_version, timeout_s, extra)
    else:
        transport = Rest(place, model, model_version, encoding, timeout_s, extra)
    try:
        return Remote(transport)
    except BaseException:
        transport.close()
        raise


class Remote(Predictor):
    concurrent = True

    def __init__(self, transport):
        self._transport = transport
        said = transport.metadata()
        self.inputs = [_describe(value, "input") for value in said["inputs"]]
        # Words and other things without a fixed size may stand beside the scores; nothing here could use them.
        self.outputs = [_describe(value, "output") for value in said["outputs"] if value.get("datatype") in TYPES]
        if not self.inputs or not self.outputs:
            raise ModelError("%s does not say what the model takes and gives" % transport.name)

    def run(self, tensors):
        return self._transport.infer(self.inputs, tensors, self.outputs)

    def profile(self, tensors):
        raise NotSupported("a server does not tell what goes on inside its models")

    def intermediates(self, tensors):
        raise NotSupported("a server does not tell what goes on inside its models")

    def close(self):
        self._transport.close()


class Rest(object):
    """The protocol over HTTP. Each thread has a connection of its own, kept open; no redirection is followed."""

    def __init__(self, place, model, version, encoding, timeout_s, headers):
        self.name = "%s://%s" % (place.scheme, place.netloc)
        self._place = place
        self._path = place.path.rstrip("/") + "/v2"
        self._model_path = "%s/models/%s" % (self._path, quote(model, safe=""))
        if version:
            self._model_path += "/versions/%s" % quote(version, safe="")
        self._timeout_s = timeout_s
        self._headers = headers
        self._encoding = encoding
        self._lane = threading.local()
        self._connections = []
        self._binary = encoding == "binary"

    def metadata(self):
        if self._encoding == "auto":
            try:
                self._binary = "binary_tensor_data" in (self._ask("GET", self._path)[0].get("extensions") or ())
            except Refusal:  # a server need not describe itself
                self._binary = False
        try:
            said, _ = self._ask("GET", self._model_path)
        except Refusal as error:
            raise ModelError("%s has no such model: %s" % (self.name, error))
        return {key: _listed(said, key, self.name) for key in ("inputs", "outputs")}

    def infer(self, inputs, tensors, outputs):
        import numpy as np

        question = {"inputs": [], "outputs": [{"name": output.name} for output in outputs]}
        buffers = []
        for tensor, value in zip(inputs, tensors):
            part = {"name": tensor.name, "shape": list(value.shape), "datatype": WORDS[tensor.element_type]}
            if self._binary:
                value = np.ascontiguousarray(value)
                part["parameters"] = {"binary_data_size": value.nbytes}
                buffers.append(value.reshape(-1).view(np.uint8).data)
            elif tensor.element_type == "float16":
                raise ModelError("input `%s` is float16, which travels as binary data only" % tensor.name)
            else:
                part["data"] = value.ravel().tolist()
            question["inputs"].append(part)
        if self._binary:
            for output in question["outputs"]:
                output["parameters"] = {"binary_data": True}
        answer, rest = self._ask("POST", self._model_path + "/infer", question, buffers)
        found = _unpack(_listed(answer, "outputs", self.name), rest, self.name)
        return in_order(found, outputs, self.name)

    def _ask(self, method, path, question=None, buffers=()):
        """(JSON, bytes behind it); Refusal when the server answers with anything but 200."""
        for attempt in (1, 2):
            connection = self._connection()
            fresh = connection.sock is None
            try:
                self._send(connection, method, path, question, buffers)
                return self._receive(connection.getresponse(), method)
            except (http.client.HTTPException, OSError) as error:
                connection.close()
                # A server closes connections that were idle; whether this was one is seen only by using it.
                idle = isinstance(error, (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError))
                if attempt == 2 or fresh or not idle:
                    words = "no answer within %g s" % self._timeout_s if _is_timeout(error) else str(error)
                    raise ModelError("%s cannot be asked: %s" % (self.name, words or type(error).__name__))
            except BaseException:
                connection.close()  # half an answer may still be on its way
                raise

    def _connection(self):
        connection = getattr(self._lane, "connection", None)
        if connection is None:
            host, port = self._place.hostname, self._place.port
            if self._place.scheme == "https":
                context = ssl.create_default_context()
                connection = http.client.HTTPSConnection(host, port, timeout=self._timeout_s, context=context)
            else:
                connection = http.client.HTTPConnection(host, port, timeout=self._timeout_s)
            self._lane.connection = connection
            self._connections.append(connection)
        return connection

    def _send(self, connection, method, path, question, buffers):
        connection.putrequest(method, path, skip_accept_encoding=True)
        for name, value in self._headers:
            connection.putheader(name, value)
        if question is None:
            connection.endheaders()
            return
        content = json.dumps(question).encode("utf-8")
        if buffers:
            connection.putheader("Content-Type", "application/octet-stream")
            connection.putheader("Inference-Header-Content-Length", str(len(content)))
        else:
            connection.putheader("Content-Type", "application/json")
        connection.putheader("Content-Length", str(len(content) + sum(buffer.nbytes for buffer in buffers)))
        connection.endheaders(content)
        for buffer in buffers:
            connection.send(buffer)

    def _receive(self, response, method):
        content = _read(response, self.name)
        if 300 <= response.status < 400:
            target = response.getheader("Location", "nowhere")
            raise ModelError("%s sends us on to %s; we ask only the server that was named" % (self.name, target))
        if response.status != 200:
            words = "%d %s: %s" % (response.status, response.reason, _complaint(content))
            raise Refusal(words) if method == "GET" else ModelError("%s answered %s" % (self.name, words))
        length = response.getheader("Inference-Header-Content-Length")
        cut = int(length) if length and length.isdigit() and int(length) <= len(content) else len(content)
        try:
            answer = json.loads(bytes(content[:cut]).decode("utf-8"))
        except ValueError as error:
            raise ModelError("%s answered with something else than JSON: %s" % (self.name, error))
        if not isinstance(answer, dict):
            raise ModelError("%s answered with something else than an object" % self.name)
        return answer, content[cut:]

    def close(self):
        for connection in self._connections:
            connection.close()


class Refusal(ModelError):
    """The server answered, and the answer is no."""


def in_order(found, outputs, server):
    """The answers in the order of the model's outputs, each checked against what the server said of it."""
    answers = []
    for output in outputs:
        if output.name not in found:
            raise ModelError("%s answered without `%s`; it gave %s" % (server, output.name, ", ".join(found) or "none"))
        if found[output.name].dtype.name != output.element_type:
            words = (server, output.element_type, output.name, found[output.name].dtype.name)
            raise ModelError("%s promised %s for `%s` and gave %s" % words)
        answers.append(found[output.name])
    return answers


def shaped(values, part, server):
    """Values in the shape that the server says they have."""
    shape = part.get("shape")
    count = 1
    for size in shape if isinstance(shape, list) else ():
        if not isinstance(size, int) or size < 0:
            raise ModelError("%s gave `%s` the shape %s" % (server, part.get("name"), shape))
        count *= size
    if not isinstance(shape, list) or count != values.size:
        words = (server, values.size, part.get("name"), shape)
        raise ModelError("%s gave %d values for `%s`, whose shape it says is %s" % words)
    return values.reshape(shape)


def _unpack(parts, rest, server):
    import numpy as np

    found, offset = {}, 0
    for part in parts:
        size = (part.get("parameters") or {}).get("binary_data_size")
        kind = TYPES.get(part.get("datatype"))
        if size is not None:
            if not isinstance(size, int) or size < 0 or offset + size > len(rest):
                raise ModelError("%s answered with less binary data than it says" % server)
            content, offset = rest[offset : offset + size], offset + size
        if kind is None:
            continue
        try:
            values = np.frombuffer(content, kind) if size is not None else np.asarray(part["data"], kind).reshape(-1)
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError("%s answered with no tensor for `%s`: %s" % (server, part.get("name"), error))
        found[part.get("name")] = shaped(values, part, server)
    return found


def _describe(value, what):
    name, kind, shape = value.get("name"), value.get("datatype"), value.get("shape")
    if not isinstance(name, str):
        raise ModelError("the server names no %s" % what)
    if kind not in TYPES:
        raise ModelError("%s `%s` is %s, which is not a tensor of numbers" % (what, name, kind))
    if not isinstance(shape, list):
        return Tensor(name, TYPES[kind], None)
    return Tensor(name, TYPES[kind], [int(size) if int(size) >= 0 else None for size in shape])


def _listed(said, key, server):
    parts = said.get(key) or []
    if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
        raise ModelError("%s says something else than a list of %s" % (server, key))
    return parts


def _read(response, server):
    """The whole answer in one piece of memory, which the tensors will then share."""
    length = response.length
    if length is not None and length > _MAX_BYTES:
        raise ModelError("%s answers with %d bytes; at most %d are read" % (server, length, _MAX_BYTES))
    if length is None:  # it comes in chunks
        content = bytearray()
        for piece in iter(lambda: response.read(1 << 20), b""):
            content += piece
            if len(content) > _MAX_BYTES:
                raise ModelError("%s answers with more than %d bytes" % (server, _MAX_BYTES))
        return memoryview(content)
    content, place = memoryview(bytearray(length)), 0
    while place < length:
        count = response.readinto(content[place:])
        if not count:
            raise ModelError("%s broke off in the middle of its answer" % server)
        place += count
    return content


def _complaint(content):
    """What the server says is wrong: its `error`, or the beginning of whatever it sent."""
    text = bytes(content[:2000]).decode("utf-8", "replace")
    try:
        said = json.loads(text)
        text = said.get("error") or said.get("detail") or text
    except (ValueError, AttributeError):
        pass
    return " ".join(str(text).split())[:400] or "no reason given"


def _parse(url):
    place = urlsplit(url)
    try:
        port = place.port
    except ValueError:
        port = -1
    if place.scheme not in ("http", "https", "grpc", "grpcs") or not place.hostname or port == -1:
        raise ModelError("`%s` is no address of a server; expected something like http://host:8000" % url)
    if place.username or place.password:
        raise ModelError("the address holds a user or password, which would be recorded; use `token_variable`")
    if place.query or place.fragment:
        raise ModelError("`%s` has a query or fragment; expected something like http://host:8000" % url)
    return place


def _headers(text, token_variable):
    found = []
    for line in text.splitlines():
        name, colon, value = line.partition(":")
        if line.strip():
            if not colon or not name.strip() or not all(c.isalnum() or c in "-_." for c in name.strip()):
                raise ModelError("`%s` is no header; expected `Name: value`" % line)
            found.append((name.strip(), value.strip()))
    if token_variable:
        token = os.environ.get(token_variable)
        if not token:
            raise ModelError("the environment variable %s, which should hold the token, is not set" % token_variable)
        found.append(("Authorization", "Bearer %s" % token))
    return found


def _is_timeout(error):
    import socket

    return isinstance(error, socket.timeout)
