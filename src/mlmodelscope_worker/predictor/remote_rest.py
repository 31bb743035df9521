"""The Open Inference Protocol over REST. Tensors travel as binary data where the server offers that, else as JSON."""

import json
import socket
import threading
from urllib.parse import quote

from ..public_address import is_asked_for
from .predictor import ModelError
from .remote_address import printable
from .remote_http import Connection, Dropped, Garbled
from .remote_tensors import WORDS, Refusal, Unreachable, in_order, listed, unpack

_MOST_BYTES = 1 << 30  # of tensors
_MOST_JSON = 1 << 28  # of tensors as JSON, which takes several times of it in memory
_MOST_WORDS = 1 << 24  # of anything else
_LOOK_S = 5.0  # how long to wait for a server that is asked whether it is there


class Rest(object):
    """Each thread has a connection of its own, kept open."""

    def __init__(self, address, model, version, encoding, timeout_s, headers):
        self.name = address.name
        self._address = address
        self._root = address.path + "/v2"
        self._repository = "%s/repository/models/%s/" % (self._root, quote(model, safe=""))
        self._model = "%s/models/%s" % (self._root, quote(model, safe=""))
        if version:
            self._model += "/versions/%s" % quote(version, safe="")
        self._timeout_s = timeout_s
        lines = ["Host: %s" % address.target] + ["%s: %s" % pair for pair in headers]
        self._headers = "".join("%s\r\n" % line for line in lines)
        self._has_credentials = any(name == "Authorization" for name, _ in headers)
        self._encoding = encoding
        self._binary = encoding == "binary"
        self._lane = threading.local()
        self._connections = []
        self._asked = (None, b"")

    # What the server says of itself and of the model.

    def server(self):
        """Name, version and extensions; a server need not tell."""
        try:
            said = self._words("GET", self._root)
        except Refusal:
            said = {}
        if self._encoding == "auto":
            extensions = said.get("extensions")
            self._binary = isinstance(extensions, list) and "binary_tensor_data" in extensions
        return said

    def describe(self):
        said = self._words("GET", self._model)
        for key in ("inputs", "outputs"):
            said[key] = listed(said, key, self.name)
        return said

    def is_live(self):
        try:
            self._ask("GET", self._root + "/health/live", timeout_s=min(_LOOK_S, self._timeout_s))
        except Unreachable:
            return False
        except Refusal:
            pass  # somebody is there
        return True

    def is_ready(self):
        try:
            self._ask("GET", self._model + "/ready")
        except Refusal as refusal:
            if refusal.status in (401, 403):
                raise
            return False
        return True

    def index(self):
        """The models that the server knows, or None where it does not tell."""
        try:
            content = self._ask("POST", self._root + "/repository/index", b"{}").content
            return listed({"models": _loads(content, self.name)}, "models", self.name)
        except ModelError:
            return None

    def parameters(self):
        """The `parameters` of the model's configuration: {name: text}."""
        try:
            said = self._words("GET", self._model + "/config").get("parameters")
        except ModelError:
            return {}
        pairs = said.items() if isinstance(said, dict) else ()
        return {name: value.get("string_value") for name, value in pairs if isinstance(value, dict)}

    # The model repository extension.

    def load(self, config, parts, timeout_s):
        """Have the model loaded, from these files where there are any."""
        if not parts:
            self._ask("POST", self._repository + "load", b"{}", timeout_s)
            return
        question = _LoadQuestion(config, parts)
        question.head = self._head("POST", self._repository + "load", question.size)
        self._exchange(question, timeout_s, _MOST_WORDS)

    def unload(self):
        self._ask("POST", self._repository + "unload", b"{}")

    # Inference.

    def infer(self, inputs, tensors, outputs):
        import numpy as np

        tensors = [np.ascontiguousarray(value) for value in tensors]
        if self._binary:
            shapes = [value.shape for value in tensors]
            asked, question = self._asked
            if asked != shapes:  # most questions are like the one before
                question = self._question(inputs, tensors, outputs)
                self._asked = (shapes, question)
            buffers = [value.reshape(-1).view(np.uint8).data for value in tensors if value.size]
            size = len(question) + sum(len(buffer) for buffer in buffers)
            kind = "application/octet-stream\r\nInference-Header-Content-Length: %d" % len(question)
            pieces = [self._head("POST", self._model + "/infer", size, kind), question] + buffers
        else:
            question = self._question(inputs, tensors, outputs)
            pieces = [self._head("POST", self._model + "/infer", len(question)), question]
        answer = self._exchange(pieces, self._timeout_s, _MOST_BYTES)
        length = answer.headers.get("inference-header-content-length", "")
        cut = int(length) if length.isdigit() and int(length) <= len(answer.content) else len(answer.content)
        if cut > _MOST_JSON:
            raise ModelError("%s answers with %d bytes of JSON, at most %d are read" % (self.name, cut, _MOST_JSON))
        said = _object(_loads(answer.content[:cut], self.name), self.name)
        return in_order(unpack(listed(said, "outputs", self.name), answer.content[cut:], self.name), outputs, self.name)

    def _question(self, inputs, tensors, outputs):
        parts = []
        for tensor, value in zip(inputs, tensors):
            part = {"name": tensor.name, "shape": list(value.shape), "datatype": WORDS[tensor.element_type]}
            if self._binary:
                part["parameters"] = {"binary_data_size": value.nbytes}
            elif tensor.element_type == "float16":
                raise ModelError("input `%s` is float16, which travels as binary data only" % tensor.name)
            else:
                part["data"] = value.ravel().tolist()
            parts.append(part)
        wanted = [{"name": output.name} for output in outputs]
        if self._binary:
            for output in wanted:
                output["parameters"] = {"binary_data": True}
        return json.dumps({"inputs": parts, "outputs": wanted}).encode("utf-8")

    # Asking.

    def _words(self, method, path):
        return _object(_loads(self._ask(method, path).content, self.name), self.name)

    def _ask(self, method, path, body=b"", timeout_s=None):
        pieces = [self._head(method, path, len(body)), body]
        return self._exchange(pieces, timeout_s or self._timeout_s, _MOST_WORDS)

    def _head(self, method, path, size, kind="application/json"):
        content = "" if method == "GET" else "Content-Type: %s\r\nContent-Length: %d\r\n" % (kind, size)
        return ("%s %s HTTP/1.1\r\n%s%s\r\n" % (method, path, self._headers, content)).encode("utf-8")

    def _exchange(self, pieces, timeout_s, most_bytes):
        import ssl  # which the workers of all other predictors, and the host, can do without

        connection = self._connection()
        was_open = connection.is_open
        try:
            try:
                answer = connection.ask(pieces, timeout_s, most_bytes)
            except (Dropped, ConnectionResetError, BrokenPipeError):
                # A server closes connections that were idle; whether this was one is seen only by using it.
                if not was_open:
                    raise
                answer = connection.ask(pieces, timeout_s, most_bytes)
        except socket.timeout:
            raise Unreachable("%s cannot be asked: no answer within %g s" % (self.name, timeout_s))
        except (ssl.SSLError, ssl.CertificateError) as error:  # before Python 3.7 the one is not the other
            reason = getattr(error, "verify_message", None) or getattr(error, "reason", None) or error
            raise Unreachable(
                "%s cannot be asked: it cannot be spoken to in private, %s" % (self.name, printable(reason))
            )
        except OSError as error:
            raise Unreachable("%s cannot be asked: %s" % (self.name, error.strerror or error))
        except Garbled as error:
            hint = "; a port for gRPC has an address with grpc://" if "HTTP" in str(error) else ""
            raise Unreachable("%s cannot be asked: %s%s" % (self.name, error, hint))
        return self._accept(answer)

    def _connection(self):
        connection = getattr(self._lane, "connection", None)
        if connection is None:
            address = self._address
            connection = self._lane.connection = Connection(
                address.host, address.port, address.is_encrypted, is_asked_for(address.name)
            )
            self._connections.append(connection)
        return connection

    def _accept(self, answer):
        if 200 <= answer.status < 300:
            return answer
        if 300 <= answer.status < 400:
            target = printable(answer.headers.get("location", "nowhere"))
            raise ModelError("%s sends us on to %s; we ask only the server that was named" % (self.name, target))
        words = "%d %s: %s" % (answer.status, printable(answer.reason), _complaint(answer.content))
        if answer.status in (401, 403):
            words += "; credentials were sent" if self._has_credentials else "; no credentials were sent"
        refusal = Refusal("%s answered %s" % (self.name, words))
        refusal.status = answer.status
        raise refusal

    def close(self):
        for connection in self._connections:
            connection.close()


class _LoadQuestion(object):
    """A load with its files, made while it is sent, because they may be large, and again if it has to be repeated."""

    head = b""

    def __init__(self, config, parts):
        names = [json.dumps("file:" + part.name).encode("ascii") for part in parts]
        self._beginning = b'{"parameters":{"config":' + json.dumps(config).encode("ascii")
        self._files = [(b"," + name + b':"', part) for name, part in zip(names, parts)]
        self.size = len(self._beginning) + sum(len(name) + part.encoded_size + 1 for name, part in self._files) + 2

    def __iter__(self):
        yield self.head + self._beginning
        for name, part in self._files:
            yield name
            for piece in part.encoded():
                yield piece
            yield b'"'
        yield b"}}"


def _loads(content, server):
    try:
        return json.loads(bytes(content).decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ModelError("%s answered with something else than JSON: %s" % (server, printable(error)))


def _object(value, server):
    if not isinstance(value, dict):
        raise ModelError("%s answered with something else than an object" % server)
    return value


def _complaint(content):
    """What the server says is wrong: its `error`, or the beginning of whatever it sent."""
    text = bytes(content[:4000]).decode("utf-8", "replace")
    try:
        said = json.loads(text)
        text = said.get("error") or said.get("detail") or text
    except (ValueError, AttributeError, RecursionError):
        pass
    return printable(text, 400) or "no reason given"
