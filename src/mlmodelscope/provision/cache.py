"""Files by digest, shared by all processes of a user: complete and checked, or not there at all.

files/ab/abcdef…        a file by its sha256
folders/ab/abcdef…/     a folder by the digest of its files
known/<key>.json        which digest a reference had when it was fetched
partial/                downloads under way; resumed by whoever asks next
locks/                  one process at a time works on one reference
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from mlmodelscope.errors import ArtifactError


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
        return target

    def recall(self, key: str) -> dict[str, str] | None:
        """What is known of a reference that was fetched before."""
        try:
            known = json.loads(self._note(key).read_text())
        except (OSError, ValueError):
            return None
        return known if isinstance(known, dict) else None

    def remember(self, key: str, **facts: str) -> None:
        note = self._note(key)
        note.parent.mkdir(parents=True, exist_ok=True)
        with self.workplace() as place:
            draft = place / "note"
            draft.write_text(json.dumps({"reference": key, **facts}))
            os.replace(draft, note)

    def _note(self, key: str) -> Path:
        return self.root / "known" / (hashlib.sha256(key.encode()).hexdigest()[:32] + ".json")

    def partial(self, name: str) -> Path:
        folder = self.root / "partial"
        folder.mkdir(parents=True, exist_ok=True)
        return folder / name

    @contextlib.contextmanager
    def workplace(self) -> Iterator[Path]:
        """A private folder on the cache's file system, gone afterwards whatever happens."""
        parent = self.root / "partial"
        parent.mkdir(parents=True, exist_ok=True)
        place = Path(tempfile.mkdtemp(prefix="work-", dir=parent))
        try:
            yield place
        finally:
            shutil.rmtree(place, ignore_errors=True)

    @contextlib.contextmanager
    def lock(self, key: str) -> Iterator[None]:
        """Wait until no other process works on this key. The kernel frees it when a process dies."""
        folder = self.root / "locks"
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / hashlib.sha256(key.encode()).hexdigest()[:32]).open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


@contextlib.contextmanager
def storage_errors(place: Path) -> Iterator[None]:
    """Say plainly that the disk is full or may not be written."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise ArtifactError(
                f"no space left on the disk of {place}",
                hint="free some, or point MLMODELSCOPE_CACHE and MLMODELSCOPE_HOME to another disk",
            ) from None
        if error.errno in (errno.EACCES, errno.EROFS, errno.EPERM):
            raise ArtifactError(
                f"{error.filename or place} may not be written",
                hint="point MLMODELSCOPE_CACHE and MLMODELSCOPE_HOME to a folder of yours",
            ) from None
        raise
