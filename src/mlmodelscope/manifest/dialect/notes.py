"""What reading a dialect had to decide, so that nothing is decided silently."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mlmodelscope.manifest.source import Place, SourceMap

Kind = Literal["implied", "kept", "repeated", "typo", "unclear"]
"""Made explicit · an unknown key kept under `attributes` · a key that stands twice · a misspelt word read as the right
one · worth a look."""


@dataclass(frozen=True)
class Note:
    """One decision."""

    kind: Kind
    message: str
    place: Place
    seen: str = ""
    read_as: str = ""


class Notes(list[Note]):
    """The decisions, in the order in which they were made."""

    def add(self, kind: Kind, message: str, place: Place, seen: str = "", read_as: str = "") -> None:
        self.append(Note(kind, message, place, seen, read_as))

    def imply(self, holder: SourceMap, key: str, value: object, place: Place, reason: str) -> None:
        """Put a value that the author did not write, with the reason for it."""
        holder.put(key, value, place, reason)
        self.add("implied", f"`{key}: {_spell(value)}` {reason}", place)


def _spell(value: object) -> str:
    text = str(value)
    return text if len(text) <= 60 else text[:57] + "..."
