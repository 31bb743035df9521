"""Files of people's own: announced by digest, sent in pieces, kept when they are what was announced.

Whoever may read the server may read them, and whoever may run there may name them in a manifest.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import RowMapping

from mlmodelscope.errors import UsageError
from mlmodelscope.ledger.moment import spoken
from mlmodelscope.ledger.tokens import Person
from mlmodelscope.manifest.reference import named_artifacts
from mlmodelscope.provision.cache import Cache, uploads_of
from mlmodelscope.provision.upload import NotBegun, OtherPlace, Receiver, TooLong, Upload, Uploads
from mlmodelscope.server.desk import Desk, Refused, demand
from mlmodelscope.server.handle.known_files import keep_shipped


@dataclass(frozen=True)
class Found:
    """A file that is complete."""

    digest: str
    size: int
    name: str
    path: Path


def announce(desk: Desk, person: Person, digest: str, size: int, name: str) -> tuple[dict[str, Any], bool]:
    """(how far it is, whether it is new): what is there already need not be sent."""
    demand(person, "run")
    _check(digest)
    found = _complete(desk, digest)
    if found is not None:
        return _spell_upload(Upload(digest, found["size"], found["name"], found["size"])), False
    if size > desk.config.largest_artifact:
        raise TooLong(f"{size} bytes, {desk.config.largest_artifact} are the most", hint="`largest_artifact`")
    room = desk.config.artifacts_quota - desk.artifacts.size()
    upload = _uploads(desk).begin(person.owner, digest, size, _plain(name) or digest[:12], room)
    return _spell_upload(upload, is_complete=False), True


@contextlib.contextmanager
def receiving(desk: Desk, person: Person, digest: str, offset: int) -> Iterator[Receiver]:
    """Takes a piece that begins at `offset`."""
    demand(person, "run")
    _check(digest)
    with contextlib.ExitStack() as stack:
        try:
            receiver = stack.enter_context(_uploads(desk).receiving(person.owner, digest, offset))
        except NotBegun:
            if _complete(desk, digest) is not None:  # the same person sends it twice at once
                raise OtherPlace("it is complete by now", hint="announce it again") from None
            raise
        yield receiver


def finish_piece(desk: Desk, person: Person, receiver: Receiver) -> dict[str, Any]:
    """A piece has come to its end: keep the file where it was the last one."""
    upload, is_complete = receiver.upload, receiver.finish()
    if is_complete:
        if desk.artifacts.add(upload.digest, upload.size, upload.name, person.owner):
            desk.audit.note(person.owner, "upload", upload.digest)
        _uploads(desk).drop(person.owner, upload.digest)
    return _spell_upload(Upload(upload.digest, upload.size, upload.name, receiver.offset), is_complete=is_complete)


def progress(desk: Desk, person: Person, digest: str) -> dict[str, Any]:
    """How far it is, for the one who sends it, or that it is complete."""
    _demand_sight(person)
    _check(digest)
    found = _complete(desk, digest)
    if found is not None:
        return _spell_upload(Upload(digest, found["size"], found["name"], found["size"]))
    upload = _uploads(desk).find(person.owner, digest)
    if upload is None:
        raise UsageError(f"there is no artifact `{digest}`")
    return _spell_upload(upload, is_complete=False)


def get(desk: Desk, person: Person, digest: str) -> Found:
    _demand_sight(person)
    _check(digest)
    row = desk.artifacts.get(digest)
    path = _place(desk).file(digest)
    if not path.is_file():
        raise UsageError(f"there is no artifact `{digest}` any more", hint="upload it again")
    return Found(digest, row["size"], row["name"], path)


def find(
    desk: Desk, person: Person, limit: int, before: tuple[datetime, str] | None, owner: str | None
) -> Sequence[dict[str, Any]]:
    demand(person, "read")
    return [_spell(row) for row in desk.artifacts.list(limit, before, owner)]


def delete(desk: Desk, person: Person, digest: str) -> None:
    """By whoever sent it, or an admin; what is not complete only by whoever sends it."""
    demand(person, "run")
    _check(digest)
    row = desk.artifacts.find(digest)
    if row is None:
        if not _uploads(desk).drop(person.owner, digest):
            raise UsageError(f"there is no artifact `{digest}`")
        return
    if row["owner"] != person.owner and not person.may("admin"):
        raise Refused("admin")
    desk.artifacts.delete(digest)
    place = _place(desk)
    place.file(digest).unlink(missing_ok=True)
    place.stamp(digest).unlink(missing_ok=True)
    desk.audit.note(person.owner, "delete artifact", digest)


def demand_present(desk: Desk, *texts: str | None) -> None:
    """Refuse manifests that name files which nobody has sent, before an agent looks for them."""
    for digest in named_artifacts(*texts):
        if _complete(desk, digest) is None and not keep_shipped(desk, digest):
            raise UsageError(f"there is no artifact `{digest}`, which a manifest names", hint="upload it first")


def _demand_sight(person: Person) -> None:
    """Agents fetch what they evaluate, whether or not they may read anything else."""
    if not person.may("agent"):
        demand(person, "read")


def _complete(desk: Desk, digest: str) -> RowMapping | None:
    row = desk.artifacts.find(digest)
    if row is not None and not _place(desk).file(digest).is_file():
        desk.artifacts.delete(digest)  # somebody has tidied up
        return None
    return row


def _place(desk: Desk) -> Cache:
    return uploads_of(desk.settings)


def _uploads(desk: Desk) -> Uploads:
    return Uploads(_place(desk))


def _check(digest: str) -> None:
    if not re.fullmatch("[0-9a-f]{64}", digest):
        raise UsageError(f"`{digest[:80]}` is not a sha256 digest: 64 hexadecimal digits")


def _plain(name: str) -> str:
    """What it is called, without the folders that it lay in and without what no header could carry."""
    last = os.path.basename(name.replace("\\", "/"))
    return re.sub(r"[^ -~]|[\"#?%;]", "_", last)[:200].strip(". ")


def _spell_upload(upload: Upload, *, is_complete: bool = True) -> dict[str, Any]:
    return {
        "digest": upload.digest,
        "size": upload.size,
        "name": upload.name,
        "offset": upload.offset,
        "complete": is_complete,
        "reference": f"artifact:sha256:{upload.digest}/{upload.name}",
    }


def _spell(row: RowMapping) -> dict[str, Any]:
    facts = {name: row[name] for name in ("digest", "size", "name", "owner")}
    return {
        **facts,
        "created_at": spoken(row["created_at"]),
        "reference": f"artifact:sha256:{row['digest']}/{row['name']}",
    }
