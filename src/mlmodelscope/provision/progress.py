"""How far a transfer is, told to whoever watches."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, int, int | None], None]
"""Called with a name, the bytes so far and the bytes in all (None when unknown)."""


def silent(name: str, done: int, total: int | None) -> None:
    """No progress shown."""
