"""Bytes from the network into a file: resumed where they stopped, retried when that may help, never half believed."""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import json
import os
import re
import time
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from mlmodelscope.errors import ArtifactError
from mlmodelscope.manifest.shown_address import without_secrets
from mlmodelscope.provision import web
from mlmodelscope.provision.allowance import Allowance
from mlmodelscope.provision.credentials import variable_of
from mlmodelscope.provision.progress import Progress, silent
from mlmodelscope.provision.web import WebError, open_url, read_block

_BLOCK = 1 << 18


def download(
    url: str,
    partial: Path,
    progress: Progress = silent,
    headers: Mapping[str, str] | None = None,
    certificates: str | None = None,
    *,
    public_only: bool = False,
    allowance: Allowance | None = None,
) -> None:
    """Fetch a URL into the file `partial`, going on where an earlier attempt stopped."""
    allowance = allowance or Allowance()
    furthest, waits = 0, iter(web.BACK_OFF_S)
    while True:
        try:
            return _attempt(url, partial, progress, headers or {}, certificates, public_only, allowance)
        except WebError as error:
            reached = partial.stat().st_size if partial.exists() else 0
            if reached > furthest:  # as long as each attempt brings something, there is no limit to them
                furthest, waits = reached, iter(web.BACK_OFF_S)
            wait = next(waits, None)
            if wait is None or not error.is_transient:
                raise _give_up(url, error, reached) from None
        time.sleep(wait)


def _give_up(url: str, error: WebError, reached: int) -> ArtifactError:
    shown = without_secrets(url)
    if error.status in (401, 403):
        variable = variable_of(urlsplit(url).hostname or "")
        return ArtifactError(f"{shown} answered {error}", hint=f"credentials come from netrc, or a token in {variable}")
    if error.status >= 400 and not error.is_transient:
        return ArtifactError(f"{shown} answered {error}")
    hint = "nothing listens there: is the address right?" if "refused" in str(error) else "check the network"
    hint += "; what has arrived is kept, and the same command resumes from there" if reached else ""
    return ArtifactError(f"cannot fetch {shown}: {error}", hint=hint if error.is_transient else None)


def _attempt(
    url: str,
    partial: Path,
    progress: Progress,
    headers: Mapping[str, str],
    certificates: str | None,
    public_only: bool,
    allowance: Allowance,
) -> None:
    have, validator = _resumable(partial)
    asked = {"Range": f"bytes={have}-", "If-Range": validator} if have else {}
    try:
        response = open_url(url, {**headers, **asked}, certificates, public_only=public_only)
    except WebError as error:
        if error.status == 416 and have:
            if error.headers.get("Content-Range") == f"bytes */{have}":
                return  # an earlier attempt was stopped after the last byte
            discard(partial)  # longer than the resource: it was another one
            raise WebError("it changed while it was fetched", is_transient=True) from None
        raise
    with response:
        if response.status not in (200, 206):
            raise WebError(f"{response.status} {response.reason}", is_transient=False, status=response.status)
        if response.status == 206 and not (have and _continues(response, have, validator)):
            discard(partial)
            raise WebError("it sent another part than the one asked for", is_transient=True)
        if response.status == 200:
            have = 0
        _receive(response, partial, have, _name(url), progress, allowance)


def _resumable(partial: Path) -> tuple[int, str]:
    """How much is here, and how the server called the version that it belongs to: (0, "") to begin again.

    Without a validator the server could not tell us that the file has changed.
    """
    try:
        validator = json.loads(_note(partial).read_text())["validator"]
        return (partial.stat().st_size, validator) if isinstance(validator, str) else (0, "")
    except (OSError, ValueError, KeyError, TypeError):
        return 0, ""


def _continues(response: http.client.HTTPResponse, have: int, validator: str) -> bool:
    found = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
    return found is not None and int(found[1]) == have and _validator(response) in (None, validator)


def _validator(response: http.client.HTTPResponse) -> str | None:
    etag = response.headers.get("ETag") or ""
    return etag if etag and not etag.startswith("W/") else response.headers.get("Last-Modified")


def _receive(
    response: http.client.HTTPResponse,
    partial: Path,
    have: int,
    name: str,
    progress: Progress,
    allowance: Allowance,
) -> None:
    total = _announced(response, have)
    allowance.expect(name, total, have, partial.parent)
    with partial.open("ab" if have else "wb") as out:
        if not have:  # after the old bytes are gone: a note must never vouch for another version's
            _note(partial).write_text(json.dumps({"validator": _validator(response)}))
        done = have
        progress(name, done, total)
        while block := read_block(response, _BLOCK):
            out.write(block)
            done += len(block)
            allowance.take(name, done, len(block), partial.parent)
            if total is not None and done > total:
                discard(partial)
                raise WebError(f"it sent more than the {total} bytes that it announced", is_transient=False)
            progress(name, done, total)
        out.flush()
        os.fsync(out.fileno())
    if total is not None and done != total:
        raise WebError(f"the connection ended after {done} of {total} bytes", is_transient=True)


def _announced(response: http.client.HTTPResponse, have: int) -> int | None:
    """How long the whole file is, if that is said: a part names it, and so does its own length."""
    length = response.headers.get("Content-Length", "")
    whole = re.fullmatch(r"bytes \d+-\d+/(\d{1,18})", response.headers.get("Content-Range", ""))
    if response.status == 206 and whole is not None:
        return int(whole[1])
    return have + int(length) if length.isdecimal() and len(length) < 19 else None


def _name(url: str) -> str:
    parts = urlsplit(url)
    return parts.path.rpartition("/")[2] or parts.hostname or ""


def partial_name(url: str) -> str:
    return hashlib.sha256(url.encode()).hexdigest()[:32] + ".part"


def _note(partial: Path) -> Path:
    return partial.with_suffix(".json")


def discard(partial: Path) -> None:
    for path in (partial, _note(partial)):
        with contextlib.suppress(OSError):
            path.unlink()
