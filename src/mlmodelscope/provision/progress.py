"""How far a transfer is, told to whoever watches."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

Progress = Callable[[str, int, int | None], None]
"""Called with a name, the bytes so far and the bytes in all (None when unknown)."""


def silent(name: str, done: int, total: int | None) -> None:
    """No progress shown."""


@dataclass(frozen=True)
class Transfer:
    """A file that came from the network."""

    name: str
    start_ns: int
    """By CLOCK_MONOTONIC."""
    end_ns: int
    size_bytes: int
    """That were transferred; less than the file has where an earlier attempt was resumed."""


class Transfers:
    """A progress that remembers what was transferred and tells another one."""

    def __init__(self, told: Progress = silent, clock: Callable[[], int] = time.monotonic_ns) -> None:
        self._told, self._clock = told, clock
        self._at: dict[str, tuple[int, int]] = {}
        self.found: list[Transfer] = []

    def __call__(self, name: str, done: int, total: int | None) -> None:
        self._told(name, done, total)
        now = self._clock()
        place, before = self._at.get(name, (-1, 0))
        if place < 0 or done < before:  # a further file of the same name
            self.found.append(Transfer(name, now, now, 0))
            self._at[name] = len(self.found) - 1, done
            return
        known = self.found[place]
        self.found[place] = replace(known, end_ns=now, size_bytes=known.size_bytes + done - before)
        self._at[name] = place, done
