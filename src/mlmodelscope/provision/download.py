"""Bytes from the network into a file: resumed where they stopped, retried when that may help, never half believed."""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import json
import os
import shutil
import ssl
import time
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO
from urllib.parse import unquote, urlsplit, urlunsplit

from mlmodelscope import __version__
from mlmodelscope.errors import ArtifactError

Progress = Callable[[str, int, int | None], None]
"""Called with a name, the bytes so far and the bytes in all (None when unknown)."""

_BLOCK = 1 << 18
_ATTEMPTS = 4
_TIMEOUT_S = 60


def silent(name: str, done: int, total: int | None) -> None:
    """No progress shown."""


def open_url(
    url: str, headers: Mapping[str, str] | None = None, certificates: str | None = None
) -> http.client.HTTPResponse:
    """Open an http(s) URL. Credentials in the URL become a header, so that no message ever shows them."""
    parts = urlsplit(url)
    sent = {"User-Agent": f"mlmodelscope/{__version__}", **(headers or {})}
    if parts.username:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        sent["Authorization"] = "Basic " + b64encode(pair.encode()).decode()
        url = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
    context = ssl.create_default_context(cafile=certificates) if parts.scheme == "https" else None
    request = urllib.request.Request(url, headers=sent)
    response: http.client.HTTPResponse = urllib.request.urlopen(request, timeout=_TIMEOUT_S, context=context)
    return response


def without_credentials(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def download(url: str, partial: Path, progress: Progress = silent, certificates: str | None = None) -> None:
    """Fetch a URL into the file `partial`, going on where an earlier attempt stopped."""
    shown = without_credentials(url)
    name = urlsplit(shown).path.rpartition("/")[2] or shown
    for attempt in range(_ATTEMPTS):
        try:
            _attempt(url, partial, name, progress, certificates)
            return
        except urllib.error.HTTPError as error:
            if error.code == 416:  # the partial file is longer than the resource: it was another one
                partial.unlink(missing_ok=True)
            elif error.code not in (408, 425, 429, 500, 502, 503, 504):
                raise ArtifactError(f"{shown} answered {error.code} {error.reason}") from None
            reason: object = f"{error.code} {error.reason}"
        except (urllib.error.URLError, http.client.HTTPException, ConnectionError, TimeoutError) as error:
            reason = getattr(error, "reason", None) or error
            if isinstance(reason, ssl.SSLCertVerificationError):
                raise ArtifactError(f"{shown}: the certificate is not trusted ({reason.verify_message})") from None
        if attempt < _ATTEMPTS - 1:
            time.sleep(2.0**attempt / 2)
    raise ArtifactError(
        f"cannot fetch {shown}: {reason}",
        hint="check the network; what has arrived is kept and the same command goes on from there",
    )


def _attempt(url: str, partial: Path, name: str, progress: Progress, certificates: str | None) -> None:
    note = partial.with_suffix(".json")
    have = partial.stat().st_size if partial.exists() and note.exists() else 0
    headers = {}
    if have:
        validator = json.loads(note.read_text()).get("validator")
        # Without a validator the server could not tell us that the file has changed: begin again.
        headers = {"Range": f"bytes={have}-", "If-Range": validator} if validator else {}
    with open_url(url, headers, certificates) as response:
        resumed = response.status == 206 and bool(headers)
        length = response.headers.get("Content-Length")
        have = have if resumed else 0
        total = have + int(length) if length else None
        etag = response.headers.get("ETag") or ""
        validator = etag if etag and not etag.startswith("W/") else response.headers.get("Last-Modified")
        note.write_text(json.dumps({"validator": validator}))
        with partial.open("ab" if resumed else "wb") as out:
            done = have
            progress(name, done, total)
            while block := response.read(_BLOCK):
                out.write(block)
                done += len(block)
                progress(name, done, total)
            if total is not None and done != total:
                raise http.client.IncompleteRead(b"", total - done)
            out.flush()
            os.fsync(out.fileno())


def copy_stream(source: IO[bytes], destination: Path) -> None:
    with destination.open("wb") as out:
        shutil.copyfileobj(source, out, _BLOCK)
        out.flush()
        os.fsync(out.fileno())


def download_fsspec(url: str, destination: Path) -> None:
    """Fetch through fsspec, for s3:, gs:, az:, ftp: and whatever else it knows."""
    try:
        import fsspec
    except ImportError:
        raise ArtifactError(
            f"{url.split(':')[0]}: references need fsspec",
            hint="pip install 'mlmodelscope[fsspec]' and the protocol's own package",
        ) from None
    try:
        with fsspec.open(url, "rb") as source:
            copy_stream(source, destination)
    except (ImportError, ValueError) as error:
        raise ArtifactError(f"cannot fetch {without_credentials(url)}: {error}") from None
    except OSError as error:
        raise ArtifactError(f"cannot fetch {without_credentials(url)}: {error.strerror or error}") from None


def partial_name(url: str) -> str:
    return hashlib.sha256(url.encode()).hexdigest()[:32] + ".part"


def discard(partial: Path) -> None:
    for path in (partial, partial.with_suffix(".json")):
        with contextlib.suppress(OSError):
            path.unlink()
