"""What a sample is, where it is no picture: its texts, its cells, or its sound with a player."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mlmodelscope.report.heard import Heard, Hearing
from mlmodelscope.report.sound import Sound, Sounds

_MOST_TEXT = 12_000
_MOST_CELLS = 24
_LONGEST_CELL = 200
_TITLES = {"text": "Text", "text_pair": "Second text"}


@dataclass(frozen=True)
class OwnContent:
    """All empty where a sample is a picture."""

    texts: tuple[tuple[str, str], ...] = ()
    """(what it is, the text): one, or two that belong together."""
    cells: tuple[tuple[str, str], ...] = ()
    """(column, value) of a row."""
    more_cells: int = 0
    sound: Sound | None = None
    heard: tuple[Heard, ...] = ()
    """What the model hears of the sound, for each input that takes it."""

    def __bool__(self) -> bool:
        return bool(self.texts or self.cells or self.sound)


def own_content(content: Mapping[str, Any], sounds: Sounds | None = None, hearing: Hearing | None = None) -> OwnContent:
    """What is shown of a sample beside its truth and its answer; `sounds` says how much a page may carry."""
    parts: Mapping[str, Mapping[str, Any]] = content.get("parts", {})
    texts = tuple(
        (title, cut_text(str(parts[part]["text"]))) for part, title in _TITLES.items() if "text" in parts.get(part, {})
    )
    cells = parts.get("columns", {}).get("cells", {}) or parts.get("document", {}).get("document", {})
    shown = tuple((str(name)[:_LONGEST_CELL], _cell(value)) for name, value in list(cells.items())[:_MOST_CELLS])
    sound = sounds.make(parts["audio"]) if sounds is not None and "file" in parts.get("audio", {}) else None
    heard = hearing(content) if hearing is not None and sound is not None else ()
    return OwnContent(texts, shown, max(0, len(cells) - _MOST_CELLS), sound, heard)


def cut_text(text: str, most: int = _MOST_TEXT) -> str:
    """As long as a page should carry it."""
    return text if len(text) <= most else f"{text[:most]}… ({len(text):,} characters)"


def _cell(value: Any) -> str:
    if value is None:
        return "missing"
    if isinstance(value, list | dict):
        value = json.dumps(value, ensure_ascii=False)
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= _LONGEST_CELL else f"{text[:_LONGEST_CELL]}…"
