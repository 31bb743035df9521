"""Models that stay open between questions: opening one takes seconds, an answer milliseconds."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, Protocol, TypeVar


class Closable(Protocol):
    def close(self) -> None: ...


Opened = TypeVar("Opened", bound=Closable)


class _Place(Generic[Opened]):
    """One thing, open or about to be, and whoever uses it at the moment."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.opened: Opened | None = None
        self.users = 0
        self.is_wanted = True
        self.used_at = time.monotonic()


class Warm(Generic[Opened]):
    """At most so many things are kept open; of those that nobody uses, the one longest unused goes first.

    One thing is used by one caller at a time: a model that answers two at once would be timed wrongly, and most
    frameworks' sessions are not made for it. While one is being opened, whoever wants the same one waits for it.
    """

    def __init__(self, most: int = 2, idle_s: float = 600) -> None:
        self._most, self._idle_s = most, idle_s
        self._places: dict[str, _Place[Opened]] = {}
        self._lock = threading.Lock()
        self._closed = False

    @contextmanager
    def use(self, key: str, open_it: Callable[[], Opened]) -> Iterator[Opened]:
        """The thing of this key; what fails while it is used is closed, since nobody knows what state it is in."""
        place = self._enter(key)
        try:
            with place.lock:
                if place.opened is None:
                    place.opened = open_it()
                try:
                    yield place.opened
                except BaseException:
                    broken, place.opened = place.opened, None
                    broken.close()
                    raise
        finally:
            self._leave(key, place)

    def keys(self) -> list[str]:
        """What is open at the moment."""
        with self._lock:
            return [key for key, place in self._places.items() if place.opened is not None]

    def drop(self, key: str) -> None:
        """Close this one; where it is in use, its last user does."""
        with self._lock:
            place = self._places.get(key)
            if place is None:
                return
            place.is_wanted = False
            if place.users:
                return
            del self._places[key]
        _close([place])

    def sweep(self, idle_s: float | None = None) -> None:
        """Close what nobody has used for long, or for so many seconds."""
        moment = time.monotonic() - (self._idle_s if idle_s is None else idle_s)
        with self._lock:
            old = [key for key, place in self._places.items() if not place.users and place.used_at <= moment]
            closing = [self._places.pop(key) for key in old]
        _close(closing)

    def close(self) -> None:
        """Close all; what is in use is closed by its last user."""
        with self._lock:
            self._closed = True
            idle = [key for key, place in self._places.items() if not place.users]
            closing = [self._places.pop(key) for key in idle]
        _close(closing)

    def _enter(self, key: str) -> _Place[Opened]:
        with self._lock:
            place = self._places.setdefault(key, _Place())
            place.users += 1
            idle = sorted(
                (each for each, other in self._places.items() if not other.users),
                key=lambda each: self._places[each].used_at,
            )
            too_many = max(len(self._places) - self._most, 0)
            closing = [self._places.pop(each) for each in idle[:too_many]]
        _close(closing)
        return place

    def _leave(self, key: str, place: _Place[Opened]) -> None:
        with self._lock:
            place.users -= 1
            place.used_at = time.monotonic()
            unwanted = self._closed or not place.is_wanted or len(self._places) > self._most
            over = not place.users and (unwanted or place.opened is None)
            if over:
                self._places.pop(key, None)
        if over:
            _close([place])


def _close(places: list[_Place[Opened]]) -> None:
    for place in places:
        opened, place.opened = place.opened, None
        if opened is not None:
            opened.close()
