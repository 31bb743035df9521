"""Other people's files are hostile: how much of one is looked at, and how it is spoken of."""

from __future__ import annotations

from dataclasses import dataclass

from mlmodelscope.model_file.model_file import ModelFileError

# Tensors have names of some dozen letters, graphs a handful of inputs; these are far beyond both.
MAX_NAME_BYTES = 1 << 12
MAX_TENSORS = 1 << 12
MAX_RANK = 64
# The names of ImageNet-21k take half a megabyte.
MAX_TEXT_BYTES = 1 << 20
MAX_METADATA = 1 << 10
MAX_LABELS = 1 << 17


@dataclass
class Budget:
    """Steps that reading one file may take: a file of gigabytes must not keep us busy for hours.

    The graph of a large language model takes some hundred thousand.
    """

    steps: int = 1 << 21

    def spend(self, steps: int = 1) -> None:
        self.steps -= steps
        if self.steps < 0:
            raise ModelFileError("it has more parts than any model that we know of, and was not read to its end")


def damaged(why: str) -> ModelFileError:
    return ModelFileError(f"the file is damaged: {why}", hint="fetch it again; a cut-off download looks like this")


def clean(text: str) -> str:
    """Words of a stranger, fit for a terminal; lines stay lines."""
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() or letter in "\n\t" else "?" for letter in text)


def quote(text: str) -> str:
    shown = "".join(letter if letter.isprintable() else "?" for letter in text[:80])
    return f"`{shown}…`" if len(text) > 80 else f"`{shown}`"


def listed(names: list[str], most: int = 5) -> str:
    """Some of many names, for a note."""
    shown = ", ".join(map(quote, names[:most]))
    return f"{shown} and {len(names) - most:,} more" if len(names) > most else shown
