"""Sending something to an address that the user names, such as a trace to a collector."""

from __future__ import annotations

import http.client
import urllib.error
import urllib.request
from collections.abc import Mapping
from urllib.parse import urlsplit, urlunsplit

from mlmodelscope import __version__
from mlmodelscope.errors import ArtifactError
from mlmodelscope.provision.web import credentials, failure

_TIMEOUT_S = 60


def send(url: str, body: bytes, content_type: str, headers: Mapping[str, str] | None = None) -> None:
    """POST it once, to that very address: a redirect is refused. Secrets in the address are not shown."""
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
        with opener.open(urllib.request.Request(plain, body, sent, method="POST"), timeout=_TIMEOUT_S) as response:
            response.read()
    except urllib.error.HTTPError as error:
        said = error.read(500).decode("utf-8", "replace").strip()
        error.close()
        raise ArtifactError(f"{plain} answered {error.code} {error.reason}{f': {said}' if said else ''}") from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise ArtifactError(f"{plain} cannot be reached: {failure(error)}") from None
