"""Porter's stemmer with the changes that NLTK made to it, which rouge-score uses: `running` and `runs` become `run`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

_IRREGULAR = {
    "skies": "sky",
    "sky": "sky",
    "dying": "die",
    "lying": "lie",
    "tying": "tie",
    "news": "news",
    "innings": "inning",
    "inning": "inning",
    "outings": "outing",
    "outing": "outing",
    "cannings": "canning",
    "canning": "canning",
    "howe": "howe",
    "proceed": "proceed",
    "exceed": "exceed",
    "succeed": "succeed",
}
_SECOND = (
    *(("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("bli", "ble")),
    *(("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"), ("ization", "ize"), ("ation", "ate")),
    *(("ator", "ate"), ("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al")),
    *(("iviti", "ive"), ("biliti", "ble"), ("fulli", "ful")),
)
_THIRD = (("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", ""))
_FOURTH: tuple[str, ...] = ("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent")
_FOURTH += ("ion", "ou", "ism", "ate", "iti", "ous", "ive", "ize")


_LONGEST_KEPT = 40


def stem(word: str) -> str:
    """The stem of a word in small letters."""
    return _remembered(word) if len(word) <= _LONGEST_KEPT else _stem(word)


@lru_cache(maxsize=1 << 16)  # texts have few words that are not in other texts
def _remembered(word: str) -> str:
    return _stem(word)


def _stem(word: str) -> str:
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 2:
        return word
    for step in (_plural, _past, _last_y, _second, _third, _fourth, _last_e, _last_l):
        word = step(word)
    return word


def _consonants(word: str) -> list[bool]:
    """Whether each letter is one; `y` is one unless it follows one."""
    found: list[bool] = []
    for place, letter in enumerate(word):
        found.append(letter not in "aeiou" and (letter != "y" or place == 0 or not found[-1]))
    return found


def _measure(word: str) -> int:
    """How often consonants follow vowels."""
    found = _consonants(word)
    return sum(after and not before for before, after in zip(found, found[1:], strict=False))


def _ends_short(word: str) -> bool:
    """Whether it ends in consonant, vowel, consonant, such as `hop`, or is a vowel and a consonant."""
    last = _consonants(word)[-3:]
    return (last == [True, False, True] and word[-1] not in "wxy") or (len(word) == 2 and last == [False, True])


def _replaced(word: str, rules: Sequence[tuple[str, str]], holds: Callable[[str], bool]) -> str:
    """By the first rule whose ending the word has, where the condition holds for what is before it."""
    for ending, replacement in rules:
        if word.endswith(ending):
            before = word[: len(word) - len(ending)]
            return before + replacement if holds(before) else word
    return word


def _has_measure(word: str) -> bool:
    return _measure(word) > 0


def _plural(word: str) -> str:
    if word.endswith("ies") and len(word) == 4:
        return word[:-1]
    return _replaced(word, (("sses", "ss"), ("ies", "i"), ("ss", "ss"), ("s", "")), lambda before: True)


def _past(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _has_measure(word[:-3]) else word
    for ending in ("ed", "ing"):
        before = word.removesuffix(ending)
        if before != word and not all(_consonants(before)):
            return _repaired(before)
    return word


def _repaired(word: str) -> str:
    """What is left without `ed` or `ing`."""
    if word.endswith(("at", "bl", "iz")):
        return f"{word}e"
    if len(word) >= 2 and word[-1] == word[-2] and _consonants(word)[-1]:
        return word if word[-1] in "lsz" else word[:-1]
    return f"{word}e" if _measure(word) == 1 and _ends_short(word) else word


def _last_y(word: str) -> str:
    return _replaced(word, (("y", "i"),), lambda before: len(before) > 1 and _consonants(before)[-1])


def _second(word: str) -> str:
    if word.endswith("alli") and _has_measure(word[:-4]):
        return _second(word[:-2])
    if word.endswith("logi") and not any(word.endswith(ending) for ending, _ in _SECOND):
        return word[:-1] if _has_measure(word[:-3]) else word
    return _replaced(word, _SECOND, _has_measure)


def _third(word: str) -> str:
    return _replaced(word, _THIRD, _has_measure)


def _fourth(word: str) -> str:
    ending = next((each for each in _FOURTH if word.endswith(each)), "")
    before = word.removesuffix(ending)
    is_left_out = _measure(before) > 1 and (ending != "ion" or before[-1] in "st")
    return before if ending and is_left_out else word


def _last_e(word: str) -> str:
    before = word.removesuffix("e")
    many = _measure(before)
    return before if before != word and (many > 1 or (many == 1 and not _ends_short(before))) else word


def _last_l(word: str) -> str:
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word
