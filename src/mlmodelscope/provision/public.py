"""Addresses that a stranger's URL may lead to: only what everybody can reach anyway.

Whoever asks from another machine must not make ours speak to what only ours can reach: its own services, its network's,
the metadata service of the cloud that it runs in. The name is looked up here, every address is checked, and the
connection goes to the address that was checked, so that a name cannot mean something else a moment later.
"""

from __future__ import annotations

import http.client
import socket
import urllib.request
from typing import Any
from urllib.parse import urlsplit

from mlmodelscope_worker.public_address import NotPublic, connect, lookup

__all__ = ["NotPublic", "PublicHandler", "PublicSecureHandler"]


class _Connection(http.client.HTTPConnection):
    def connect(self) -> None:
        self.sock = connect(self.host, self.port, self.timeout)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


class _SecureConnection(http.client.HTTPSConnection):
    def connect(self) -> None:
        plain = connect(self.host, self.port, self.timeout)
        try:
            # The certificate is still that of the name.
            self.sock = self._context.wrap_socket(plain, server_hostname=self.host)  # type: ignore[attr-defined]
        except BaseException:
            plain.close()
            raise


class PublicHandler(urllib.request.HTTPHandler):
    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_chosen(req, _Connection, http.client.HTTPConnection), req)


class PublicSecureHandler(urllib.request.HTTPSHandler):
    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        kind = _chosen(req, _SecureConnection, http.client.HTTPSConnection)
        return self.do_open(kind, req, context=self._context)  # type: ignore[attr-defined]


def _chosen(request: urllib.request.Request, ours: Any, usual: Any) -> Any:
    """Behind a proxy it is the proxy that looks names up; what can be said here is said all the same."""
    target = urlsplit(request.full_url)
    tunnel = getattr(request, "_tunnel_host", None)
    if not request.has_proxy() and tunnel is None:
        return ours
    lookup(target.hostname or "", target.port or 0)
    return usual
