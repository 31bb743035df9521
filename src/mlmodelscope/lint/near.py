"""Which known word a misspelled one was meant to be, where nobody could mean another."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

_CLOSE = 0.75
_SURE = 0.85
_APART = 0.08
_LONG = 6


def only_near(seen: str, known: tuple[str, ...], is_value: bool = False) -> str | None:
    """The one known word that is near; None where two are equally near, because then nobody can know which was meant.

    A value says what is to be done, and a short one may be meant as it stands: `RGBA` is no misspelled `RGB`, nor is
    `int16` one of `int8`. Such a word is left to its author.
    """
    same = [word for word in known if word.lower() == seen.lower()]
    if same:
        return same[0] if len(same) == 1 else None
    near = sorted(((_likeness(seen, word), word) for word in known), reverse=True)
    near = [(likeness, word) for likeness, word in near if likeness >= _CLOSE]
    if not near:
        return None
    (best, chosen), others = near[0], near[1:]
    if others and not (best >= _SURE and best - others[0][0] >= _APART):
        return None
    return None if is_value and not _is_typing_error(seen, chosen) else chosen


def _likeness(seen: str, word: str) -> float:
    return SequenceMatcher(None, seen.lower(), word.lower()).ratio()


def _is_typing_error(seen: str, word: str) -> bool:
    same_numbers = re.findall(r"\d+", seen) == re.findall(r"\d+", word)
    return min(len(seen), len(word)) >= _LONG and _likeness(seen, word) >= _SURE and same_numbers
