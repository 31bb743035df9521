"""Files by digest, shared by all processes of a user: complete and checked, or not there at all.

files/ab/abcdef…        a file by its sha256
folders/ab/abcdef…/     a folder by the digest of its files
known/<key>.json        which digest a reference had when it was fetched
partial/                downloads under way, resumed by whoever asks next, and private folders of those at work
locks/                  one process at a time works on one reference
used/<digest>           an empty file whose time says when the artifact was last used
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from mlmodelscope.errors import ArtifactError
from mlmodelscope.manifest.shown_address import without_secrets
from mlmodelscope.settings import Settings

DISK_FULL = (errno.ENOSPC, errno.EDQUOT)
_OWNER = ".owner"


class Cache:
    def __init__(self, root: Path) -> None:
        self.root = root

    def file(self, sha256: str) -> Path:
        return self.root / "files" / sha256[:2] / sha256

    def folder(self, digest: str) -> Path:
        return self.root / "folders" / digest[:2] / digest

    def put_file(self, source: Path, sha256: str) -> Path:
        """Move a finished file in; whoever came first wins, the bytes are the same."""
        target = self.file(sha256)
        target.parent.mkdir(parents=True, exist_ok=True)
        os.chmod(source, 0o444)
        os.replace(source, target)
        self.note_use(sha256)
        return target

    def put_folder(self, source: Path, digest: str) -> Path:
        target = self.folder(digest)
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.replace(source, target)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            shutil.rmtree(source, ignore_errors=True)  # another process was faster
        self.note_use(digest)
        return target

    def note_use(self, digest: str) -> None:
        """Now; kept apart, since a file's own times tell whether it is still what it was."""
        stamp = self.stamp(digest)
        with contextlib.suppress(OSError):
            try:
                os.utime(stamp)
            except FileNotFoundError:
                stamp.parent.mkdir(parents=True, exist_ok=True)
                stamp.touch()

    def stamp(self, digest: str) -> Path:
        return self.root / "used" / digest

    def drop(self, path: Path) -> None:
        """Take out what turned out to be damaged. First out of sight, so that nobody sees it half gone."""
        with contextlib.suppress(FileNotFoundError), self.workplace() as place:
            self.stamp(path.name).unlink(missing_ok=True)
            os.replace(path, place / "dropped")

    def recall(self, key: str) -> dict[str, str] | None:
        """What is known of a reference that was fetched before."""
        try:
            known = json.loads(self._note(key).read_text())
        except (OSError, ValueError):
            return None
        is_sound = isinstance(known, dict) and re.fullmatch("[0-9a-f]{64}", str(known.get("sha256")))
        return known if is_sound else None

    def remember(self, key: str, **facts: str) -> None:
        note = self._note(key)
        note.parent.mkdir(parents=True, exist_ok=True)
        with self.workplace() as place:
            draft = place / "note"
            draft.write_text(json.dumps({"reference": without_secrets(key), **facts}))
            os.replace(draft, note)

    def forget(self, key: str) -> None:
        self._note(key).unlink(missing_ok=True)

    def _note(self, key: str) -> Path:
        return self.root / "known" / (_short(key) + ".json")

    def partial(self, name: str) -> Path:
        folder = self.root / "partial"
        folder.mkdir(parents=True, exist_ok=True)
        return folder / name

    @contextlib.contextmanager
    def workplace(self) -> Iterator[Path]:
        """A private folder on the cache's file system, gone afterwards whatever happens."""
        parent = self.root / "partial"
        parent.mkdir(parents=True, exist_ok=True)
        _sweep(parent)
        place, claim = _claim(parent)
        try:
            yield place
        finally:
            shutil.rmtree(place, ignore_errors=True)
            claim.close()

    @contextlib.contextmanager
    def lock(self, key: str) -> Iterator[None]:
        """Wait until no other process works on this key. The kernel frees it when a process dies."""
        folder = self.root / "locks"
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / _short(key)).open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def public_mark(digest: str) -> str:
    """The key under which it is remembered that strangers may have a file: one of them has got it by themselves."""
    return f"public sha256:{digest}"


def uploads_of(settings: Settings) -> Cache:
    """What people have uploaded to the server of this home; nobody could fetch it again, so it is not in the cache."""
    return Cache(settings.home / "artifacts")


def _short(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _claim(parent: Path) -> tuple[Path, IO[bytes]]:
    """A new folder and the lock that says that its owner lives: the kernel frees it with him."""
    while True:
        place = Path(tempfile.mkdtemp(prefix="work-", dir=parent))
        claim = (place / _OWNER).open("wb")
        fcntl.flock(claim, fcntl.LOCK_EX)
        if place.exists():
            return place, claim
        claim.close()  # swept in the moment before it was locked


def _sweep(parent: Path) -> None:
    """Take away what killed processes left."""
    for claim in parent.glob(f"work-*/{_OWNER}"):
        with contextlib.suppress(OSError), claim.open("r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(claim.parent, ignore_errors=True)


@contextlib.contextmanager
def storage_errors(place: Path) -> Iterator[None]:
    """Say plainly what is wrong with the disk."""
    try:
        yield
    except OSError as error:
        raise _plainly(error, place) from None


def _plainly(error: OSError, place: Path) -> ArtifactError:
    path = str(error.filename or place)
    elsewhere = "point MLMODELSCOPE_CACHE and MLMODELSCOPE_HOME to"
    if error.errno in DISK_FULL:
        return ArtifactError(f"no space left on the disk of {place}", hint=f"free some, or {elsewhere} another disk")
    if not Path(path).is_relative_to(place):
        return ArtifactError(f"cannot read {path}: {error.strerror or error}")
    if error.errno in (errno.EACCES, errno.EROFS, errno.EPERM):
        return ArtifactError(f"{path} may not be written", hint=f"{elsewhere} a folder of yours")
    return ArtifactError(f"cannot use {path}: {error.strerror or error}", hint=f"{elsewhere} another folder")
