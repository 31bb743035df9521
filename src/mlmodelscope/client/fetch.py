"""Uploaded files of a server, into this machine's cache: checked, and taken up where an earlier attempt stopped."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import httpx

from mlmodelscope.client.http import TIMEOUT, ServerError, headers, raise_problem, unreachable
from mlmodelscope.errors import ArtifactError
from mlmodelscope.provision.cache import Cache, public_mark, storage_errors
from mlmodelscope.provision.hashing import hash_file
from mlmodelscope.provision.progress import Progress

_BLOCK = 1 << 20
_TRIES = 5
_TELL_EVERY_S = 0.5


def fetch_artifact(
    url: str, token: str | None, digest: str, cache: Cache, progress: Progress, stop: threading.Event
) -> None:
    """Have the file with this sha256 in the cache; nothing where it is there already."""
    with storage_errors(cache.root), cache.lock(f"artifact:{digest}"):
        target = cache.file(digest)
        if cache.recall(public_mark(digest)) and target.is_file() and hash_file(target) == digest:
            return
        partial = cache.partial(f"{digest}.artifact")
        _fetch(url, token, digest, partial, progress, stop)
        if hash_file(partial) != digest:
            partial.unlink()
            raise ArtifactError(f"what the server sent is not the artifact {digest}")
        cache.put_file(partial, digest)
        cache.remember(public_mark(digest), sha256=digest)  # it was uploaded for whoever may name it


def _fetch(url: str, token: str | None, digest: str, partial: Path, progress: Progress, stop: threading.Event) -> None:
    """Until it is complete; as long as each try brings something, there is no limit to them."""
    furthest, tries = -1, 0
    with httpx.Client(base_url=url, headers=headers(token), timeout=TIMEOUT) as http:
        while True:
            try:
                return _attempt(http, digest, partial, progress, stop)
            except (httpx.TransportError, ServerError) as error:
                reached = partial.stat().st_size if partial.exists() else 0
                tries = 0 if reached > furthest else tries + 1
                furthest = max(furthest, reached)
                if tries >= _TRIES or stop.is_set():
                    raise (unreachable(url, error) if isinstance(error, httpx.TransportError) else error) from None
            stop.wait(0.2 * 2**tries)


def _attempt(http: httpx.Client, digest: str, partial: Path, progress: Progress, stop: threading.Event) -> None:
    have = partial.stat().st_size if partial.exists() else 0
    asked = {"Range": f"bytes={have}-"} if have else {}
    with http.stream("GET", f"/artifacts/{digest}", headers=asked) as response:
        if response.status_code == 416:  # an earlier attempt was stopped after the last byte
            return
        if not response.is_success:
            response.read()
            raise_problem(response)
        total = int(response.headers.get("Content-Length", 0)) + (have if response.status_code == 206 else 0)
        told = 0.0
        with partial.open("ab" if response.status_code == 206 else "wb") as out:
            for block in response.iter_bytes(_BLOCK):
                out.write(block)
                if time.monotonic() - told > _TELL_EVERY_S:
                    told = time.monotonic()
                    progress(digest[:12], out.tell(), total)
                if stop.is_set():
                    raise ArtifactError("the file is not needed any more")
