"""Did you mean …?"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(seen: str, known: Iterable[str]) -> str | None:
    """A hint with the closest known word, where one is close."""
    found = difflib.get_close_matches(seen.lower(), {word.lower(): word for word in known}, n=1, cutoff=0.6)
    if not found:
        return None
    spelled = next(word for word in known if word.lower() == found[0])
    return f"did you mean `{spelled}`?"
