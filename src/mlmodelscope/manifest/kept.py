"""What was read from a file, kept until the file is another one."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

Found = TypeVar("Found")
_MOST = 4096


class Kept(Generic[Found]):
    """Several threads may ask at once; a file that is being read is read by one of them."""

    def __init__(self, read: Callable[[Path], Found]) -> None:
        self._read = read
        self._lock = threading.RLock()
        self._found: OrderedDict[Path, tuple[tuple[int, ...], Found]] = OrderedDict()

    def __call__(self, path: Path) -> Found:
        try:
            status = path.stat()
        except OSError:
            return self._read(path)  # which says what is wrong
        mark = (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)
        with self._lock:
            known = self._found.get(path)
            if known is not None and known[0] == mark:
                return known[1]
            found = self._read(path)
            self._found[path] = mark, found
            self._found.move_to_end(path)
            while len(self._found) > _MOST:
                self._found.popitem(last=False)
            return found
