"""Evicts artifacts that were not used for long, or the oldest of too many; all of them can be fetched again."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator, Set
from dataclasses import dataclass
from pathlib import Path

from mlmodelscope.provision.cache import Cache

_RECENT_S = 86_400
"""What was used since then is not taken away for its size: somebody may be at work with it."""


@dataclass(frozen=True)
class Evicted:
    digest: str
    bytes: int
    used_at: float
    path: Path


def evict_artifacts(
    root: Path, *, unused_s: float | None, most_bytes: int | None, needed: Set[str], dry_run: bool = False
) -> list[Evicted]:
    """What was, or would be, taken away. `needed` are digests that stay in any case."""
    cache, moment = Cache(root), time.time()
    found = sorted(_artifacts(cache), key=lambda each: each.used_at)
    total, gone = sum(each.bytes for each in found), []
    for each in found:
        is_old = unused_s is not None and moment - each.used_at > unused_s
        is_too_much = most_bytes is not None and total > most_bytes and moment - each.used_at > _RECENT_S
        if each.digest in needed or not (is_old or is_too_much):
            continue
        if not dry_run and not _drop(cache, each):
            continue
        gone.append(each)
        total -= each.bytes
    if unused_s is not None and not dry_run:
        _drop_partial(root, moment - unused_s)
    return gone


def _artifacts(cache: Cache) -> Iterator[Evicted]:
    for kind in ("files", "folders"):
        for path in (cache.root / kind).glob("??/*"):
            try:
                used_at = _used_at(cache, path)
                size = path.stat().st_size if path.is_file() else _size(path)
            except OSError:
                continue  # gone meanwhile
            yield Evicted(path.name, size, used_at, path)


def _used_at(cache: Cache, path: Path) -> float:
    """Fetched before uses were noted, it was used when it came."""
    stamp = cache.stamp(path.name)
    return stamp.stat().st_mtime if stamp.exists() else path.lstat().st_ctime


def _size(folder: Path) -> int:
    return sum(os.lstat(os.path.join(place, name)).st_size for place, _, names in os.walk(folder) for name in names)


def _drop(cache: Cache, artifact: Evicted) -> bool:
    try:
        if _used_at(cache, artifact.path) != artifact.used_at:  # by somebody, a moment ago
            return False
        cache.drop(artifact.path)
        shutil.rmtree(cache.root / "named" / artifact.digest, ignore_errors=True)
    except OSError:
        return False
    return True


def _drop_partial(root: Path, before: float) -> None:
    """Downloads that nobody went on with."""
    for path in (root / "partial").glob("*"):
        try:
            if path.is_file() and path.stat().st_mtime < before:
                path.unlink()
        except OSError:
            continue
