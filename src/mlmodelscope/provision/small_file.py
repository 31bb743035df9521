"""Fetches a small file from an address that a user gave: into memory, within a size and a time, and never kept."""

from __future__ import annotations

import http.client
import time
from urllib.parse import urlsplit

from mlmodelscope.errors import ArtifactError, OfflineError
from mlmodelscope.manifest.shown_address import without_secrets
from mlmodelscope.provision.web import WebError, failure, open_url

_BLOCK = 1 << 16


def fetch_small(url: str, most_bytes: int, seconds: float, *, public_only: bool, offline: bool = False) -> bytes:
    """`public_only` is for a stranger's address, which may lead only where everybody can go anyway."""
    shown = without_secrets(url)
    if urlsplit(url).scheme not in ("http", "https"):
        raise ArtifactError(f"{shown} is not an address of the web", hint="it must begin with https://")
    if offline:
        raise OfflineError(f"{shown} is not here, and the network may not be used")
    end, found = time.monotonic() + seconds, bytearray()
    try:
        with open_url(url, public_only=public_only) as response:
            while block := _some(response):
                found += block
                if len(found) > most_bytes:
                    raise ArtifactError(f"{shown} has more than {most_bytes} bytes")
                if time.monotonic() > end:
                    raise ArtifactError(f"{shown} has not come within {seconds:g} s")
            if response.length:  # http.client is content with less than was announced
                raise ArtifactError(f"{shown} ended after {len(found)} bytes")
    except WebError as error:
        raise ArtifactError(f"cannot fetch {shown}: {error}") from None
    return bytes(found)


def _some(response: http.client.HTTPResponse) -> bytes:
    """What has come so far: whoever sends it drop by drop must not hold us up."""
    try:
        return response.read1(_BLOCK)
    except (OSError, http.client.HTTPException) as error:
        raise failure(error) from None
