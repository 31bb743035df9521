"""What stacks and caches hold on disk, and what removing a stack really frees: files may have links elsewhere."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from mlmodelscope.errors import StackError
from mlmodelscope.provision.stack.interpreter import find_uv
from mlmodelscope.provision.stack.store import Built, StackStore
from mlmodelscope_worker.environment import normalise

_TIMEOUT_S = 300


@dataclass(frozen=True)
class Size:
    """Of some folders. A file is counted once, however many names it has there."""

    bytes: int
    own_bytes: int
    """Of files that have no further name anywhere: what deleting them frees."""

    @property
    def shared_bytes(self) -> int:
        return self.bytes - self.own_bytes


def size_of(*folders: Path) -> Size:
    seen: dict[tuple[int, int], int] = {}
    sizes: dict[tuple[int, int], tuple[int, int]] = {}
    for folder in folders:
        for status in _files(folder):
            key = status.st_dev, status.st_ino
            seen[key] = seen.get(key, 0) + 1
            sizes[key] = status.st_size, status.st_nlink
    own = sum(size for key, (size, links) in sizes.items() if links <= seen[key])
    return Size(sum(size for size, _ in sizes.values()), own)


def _files(folder: Path) -> Iterator[os.stat_result]:
    """What vanishes meanwhile is not there."""
    for place, _, names in os.walk(folder, onerror=lambda error: None):
        for name in names:
            try:
                yield os.lstat(os.path.join(place, name))
            except OSError:
                continue


def uv_cache() -> Path | None:
    """Where uv keeps what it has fetched; nothing without uv."""
    uv = find_uv()
    if uv is None:
        return None
    said = _run([uv, "cache", "dir"]).strip()
    return Path(said) if said and os.path.isabs(said) else None


def clean_uv_cache(stack: Built, store: StackStore) -> list[str]:
    """Have uv forget the packages that no other stack has; which they were."""
    uv = find_uv()
    if uv is None:
        raise StackError(
            "there is no uv on this machine, so it has no cache", hint="without --cache the stack is removed"
        )
    others = {normalise(name) for each in store.list() if each.digest != stack.digest for name in each.packages}
    alone = sorted({normalise(name) for name in stack.packages} - others)
    for some in _in_lots(alone, 100):
        _run([uv, "cache", "clean", "--quiet", *some], must=True)
    return alone


def _in_lots(names: list[str], most: int) -> Iterable[list[str]]:
    return (names[start : start + most] for start in range(0, len(names), most))


def _run(command: list[str], *, must: bool = False) -> str:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        if must:
            raise StackError(f"cannot run {command[0]}: {error}") from None
        return ""
    if done.returncode and must:
        raise StackError(f"uv cannot clean its cache: {done.stderr.strip()[-500:]}")
    return done.stdout if done.returncode == 0 else ""
