"""How much may be fetched: for one file, for one request, and as the disk has room for."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path

from mlmodelscope.errors import ArtifactError
from mlmodelscope.settings import Settings

_LOOK_EVERY = 64 << 20
_KEPT_FREE = 1 << 30


class TooLarge(ArtifactError):
    """More than may be fetched; nothing of it is kept."""


class Allowance:
    """For one request: each file may have so many bytes, and all of them together so many."""

    def __init__(self, settings: Settings | None = None) -> None:
        is_strangers = settings is not None and settings.public_only
        self.file_bytes, self.request_bytes = (settings or Settings(Path(), Path())).download_limits
        self._variable = "MLMODELSCOPE_LARGEST_PUBLIC_" if is_strangers else "MLMODELSCOPE_LARGEST_"
        self._spent, self._lock = 0, threading.Lock()

    def expect(self, name: str, total: int | None, have: int, place: Path) -> None:
        """Before anything is fetched: what was announced must be allowed, and must fit."""
        self._check(name, total or 0)
        leave_room(place, max(0, (total or 0) - have))

    def take(self, name: str, done: int, more: int, place: Path) -> None:
        """`more` bytes have come, `done` in all."""
        self._check(name, done)
        with self._lock:
            self._spent += more
            if self._spent > self.request_bytes:
                raise TooLarge(
                    f"more than {self.request_bytes} bytes would be fetched for one request",
                    hint=f"{self._variable}REQUEST allows more",
                )
        if (done - more) // _LOOK_EVERY != done // _LOOK_EVERY:
            leave_room(place)

    def _check(self, name: str, length: int) -> None:
        if length > self.file_bytes:
            raise TooLarge(
                f"{name or 'the file'} has more than {self.file_bytes} bytes and is not fetched",
                hint=f"{self._variable}FILE allows more",
            )


def leave_room(place: Path, length: int = 0) -> None:
    """OSError, as if the disk were full, where `length` more bytes would leave hardly anything free."""
    disk = os.statvfs(place)
    free, whole = disk.f_bavail * disk.f_frsize, disk.f_blocks * disk.f_frsize
    if whole and free - length < min(_KEPT_FREE, whole // 20):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(place))
