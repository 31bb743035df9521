"""What was found out a moment ago, and need not be found out again for the next question."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Found = TypeVar("Found")


class Recent(Generic[Found]):
    """Each thing is good for so many seconds. Threads may share it; two that ask at once may both find out."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds, self._clock = seconds, clock
        self._known: dict[Hashable, tuple[float, Found]] = {}
        self._lock = threading.Lock()

    def get(self, key: Hashable, find: Callable[[], Found]) -> Found:
        moment = self._clock()
        with self._lock:
            self._known = {each: known for each, known in self._known.items() if moment - known[0] < self._seconds}
            if key in self._known:
                return self._known[key][1]
        found = find()
        with self._lock:
            self._known[key] = (moment, found)
        return found
