"""Digests of files and folders, remembered by path, size and time so that nothing is read twice."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mlmodelscope.errors import ArtifactError

_BLOCK = 1 << 20
_SETTLED_S = 2.0  # a file younger than this may change again within its time stamp's resolution


class Hasher:
    """Digests of local files; the memory is a small database in the cache that any process may lose."""

    def __init__(self, memory: Path | None = None) -> None:
        self._memory = memory

    def file(self, path: Path, algorithm: str = "sha256") -> str:
        return self.files([path], algorithm)[0]

    def files(self, paths: list[Path], algorithm: str = "sha256") -> list[str]:
        """Digests of many files, several at a time, in order."""
        try:
            keys = [_key(path) for path in paths]
        except OSError as error:
            raise ArtifactError(f"cannot read {error.filename}: {error.strerror}") from None
        known = self._recall([key for key in keys], algorithm)
        missing = [index for index, key in enumerate(keys) if key not in known]
        if missing:
            with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
                digests = list(pool.map(lambda index: hash_file(paths[index], algorithm), missing))
            fresh = {keys[index]: digest for index, digest in zip(missing, digests, strict=True)}
            known |= fresh
            self._remember(fresh, algorithm)
        return [known[key] for key in keys]

    def tree(self, folder: Path) -> str:
        """Digest of a folder: of the lines `sha256sum` prints for its files, sorted by path."""
        names = list_files(folder)
        digests = self.files([folder / name for name in names])
        return tree_digest(zip(names, digests, strict=True))

    def _recall(self, keys: list[str], algorithm: str) -> dict[str, str]:
        if self._memory is None or not self._memory.exists():
            return {}
        try:
            with sqlite3.connect(self._memory, timeout=5) as database:
                found: dict[str, str] = {}
                for start in range(0, len(keys), 500):
                    part = keys[start : start + 500]
                    marks = ",".join("?" * len(part))
                    rows = database.execute(
                        f"SELECT key, digest FROM digests WHERE algorithm = ? AND key IN ({marks})",
                        [algorithm, *part],
                    )
                    found.update(rows.fetchall())
                return found
        except sqlite3.Error:
            return {}  # only a memory: without it files are read again

    def _remember(self, digests: dict[str, str], algorithm: str) -> None:
        now = time.time_ns()
        settled = [
            (key, algorithm, digest)
            for key, digest in digests.items()
            if now - int(key.rsplit("|", 1)[1]) > _SETTLED_S * 1e9
        ]
        if self._memory is None or not settled:
            return
        try:
            self._memory.parent.mkdir(parents=True, exist_ok=True)
            with sqlite3.connect(self._memory, timeout=5) as database:
                database.execute(
                    "CREATE TABLE IF NOT EXISTS digests"
                    " (key TEXT, algorithm TEXT, digest TEXT, PRIMARY KEY (key, algorithm))"
                )
                database.executemany("INSERT OR REPLACE INTO digests VALUES (?, ?, ?)", settled)
        except (sqlite3.Error, OSError):
            pass  # only a memory


def _key(path: Path) -> str:
    status = path.stat()
    return f"{path.absolute()}|{status.st_ino}|{status.st_size}|{status.st_mtime_ns}"


def hash_file(path: Path, algorithm: str = "sha256") -> str:
    digest = hashlib.new(algorithm, usedforsecurity=False)
    try:
        with path.open("rb", buffering=0) as file:
            while block := file.read(_BLOCK):
                digest.update(block)
    except OSError as error:
        raise ArtifactError(f"cannot read {path}: {error.strerror or error}") from None
    return digest.hexdigest()


def list_files(folder: Path) -> list[str]:
    """Relative paths of all files below a folder, sorted; what cannot be listed is an error, not a gap."""

    def refuse(error: OSError) -> None:
        raise ArtifactError(f"cannot list {error.filename}: {error.strerror}")

    names = []
    for root, folders, files in os.walk(folder, onerror=refuse):
        folders.sort()
        names += [os.path.relpath(os.path.join(root, name), folder) for name in files]
    return sorted(name.replace(os.sep, "/") for name in names)


def tree_digest(files: Iterable[tuple[str, str]]) -> str:
    digest = hashlib.sha256()
    for name, file_digest in sorted(files):
        digest.update(f"{file_digest}  {name}\n".encode())
    return digest.hexdigest()
