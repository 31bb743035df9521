"""Who is told that a command waits for the database. Commands that never open one need not import any to say so."""

from __future__ import annotations

from collections.abc import Callable

listeners: list[Callable[[str], None]] = []
"""Each gets the sentence; without one nobody is told, as in a server."""
