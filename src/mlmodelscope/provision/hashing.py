"""Digests of files and folders, remembered by path, size and times so that nothing is read twice."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import sqlite3
import stat
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mlmodelscope.errors import ArtifactError

_BLOCK = 1 << 20
_TOGETHER = 32
_ODD = re.compile("[\\n\\ud800-\\udfff]")  # the latter are bytes that are no UTF-8
_SETTLED_S = 2.0  # a file younger than this may change again within its time stamp's resolution


@dataclass(frozen=True, slots=True)
class _State:
    """What changes when a file changes."""

    key: str
    changed_ns: int


class Hasher:
    """Digests of local files; the memory is a small database in the cache that any process may lose."""

    def __init__(self, memory: Path | None = None) -> None:
        self._memory = memory

    def file(self, path: Path, algorithm: str = "sha256") -> str:
        return self.files([path], algorithm)[0]

    def files(self, paths: Sequence[Path | str], algorithm: str = "sha256") -> list[str]:
        """Digests of many files, several at a time, in order."""
        states = [_state(path) for path in paths]
        known = self._recall([state.key for state in states], algorithm)
        missing = [index for index, state in enumerate(states) if state.key not in known]
        if missing:
            digests = _hash_files([paths[index] for index in missing], algorithm)
            fresh = {states[index]: digest for index, digest in zip(missing, digests, strict=True)}
            known |= {state.key: digest for state, digest in fresh.items()}
            self._remember(fresh, algorithm)
        return [known[state.key] for state in states]

    def tree(self, folder: Path) -> str:
        """Digest of a folder: of the lines `sha256sum` prints for its files, sorted by path."""
        names = list_files(folder)
        digests = self.files([f"{folder}/{name}" for name in names])
        return tree_digest(zip(names, digests, strict=True))

    def _recall(self, keys: list[str], algorithm: str) -> dict[str, str]:
        if self._memory is None or not os.path.exists(self._memory):
            return {}
        found: dict[str, str] = {}
        try:
            with contextlib.closing(sqlite3.connect(self._memory, timeout=5)) as database:
                for start in range(0, len(keys), 500):
                    part = keys[start : start + 500]
                    marks = ",".join("?" * len(part))
                    rows = database.execute(
                        f"SELECT key, digest FROM digests WHERE algorithm = ? AND key IN ({marks})",  # nosec B608 # question marks
                        [algorithm, *part],
                    )
                    found.update(rows.fetchall())
        except (sqlite3.Error, UnicodeError) as error:
            self._mend(error)
            return {}  # only a memory: without it files are read again
        return found

    def _remember(self, digests: dict[_State, str], algorithm: str) -> None:
        now = time.time_ns()
        settled = [
            (state.key, algorithm, digest)
            for state, digest in digests.items()
            if now - state.changed_ns > _SETTLED_S * 1e9
        ]
        if self._memory is None or not settled:
            return
        try:
            self._memory.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.closing(sqlite3.connect(self._memory, timeout=5)) as database, database:
                database.execute(
                    "CREATE TABLE IF NOT EXISTS digests"
                    " (key TEXT, algorithm TEXT, digest TEXT, PRIMARY KEY (key, algorithm))"
                )
                database.executemany("INSERT OR REPLACE INTO digests VALUES (?, ?, ?)", settled)
        except (sqlite3.Error, OSError, UnicodeError) as error:
            self._mend(error)

    def _mend(self, error: Exception) -> None:
        """A damaged database would make every run slow for ever; begin a new one."""
        if type(error) is sqlite3.DatabaseError and self._memory is not None:
            with contextlib.suppress(OSError):
                self._memory.unlink()


def _state(path: Path | str) -> _State:
    try:
        status = os.stat(path)
    except OSError as error:
        raise ArtifactError(f"cannot read {path}: {error.strerror or error}") from None
    if not stat.S_ISREG(status.st_mode):  # reading a pipe or device might never end
        raise ArtifactError(f"cannot read {path}: it is not a plain file")
    # The inode's own time cannot be set back, as `cp -p`, `rsync -t` and `touch -r` do with the other one.
    place = path if os.path.isabs(path) else os.path.abspath(path)
    key = f"{place}|{status.st_ino}|{status.st_size}|{status.st_mtime_ns}|{status.st_ctime_ns}"
    return _State(key, max(status.st_mtime_ns, status.st_ctime_ns))


def _hash_files(paths: list[Path | str], algorithm: str) -> list[str]:
    """Several threads, each with many files at a time: handing a small one over costs as much as reading it."""
    if len(paths) <= _TOGETHER:
        return [hash_file(path, algorithm) for path in paths]
    from concurrent.futures import ThreadPoolExecutor

    parts = [paths[start : start + _TOGETHER] for start in range(0, len(paths), _TOGETHER)]
    with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
        done = pool.map(lambda part: [hash_file(path, algorithm) for path in part], parts)
        return [digest for part in done for digest in part]


def hash_file(path: Path | str, algorithm: str = "sha256") -> str:
    digest = hashlib.new(algorithm, usedforsecurity=False)
    try:
        with open(path, "rb", buffering=0) as file:
            # No more than the file has: memory that is only reserved costs as much as hashing some kilobytes.
            length = min(os.fstat(file.fileno()).st_size + 1, _BLOCK)
            while block := file.read(length):
                digest.update(block)
    except OSError as error:
        raise ArtifactError(f"cannot read {path}: {error.strerror or error}") from None
    return digest.hexdigest()


def list_files(folder: Path) -> list[str]:
    """Relative paths of all files below a folder, sorted; what cannot be listed is an error, not a gap.

    Links to folders are followed, unless they lead back to where they lie.
    """
    names: list[str] = []
    pending: list[tuple[str, frozenset[tuple[int, int]]]] = [("", frozenset())]
    while pending:
        below, above = pending.pop()
        place = os.path.join(folder, below)
        try:
            status = os.stat(place)
            here = (status.st_dev, status.st_ino)
            if here in above:
                raise ArtifactError(f"cannot list {place}: it is a link to a folder that it lies in")
            with os.scandir(place) as entries:
                for entry in entries:
                    if entry.is_dir():
                        pending.append((f"{below}{entry.name}/", above | {here}))
                    else:
                        names.append(below + entry.name)
        except OSError as error:
            raise ArtifactError(f"cannot list {place}: {error.strerror or error}") from None
    _refuse_odd_names(names, folder)
    return sorted(names)


def _refuse_odd_names(names: list[str], folder: Path) -> None:
    """Names that would not survive in a text file: in the list of digests, a line end could pass for another file."""
    for name in names:
        if _ODD.search(name):
            raise ArtifactError(f"the name {ascii(name)} below {folder} is not one line of UTF-8 text")


def tree_digest(files: Iterable[tuple[str, str]]) -> str:
    digest = hashlib.sha256()
    for name, file_digest in sorted(files):
        digest.update(f"{file_digest}  {name}\n".encode())
    return digest.hexdigest()
