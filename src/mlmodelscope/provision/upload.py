"""Files that people send in pieces: each goes behind the one before, and the whole is kept if it is what was promised.

sending/<owner>/<sha256>.json   what was announced
sending/<owner>/<sha256>.part   what has arrived; its length is where the next piece begins
files/ab/abcdef…                what is complete

Everybody's pieces are kept apart, so that nobody can spoil what another one sends.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from mlmodelscope.errors import ArtifactError, ChecksumError, UsageError
from mlmodelscope.provision.cache import DISK_FULL, Cache
from mlmodelscope.provision.hashing import hash_file

_KEPT_S = 86_400
"""Seconds after its last piece that an upload may be taken up again."""
_MOST_OPEN = 200
"""Uploads of one owner that have begun and not ended."""


class NoRoom(ArtifactError):
    """The disk is full, or as full as it may be."""


class TooLong(ArtifactError):
    """More than is taken, or than was announced."""


class OtherPlace(UsageError):
    """A piece that does not begin where the last one ended."""


class NotBegun(UsageError):
    """Nobody has announced it, or it has ended."""


@dataclass(frozen=True)
class Upload:
    """One that has begun."""

    digest: str
    size: int
    name: str
    offset: int = 0


class Uploads:
    def __init__(self, place: Cache) -> None:
        self._place = place
        self._folder = place.root / "sending"

    def begin(self, owner: str, digest: str, size: int, name: str, room: int) -> Upload:
        """Take it up where it stopped, or begin; `room` is how much may be kept beside what is complete."""
        with self._place.lock("announce"):
            known = self.find(owner, digest)
            if known is not None and known.size == size:
                return known
            self.drop(owner, digest)
            self._sweep()
            open_sizes = [_announced(path) for path in self._folder.glob("*/*.json")]
            if size + sum(open_sizes) > room:
                raise NoRoom(
                    f"there is no room for {size} bytes: files may take {max(0, room - sum(open_sizes))} more",
                    hint="delete artifacts that nobody needs, or have `artifacts_quota` of the server raised",
                )
            folder = self._folder / _short(owner)
            folder.mkdir(parents=True, exist_ok=True)
            if sum(1 for _ in folder.glob("*.json")) >= _MOST_OPEN:
                raise NoRoom(f"{_MOST_OPEN} uploads have begun and not ended", hint="finish or delete some of them")
            upload = Upload(digest, size, name)
            draft = folder / f"{digest}.draft"
            with full_disk_said():
                draft.write_text(json.dumps(asdict(upload)))
                draft.replace(folder / f"{digest}.json")
                self._part(owner, digest).touch()
            return upload

    def find(self, owner: str, digest: str) -> Upload | None:
        try:
            said = json.loads(self._note(owner, digest).read_text())
            offset = self._part(owner, digest).stat().st_size
            return Upload(digest, int(said["size"]), str(said["name"]), offset)
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def drop(self, owner: str, digest: str) -> bool:
        """Whether there was one."""
        found = False
        for path in (self._note(owner, digest), self._part(owner, digest)):
            with contextlib.suppress(OSError):
                path.unlink()
                found = True
        return found

    @contextlib.contextmanager
    def receiving(self, owner: str, digest: str, offset: int) -> Iterator[Receiver]:
        """One piece at a time: a second one that comes meanwhile is refused, as is one from another place."""
        part = self._part(owner, digest)
        try:
            file = part.open("r+b", buffering=0)
        except OSError:
            raise NotBegun(f"there is no upload of `{digest}`", hint="announce it first") from None
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise OtherPlace("another piece of it is on its way", hint="ask how far it is, and go on") from None
            upload = self.find(owner, digest)
            if upload is None:  # it was finished or dropped in this moment
                raise NotBegun(f"there is no upload of `{digest}`", hint="announce it first")
            if upload.offset != offset:
                raise OtherPlace(
                    f"this piece begins at byte {offset}, {upload.offset} are there", hint="go on from there"
                )
            try:
                yield Receiver(self._place, file, part, upload)
            except (NoRoom, ChecksumError):
                self.drop(owner, digest)  # it is what fills the disk, or is of no use to anybody
                raise

    def _note(self, owner: str, digest: str) -> Path:
        return self._folder / _short(owner) / f"{digest}.json"

    def _part(self, owner: str, digest: str) -> Path:
        return self._folder / _short(owner) / f"{digest}.part"

    def _sweep(self) -> None:
        """Take away what nobody has gone on with."""
        oldest = time.time() - _KEPT_S
        for note in self._folder.glob("*/*.json"):
            part = note.with_suffix(".part")
            with contextlib.suppress(OSError):
                if max(path.stat().st_mtime for path in (note, part) if path.exists()) < oldest:
                    note.unlink()
                    part.unlink(missing_ok=True)


class Receiver:
    """Takes the bytes of a piece."""

    def __init__(self, place: Cache, file: IO[bytes], part: Path, upload: Upload) -> None:
        self._place, self._file, self._part = place, file, part
        self.upload, self.offset = upload, upload.offset
        file.seek(upload.offset)
        self._seen = hashlib.sha256() if upload.offset == 0 else None
        """Of a file that comes in one piece; one that was interrupted is read again at the end."""

    def write(self, block: bytes | bytearray) -> None:
        if self.offset + len(block) > self.upload.size:
            raise TooLong(f"more than the {self.upload.size} bytes that were announced")
        with full_disk_said():
            view = memoryview(block)
            while view:  # the system may take a part of it only
                written = self._file.write(view)
                view = view[written:]
        self.offset += len(block)
        if self._seen is not None:
            self._seen.update(block)

    def finish(self) -> bool:
        """Whether it is complete and in its place; ChecksumError where it is another file."""
        if self.offset < self.upload.size:
            return False
        seen = self._seen.hexdigest() if self._seen is not None else hash_file(self._part)
        if seen != self.upload.digest:
            raise ChecksumError(
                f"this is not the file that was announced\nannounced {self.upload.digest}\nsaw       {seen}",
                hint="nothing of it was kept; send it again",
            )
        with full_disk_said():
            os.fsync(self._file.fileno())
            try:
                self._place.put_file(self._part, self.upload.digest)
            except FileNotFoundError:
                raise OtherPlace("somebody has finished it in this moment", hint="announce it again") from None
        return True


@contextlib.contextmanager
def full_disk_said() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in DISK_FULL:
            raise NoRoom("no space is left on the server's disk", hint="nothing of it was kept") from None
        raise ArtifactError(f"the server cannot keep files: {error.strerror or error}") from None


def _announced(note: Path) -> int:
    try:
        return int(json.loads(note.read_text())["size"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0


def _short(owner: str) -> str:
    return hashlib.sha256(owner.encode("utf-8", "surrogateescape")).hexdigest()[:32]
