"""What a language model writes, on the terminal as it comes."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mlmodelscope.cli.choices import pair
from mlmodelscope.cli.progress import TerminalWatcher
from mlmodelscope.errors import UsageError

if TYPE_CHECKING:
    from mlmodelscope.prediction import Prediction

_TEXTS = ("stop",)


class WritingWatcher(TerminalWatcher):
    """Prints the text to standard output, piece by piece; programs that ask for JSON get it in the end."""

    def __init__(self, *, is_shown: bool) -> None:
        super().__init__()
        self._is_shown = is_shown
        self.has_written = False

    def wrote(self, text: str) -> None:
        if self._is_shown:
            self.has_written = True
            sys.stdout.write(harmless(text))
            sys.stdout.flush()


def harmless(text: str) -> str:
    """Without what a terminal would obey: a model writes whatever it likes."""
    return "".join(
        each if each in "\n\t" or unicodedata.category(each) not in ("Cc", "Cf") else f"\\u{ord(each):04x}"
        for each in text
    )


def settings_of(words: Sequence[str]) -> dict[str, Any]:
    """`longest=64` and the like; a text that ends an answer is a text even where it looks like a number."""
    found: dict[str, Any] = {}
    for word in words:
        key, value = pair(word)
        if key in _TEXTS:
            found.setdefault(key, []).append(word.partition("=")[2])
        elif key in found:
            raise UsageError(f"--write says {key} twice")
        else:
            found[key] = value
    return found


def show_endings(predictions: Sequence[Prediction]) -> None:
    """The end of the line, and on standard error what a reader should know."""
    print()
    for each in predictions:
        value = each.value
        if each.error:
            print(f"error: {harmless(each.error)}", file=sys.stderr)
        elif isinstance(value, dict) and value.get("ending") == "length":
            print("the answer was cut off: --write longest=N allows more tokens", file=sys.stderr)
