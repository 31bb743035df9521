"""The index: all entries of all sources in one SQLite file of the user's cache, made on first use.

Its name is a digest of the facts, so a file is complete or absent: it is built under another name and renamed. A
process that is killed while it builds leaves a draft, which a later one removes. Where the cache cannot be written, the
index is built in memory.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import importlib
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from mlmodelscope.catalog.facts import SHIPPED, SUFFIX
from mlmodelscope.settings import Settings

_FORMAT = b"4"
_KEPT_S = 30 * 24 * 3600
_DRAFT_S = 3600


def facts_folder(settings: Settings) -> Path:
    """Where the facts of sources lie that the user has added."""
    return settings.home / "catalog"


def facts_files(settings: Settings) -> list[Path]:
    """The shipped facts, then the user's own."""
    own = facts_folder(settings)
    return [SHIPPED, *(sorted(own.glob(f"*{SUFFIX}")) if own.is_dir() else ())]


def open_index(settings: Settings) -> sqlite3.Connection:
    """The index of the facts as they are now; built where there is none of them."""
    files = facts_files(settings)
    folder = settings.cache / "catalog"
    path = folder / f"index-{_key(files)}.sqlite"
    for _ in range(2):
        found = _opened(path)
        if found is not None:
            return found
        try:
            with _building(folder):
                if not path.is_file():
                    _build_file(path, files)
                    _clear(folder, path)
        except (OSError, sqlite3.OperationalError):
            break  # nowhere to write: the cache is read-only, full or gone
    memory = sqlite3.connect(":memory:")
    _filler().fill(memory, files)
    return memory


def _key(files: Iterable[Path]) -> str:
    digest = hashlib.sha256(_FORMAT)
    for path in files:
        with contextlib.suppress(OSError):
            digest.update(f"{path.name}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:24]


def _opened(path: Path) -> sqlite3.Connection | None:
    """Read-only; a file that is damaged is removed, so that it is built again."""
    if not path.is_file():
        return None
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
    try:
        if connection.execute("SELECT value FROM facts WHERE name = 'is_complete'").fetchone() is not None:
            return connection
    except sqlite3.DatabaseError:
        pass
    connection.close()
    with contextlib.suppress(OSError):
        path.unlink()
    return None


@contextlib.contextmanager
def _building(folder: Path) -> Iterator[None]:
    """One process builds at a time; the others wait and find what it built."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "index.lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _build_file(path: Path, files: list[Path]) -> None:
    draft = path.with_name(f"{path.stem}.{os.getpid()}.draft")
    try:
        draft.unlink(missing_ok=True)
        connection = sqlite3.connect(draft)
        try:
            # A draft that a crash leaves behind is never opened: there is nothing to protect.
            connection.execute("PRAGMA journal_mode = OFF")
            connection.execute("PRAGMA synchronous = OFF")
            _filler().fill(connection, files)
        finally:
            connection.close()
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _clear(folder: Path, kept: Path) -> None:
    """Drafts of processes that died, and indexes that nobody has built for a month."""
    now = time.time()
    for path in (*folder.glob("index-*.draft*"), *folder.glob("index-*.sqlite")):
        with contextlib.suppress(OSError):
            age = now - path.stat().st_mtime
            if path != kept and age > (_DRAFT_S if ".draft" in path.name else _KEPT_S):
                path.unlink()


def _filler() -> Any:
    """What builds an index knows manifests and importers, which whoever only reads one need not load."""
    return importlib.import_module("mlmodelscope.catalog.fill")
