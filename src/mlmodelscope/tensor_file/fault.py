"""How a weights file that cannot be trusted is spoken of."""

from __future__ import annotations

from mlmodelscope.errors import ArtifactError


def damaged(why: str) -> ArtifactError:
    return ArtifactError(f"the file is damaged: {why}", hint="fetch it again; a cut-off download looks like this")


def quote(text: str) -> str:
    """A name from an untrusted file, fit for a terminal: short, and without control characters."""
    shown = "".join(letter if letter.isprintable() else "?" for letter in text[:80])
    return f"`{shown}…`" if len(text) > 80 else f"`{shown}`"
