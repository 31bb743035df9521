"""A budget of time: what runs when it is spent is interrupted as by Ctrl-C, and resumes where it left off."""

from __future__ import annotations

import contextlib
import re
import signal
import threading
import time
from collections.abc import Iterator
from types import FrameType

from mlmodelscope.errors import UsageError

_DURATION = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,6})?)\s*(s|m|min|h|d|)")
_SECONDS = {"s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86_400.0}
_LONGEST_S = 366 * 86_400.0


class BudgetSpent(KeyboardInterrupt):
    """Whatever is ready to be interrupted is ready for this."""


def duration_s(text: str) -> float:
    """`90s`, `30m`, `2h`, `1.5d`."""
    match = _DURATION.fullmatch(text.strip().lower())
    if match is None or not match[2]:
        raise UsageError(
            f"`{text[:40]}` is not a duration", hint="mlmodelscope claims check --budget 30m; units are s, m, h and d"
        )
    found = float(match[1]) * _SECONDS[match[2]]
    if not 0 < found <= _LONGEST_S:
        raise UsageError(
            f"a budget of {text[:40]} is not between a moment and a year", hint="mlmodelscope claims check --budget 2h"
        )
    return found


class Deadline:
    """A moment, or none."""

    def __init__(self, budget_s: float | None) -> None:
        self._at = None if budget_s is None else time.monotonic() + budget_s

    @property
    def left_s(self) -> float | None:
        return None if self._at is None else self._at - time.monotonic()

    @property
    def is_over(self) -> bool:
        left = self.left_s
        return left is not None and left <= 0

    @contextlib.contextmanager
    def interrupting(self) -> Iterator[None]:
        """Raise BudgetSpent inside when it is over. Only a process's first thread can be interrupted like this."""
        left = self.left_s
        if left is None or threading.current_thread() is not threading.main_thread():
            yield
            return

        def spent(number: int, frame: FrameType | None) -> None:
            raise BudgetSpent

        before = signal.signal(signal.SIGALRM, spent)
        signal.setitimer(signal.ITIMER_REAL, max(left, 1e-3))
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
