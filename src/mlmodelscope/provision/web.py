"""Speaking HTTP: what is sent where, which redirects are followed, what is worth another try, what is never shown."""

from __future__ import annotations

import http.client
import os
import ssl
import time
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from email.message import Message
from functools import cache
from typing import IO
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from mlmodelscope.errors import ArtifactError
from mlmodelscope.provision.public import NotPublic, PublicHandler, PublicSecureHandler
from mlmodelscope_worker import __version__

BACK_OFF_S = (0.5, 1.0, 2.0)
"""Waits between attempts that bring nothing; after the last one it is over."""

_TRANSIENT = (408, 425, 429, 500, 502, 503, 504)
_TIMEOUT_S = 60
_FOLLOWED = {"http": ("http", "https"), "https": ("https",)}
_SAFE = "/%:@!$&'()*+,;=~?"


class WebError(Exception):
    """Why a URL gave nothing: in words without secrets, the server's status if it gave one, and whether it may pass."""

    def __init__(self, reason: str, *, is_transient: bool, status: int = 0, headers: Message | None = None) -> None:
        super().__init__(reason)
        self.is_transient = is_transient
        self.status = status
        self.headers = headers or Message()


@dataclass(frozen=True)
class Page:
    body: bytes
    content_type: str
    url: str
    """Where it was in the end, after redirects."""


def open_url(
    url: str,
    headers: Mapping[str, str] | None = None,
    certificates: str | None = None,
    *,
    public_only: bool = False,
) -> http.client.HTTPResponse:
    """Ask for an http(s) URL once; WebError when there is no answer or a bad one.

    `public_only` is for a stranger's URL: neither it nor where it is redirected to may lead to a private address.
    """
    parts = urlsplit(url)
    if parts.scheme not in _FOLLOWED:
        raise WebError(f"{parts.scheme}: is not fetched over the network", is_transient=False)
    host = parts.netloc.rpartition("@")[2]
    plain = urlunsplit((parts.scheme, host, quote(parts.path, _SAFE), quote(parts.query, _SAFE), ""))
    sent = {"User-Agent": f"mlmodelscope/{__version__}", **credentials(url), **(headers or {})}
    try:
        opener = _opener(certificates, public_only)
        response: http.client.HTTPResponse = opener.open(
            urllib.request.Request(plain, headers=sent), timeout=_TIMEOUT_S
        )
        return response
    except urllib.error.HTTPError as error:
        error.close()
        raise _bad_status(error) from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise failure(error) from None


def read_url(url: str, limit: int, headers: Mapping[str, str] | None = None, certificates: str | None = None) -> Page:
    """A small answer in memory; asked for again when that may help."""
    waits = iter(BACK_OFF_S)
    while True:
        try:
            with open_url(url, headers, certificates) as response:
                body = read_block(response, limit + 1)
                if len(body) > limit:
                    raise WebError(f"the answer has more than {limit} bytes", is_transient=False)
                if response.length:  # http.client is content with less than was announced
                    raise WebError(f"the connection ended after {len(body)} bytes", is_transient=True)
                return Page(body, response.headers.get_content_type(), response.url)
        except WebError as error:
            wait = next(waits, None)
            if wait is None or not error.is_transient:
                raise
        time.sleep(wait)


def read_block(response: http.client.HTTPResponse, size: int) -> bytes:
    try:
        return response.read(size)
    except (OSError, http.client.HTTPException) as error:
        raise failure(error) from None


def credentials(url: str) -> dict[str, str]:
    """The header that says what a URL's `user:password@` says."""
    parts = urlsplit(url)
    if not parts.username:
        return {}
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return {"Authorization": "Basic " + b64encode(pair.encode()).decode()}


def is_same_host(one: str, other: str) -> bool:
    """Whether what one URL may be told, such as a password, the other may be told, too."""
    first, second = urlsplit(one), urlsplit(other)
    return (first.scheme, first.hostname, first.port) == (second.scheme, second.hostname, second.port)


def failure(error: Exception) -> WebError:
    """An attempt's end in words. An address or header that cannot be sent is not quoted: it may hold a password."""
    reason = getattr(error, "reason", None) or error
    if isinstance(reason, NotPublic):
        return WebError(str(reason), is_transient=False)
    if isinstance(reason, ssl.SSLCertVerificationError):
        return WebError(f"the certificate is not trusted ({reason.verify_message})", is_transient=False)
    if isinstance(reason, (http.client.InvalidURL, ValueError)):
        return WebError("not an address that can be asked", is_transient=False)
    words = getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
    return WebError(words, is_transient=True)


def _bad_status(error: urllib.error.HTTPError) -> WebError:
    if 300 <= error.code < 400:
        return WebError("a redirect that is not followed", is_transient=False, status=error.code)
    return WebError(
        f"{error.code} {error.reason}",
        is_transient=error.code in _TRANSIENT,
        status=error.code,
        headers=error.headers,
    )


def _opener(certificates: str | None, public_only: bool) -> urllib.request.OpenerDirector:
    """http and https alone: the usual opener would also read file:, ftp: and data: URLs."""
    opener = urllib.request.OpenerDirector()
    trust = _trust(certificates)
    for handler in (
        urllib.request.ProxyHandler(),
        PublicHandler() if public_only else urllib.request.HTTPHandler(),
        PublicSecureHandler(context=trust) if public_only else urllib.request.HTTPSHandler(context=trust),
        urllib.request.HTTPErrorProcessor(),
        urllib.request.HTTPDefaultErrorHandler(),
        _Redirects(),
    ):
        opener.add_handler(handler)
    return opener


@cache
def _trust(certificates: str | None) -> ssl.SSLContext:
    try:
        if certificates and os.path.isdir(certificates):
            return ssl.create_default_context(capath=certificates)
        return ssl.create_default_context(cafile=certificates)
    except OSError as error:
        raise ArtifactError(f"the certificates in {certificates} cannot be read: {error.strerror or error}") from None


class _Redirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Message, newurl: str
    ) -> urllib.request.Request | None:
        if urlsplit(newurl).scheme not in _FOLLOWED[urlsplit(req.full_url).scheme]:
            fp.close()
            raise WebError(f"a redirect to {urlsplit(newurl).scheme}: that is not followed", is_transient=False)
        request = super().redirect_request(req, fp, code, msg, headers, newurl)  # type: ignore[arg-type]
        if request is not None and not is_same_host(req.full_url, newurl):
            request.remove_header("Authorization")  # it was for the first host only
        return request
