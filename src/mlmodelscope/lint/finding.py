"""What a rule found, where, and how to fix it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")


@dataclass(frozen=True)
class Edit:
    """A piece of the file's text and what shall stand there instead; from and to in characters."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Finding:
    """One thing worth saying about a manifest."""

    message: str
    file: str = ""
    line: int = 0
    column: int = 0
    path: str = ""
    hint: str | None = None
    known: tuple[str, ...] = ()
    fix: tuple[Edit, ...] = ()
    """All of them together fix it; empty where only the author can know."""
    code: str = ""
    severity: Severity | None = None
    """None while a rule leaves it to its own."""

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file
