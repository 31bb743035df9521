"""A real HTTP server on the loopback interface that answers as a test tells it to.

    server.at("/net.onnx", cut(BODY, after=1000), whole(BODY))

The first request for a path gets the first answer, the next one the next; the last answer repeats.
"""

import socket
import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

Answer = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.server.site.answer(self)  # type: ignore[attr-defined]

    def log_message(self, *_: object) -> None:
        """Nothing: pytest's output is for pytest."""

    def send(self, status: int, body: bytes = b"", **headers: str | None) -> None:
        self.send_response(status)
        for name, value in {"Content_Length": str(len(body)), **headers}.items():
            if value is not None:
                self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def hang_up(self) -> None:
        self.wfile.flush()
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)


@dataclass
class Request:
    path: str
    headers: Message


class Server:
    def __init__(self, certificate: Path | None = None) -> None:
        self.scheme = "https" if certificate else "http"
        self.asked: list[Request] = []
        self._routes: dict[str, list[Answer]] = {}
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.site = self  # type: ignore[attr-defined]
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self._http.socket = context.wrap_socket(self._http.socket, server_side=True)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,))
        self._thread.start()

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self._http.server_port}"

    def at(self, path: str, *answers: Answer) -> str:
        """Say what a path answers; its URL."""
        self._routes[path] = list(answers)
        return self.url(path)

    def url(self, path: str, credentials: str = "") -> str:
        return f"{self.scheme}://{credentials}{self.host}{path}"

    @property
    def paths(self) -> list[str]:
        return [request.path for request in self.asked]

    @property
    def ranges(self) -> list[str | None]:
        return [request.headers.get("Range") for request in self.asked]

    def answer(self, handler: Handler) -> None:
        with self._lock:
            self.asked.append(Request(handler.path, handler.headers))
            answers = self._routes.get(handler.path) or self._routes.get(urlsplit(handler.path).path) or [status(404)]
            chosen = answers.pop(0) if len(answers) > 1 else answers[0]
        chosen(handler)

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


def whole(body: bytes, etag: str | None = '"1"', kind: str = "application/octet-stream") -> Answer:
    """An honest server: ranges, validators, and `If-Range`."""

    def answer(handler: Handler) -> None:
        asked, version = handler.headers.get("Range"), handler.headers.get("If-Range")
        common = {"ETag": etag, "Content_Type": kind}
        if asked is None or (version is not None and version != etag):
            return handler.send(200, body, **common)
        start = int(asked.removeprefix("bytes=").removesuffix("-"))
        if start >= len(body):
            return handler.send(416, Content_Range=f"bytes */{len(body)}")
        handler.send(206, body[start:], Content_Range=f"bytes {start}-{len(body) - 1}/{len(body)}", **common)

    return answer


def cut(body: bytes, after: int, etag: str | None = '"1"') -> Answer:
    """The connection breaks in the middle."""

    def answer(handler: Handler) -> None:
        handler.send(200, body[:after], Content_Length=str(len(body)), ETag=etag)
        handler.hang_up()

    return answer


def held(body: bytes, after: int, gate: threading.Event) -> Answer:
    """Part of the body, and the rest when the gate opens, if anybody is still there."""

    def answer(handler: Handler) -> None:
        handler.send(200, body[:after], Content_Length=str(len(body)), ETag='"1"')
        handler.wfile.flush()
        gate.wait(300)
        try:
            handler.wfile.write(body[after:])
        except OSError:
            handler.close_connection = True

    return answer


def status(code: int, body: bytes = b"", **headers: str | None) -> Answer:
    return lambda handler: handler.send(code, body, **headers)


def redirect(url: str, code: int = 302) -> Answer:
    return status(code, Location=url)


def guarded(answer: Answer, authorization: str) -> Answer:
    """Only for those who send this header."""

    def ask(handler: Handler) -> None:
        (answer if handler.headers.get("Authorization") == authorization else status(401))(handler)

    return ask
