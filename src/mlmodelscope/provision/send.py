"""Sending something to an address that the user names, such as a trace to a collector."""

from __future__ import annotations

import gzip
import http.client
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

from mlmodelscope.errors import ArtifactError
from mlmodelscope.provision.web import BACK_OFF_S, credentials, failure
from mlmodelscope_worker import __version__

_TIMEOUT_S = 60
_TRANSIENT = (429, 502, 503, 504)
"""What OpenTelemetry's rules call worth another try; any other answer is final."""
_NO_GZIP = 415
_LONGEST_WAIT_S = 30.0
_LONGEST_ANSWER = 1 << 20


@dataclass(frozen=True)
class Reply:
    body: bytes
    content_type: str


class _Again(Exception):
    """It may go better a little later; `wait_s` where the receiver says when."""

    def __init__(self, message: str, wait_s: float | None = None) -> None:
        super().__init__(message)
        self.wait_s = wait_s


def send(
    url: str,
    body: bytes,
    content_type: str,
    headers: Mapping[str, str] | None = None,
    *,
    compress: bool = False,
    waits_s: Sequence[float] = BACK_OFF_S,
) -> Reply:
    """POST it to that very address: a redirect is refused. Secrets in the address are not shown.

    A receiver that is busy, restarting or not there is asked again after each of `waits_s`, or when it says itself.
    """
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    plain = urlunsplit((parts.scheme, host, parts.path, parts.query, ""))
    if parts.scheme not in ("http", "https") or not host:
        raise ArtifactError(f"`{plain}` is no http or https address")
    sent = {
        "User-Agent": f"mlmodelscope/{__version__}",
        "Content-Type": content_type,
        **credentials(url),
        **(headers or {}),
    }
    packed = (gzip.compress(body, 6, mtime=0), {**sent, "Content-Encoding": "gzip"}) if compress else (body, sent)
    waits = iter(waits_s)
    while True:
        try:
            return _post(plain, *packed)
        except _Again as error:
            wait_s = next(waits, None)
            if wait_s is None:
                tries = f", {len(waits_s) + 1} times" if waits_s else ""
                raise ArtifactError(f"{error}{tries}") from None
            time.sleep(max(wait_s, min(error.wait_s or 0.0, _LONGEST_WAIT_S)))
        except _Plain:
            packed = body, sent


class _Plain(Exception):
    """The receiver does not unpack."""


def _post(url: str, body: bytes, headers: Mapping[str, str]) -> Reply:
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPErrorProcessor(),
        urllib.request.HTTPDefaultErrorHandler(),
    ):
        opener.add_handler(handler)
    try:
        request = urllib.request.Request(url, body, dict(headers), method="POST")
        with opener.open(request, timeout=_TIMEOUT_S) as response:
            return Reply(response.read(_LONGEST_ANSWER), response.headers.get_content_type())
    except urllib.error.HTTPError as error:
        said = error.read(500).decode("utf-8", "replace").strip()
        wait = error.headers.get("Retry-After", "") if error.headers else ""
        error.close()
        message = f"{url} answered {error.code} {error.reason}{f': {said}' if said else ''}"
        if error.code == _NO_GZIP and "Content-Encoding" in headers:
            raise _Plain from None
        if error.code in _TRANSIENT:
            raise _Again(message, float(wait) if wait.strip().isdecimal() else None) from None
        raise ArtifactError(message) from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = failure(error)
        message = f"{url} cannot be reached: {reason}"
        raise (_Again(message) if reason.is_transient else ArtifactError(message)) from None
