"""The one way out for a build that is closed off: to the package index, and to nobody else.

Inside, installers are told of a proxy; what they say to it comes out here through a socket, and is passed on to the
hosts that packages come from. Build scripts may ask for others, and are refused.
"""

from __future__ import annotations

import contextlib
import select
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from mlmodelscope.provision.pip_settings import IndexSettings

_LONGEST_HEAD = 65536
_TIMEOUT_S = 60.0
_BLOCK = 65536
_FILES = {"pypi.org": "files.pythonhosted.org", "test.pypi.org": "test-files.pythonhosted.org"}
"""Where an index keeps its files, if not where its pages are."""

INSIDE = """
import os, socket, subprocess, sys, threading
def copy(source, target):
    try:
        while True:
            block = source.recv(65536)
            if not block:
                break
            target.sendall(block)
    except OSError:
        pass
    finally:
        try:
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass
def serve(listener, place):
    while True:
        inner = listener.accept()[0]
        outer = socket.socket(socket.AF_UNIX)
        outer.connect(place)
        for pair in ((inner, outer), (outer, inner)):
            threading.Thread(target=copy, args=pair, daemon=True).start()
listener = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=serve, args=(listener, sys.argv[1]), daemon=True).start()
proxy = "http://127.0.0.1:%d" % listener.getsockname()[1]
names = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
for name in ("no_proxy", "NO_PROXY"):
    os.environ.pop(name, None)
sys.exit(subprocess.call(sys.argv[2:], env=dict(os.environ, **dict.fromkeys(names, proxy))))
"""
"""Starts a command whose proxy leads to the gate; any Python runs it."""


def hosts_of(settings: IndexSettings, index_url: str | None, find_links: tuple[str, ...]) -> frozenset[str]:
    places = (*settings.indexes, *settings.find_links, *find_links, *([index_url] if index_url else []))
    hosts = {found for place in places if "://" in place and (found := urlsplit(place).hostname)}
    return frozenset(hosts | {_FILES[host] for host in hosts if host in _FILES})


class Gate:
    """Listens as long as it is open, and passes on what is for one of the hosts."""

    def __init__(self, place: Path, hosts: frozenset[str]) -> None:
        self._hosts = hosts
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(place))
        self._listener.listen()
        self.refused: list[str] = []
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def __enter__(self) -> Gate:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):  # closed
            while True:
                asking = self._listener.accept()[0]
                threading.Thread(target=self._pass, args=(asking,), daemon=True).start()

    def _pass(self, asking: socket.socket) -> None:
        with asking, contextlib.suppress(OSError, ValueError):
            asking.settimeout(_TIMEOUT_S)
            head = _read_head(asking)
            method, target, *_ = head.split(b"\r\n", 1)[0].decode("ascii").split(" ")
            address = urlsplit(f"//{target}" if method == "CONNECT" else target)
            host = address.hostname or ""
            if host not in self._hosts:
                self.refused.append(host)
                asking.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                return
            port = address.port or (443 if method == "CONNECT" else 80)
            with _reached(host, port, "https" if method == "CONNECT" else "http", head, asking) as outer:
                _exchange(asking, outer)


def _read_head(asking: socket.socket) -> bytes:
    head = b""
    while b"\r\n\r\n" not in head:
        block = asking.recv(_BLOCK)
        if not block or len(head) > _LONGEST_HEAD:
            raise ValueError("no question")
        head += block
    return head


@contextlib.contextmanager
def _reached(host: str, port: int, scheme: str, head: bytes, asking: socket.socket) -> Iterator[socket.socket]:
    """A connection to a host, through this machine's own proxy where it has one; the question is on its way."""
    from urllib.request import getproxies, proxy_bypass  # short commands need none of it

    proxy = None if proxy_bypass(host) else getproxies().get(scheme)
    address = urlsplit(proxy) if proxy else None
    where = (address.hostname or "", address.port or 80) if address else (host, port)
    with socket.create_connection(where, _TIMEOUT_S) as outer:
        if address is not None:
            outer.sendall(head)
        elif scheme == "https":
            asking.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        else:
            outer.sendall(_without_host(head))
        yield outer


def _without_host(head: bytes) -> bytes:
    """A question to a proxy names the whole address; one to the host itself its path. It ends with its answer."""
    line, _, rest = head.partition(b"\r\n")
    method, target, version = line.split(b" ")
    address = urlsplit(target.decode("ascii"))
    path = (address.path or "/") + (f"?{address.query}" if address.query else "")
    fields = [each for each in rest.split(b"\r\n") if not each.lower().startswith((b"connection:", b"proxy-"))]
    return b"\r\n".join([b" ".join((method, path.encode("ascii"), version)), b"Connection: close", *fields])


def _exchange(one: socket.socket, other: socket.socket) -> None:
    ends = {one: other, other: one}
    while True:
        ready, _, _ = select.select([*ends], [], [], _TIMEOUT_S)
        if not ready:
            return
        for end in ready:
            block = end.recv(_BLOCK)
            if not block:
                return
            ends[end].sendall(block)
