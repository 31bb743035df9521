"""What can be set on a machine: read, written, and written back."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict, Field

from mlmodelscope.provision.machine.read import read


class Refused(Exception):
    """A setting that cannot be applied: why, and what would help."""

    def __init__(self, reason: str, hint: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.hint = hint


class Setting(BaseModel):
    """What became of one setting."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    asked: Any = Field(description="What the hardware manifest says.")
    before: Any = Field(default=None, description="What was there.")
    after: Any = Field(default=None, description="What was read back once it was set; nothing where it was not.")
    note: str | None = Field(default=None, description="Why an optional setting was not applied.")


class Lever(Protocol):
    """One thing that can be set. All may raise Refused."""

    def now(self) -> Any:
        """What is set, in the words that a manifest uses."""

    def undo(self) -> dict[str, Any]:
        """What a journal must hold to set it back: plain data, read before anything is changed."""

    def apply(self) -> None: ...


class Files:
    """A setting that is a word in one file of /sys, or the same word in one file for each processor."""

    def __init__(self, files: dict[Path, str], spell: dict[str, Any] | None = None) -> None:
        self._files = files
        self._spell = spell or {}

    def now(self) -> Any:
        words = sorted(
            {self._spell.get(text, text) for path in self._files if (text := read(path)) is not None}, key=str
        )
        return words[0] if len(words) == 1 else words or None

    def undo(self) -> dict[str, Any]:
        return {str(path): text for path in self._files if (text := read(path)) is not None}

    def apply(self) -> None:
        for path, text in self._files.items():
            if read(path) != text:
                write(path, text)


def write(path: Path, text: str) -> None:
    """Into a file that is there; /sys answers with an error where it does not like the word."""
    try:
        with open(os.open(path, os.O_WRONLY | os.O_TRUNC), "w") as file:  # never one that was not there
            file.write(text)
    except PermissionError:
        raise Refused(f"only root may write {path}", "run it as root") from None
    except OSError as error:
        hint = "in a container /sys cannot be written: set it on the host" if error.errno == errno.EROFS else None
        raise Refused(f"{path} cannot be set to `{text}`: {error.strerror or error}", hint) from None


def restore_files(undo: dict[str, Any]) -> list[str]:
    """Set back; what could not be, in words. A processor that is gone has nothing to be set back."""
    failed = []
    for name, text in undo.items():
        path = Path(name)
        if not path.exists() or read(path) == text:
            continue
        try:
            write(path, str(text))
        except Refused as refused:
            failed.append(refused.reason)
    return failed
