"""What is done to texts before they are compared: a list of steps, declared where a number is measured or claimed.

Half of a word error rate may be spelling: capitals, "mr." for "mister", commas. So nothing is done unless it is written
down, and what is written down is kept with the number.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from mlmodelscope_worker.parameters import Kind, ParameterError, spell

_MOST_STEPS = 32
_MOST_PAIRS = 1000
_LONGEST = 200
_RANGE = re.compile(r"(.)-(.)|(.)", re.DOTALL)


def _without_accents(text: str) -> str:
    apart = unicodedata.normalize("NFD", text)
    return unicodedata.normalize("NFC", "".join(each for each in apart if unicodedata.category(each) != "Mn"))


def _without_punctuation(text: str) -> str:
    return "".join(each for each in text if not unicodedata.category(each).startswith("P"))


def _squeezed(text: str) -> str:
    return " ".join(text.split())


PLAIN: Mapping[str, Callable[[str], str]] = {
    "lowercase": str.lower,
    "unicode_nfc": lambda text: unicodedata.normalize("NFC", text),
    "unicode_nfkc": lambda text: unicodedata.normalize("NFKC", text),
    "strip_accents": _without_accents,
    "remove_punctuation": _without_punctuation,
    "squeeze_spaces": _squeezed,
}
"""Steps that need nothing more."""
STEPS = (*PLAIN, "expand", "keep")
Step = str | Mapping[str, Any]


class Normalization(Kind):
    """A list of steps, in the order in which they are done."""

    def __init__(self, meaning: str) -> None:
        Kind.__init__(self, meaning)

    def check(self, value: Any) -> list[Step]:
        steps = value if isinstance(value, list | tuple) else [value]
        if len(steps) > _MOST_STEPS:
            raise ParameterError(f"expected up to {_MOST_STEPS} steps, saw {len(steps)}")
        return [self._step(each) for each in steps]

    def _step(self, step: Any) -> Step:
        if isinstance(step, str) and step in PLAIN:
            return step
        if isinstance(step, Mapping) and len(step) == 1:
            ((name, argument),) = step.items()
            if name == "expand":
                return {"expand": _pairs(argument)}
            if name == "keep":
                return {"keep": _characters(argument)}
        raise ParameterError(f"{spell(step)} is not a step of a normalization", known=STEPS, seen=step)

    def schema(self) -> dict[str, Any]:
        text = {"type": "string", "minLength": 1, "maxLength": _LONGEST}
        expand = {"type": "object", "additionalProperties": {**text, "minLength": 0}, "minProperties": 1}
        forms = [
            {"type": "object", "properties": {name: form}, "required": [name], "additionalProperties": False}
            for name, form in (("expand", expand), ("keep", text))
        ]
        return {"type": "array", "items": {"anyOf": [{"enum": list(PLAIN)}, *forms]}, "maxItems": _MOST_STEPS}


def _pairs(told: Any) -> dict[str, str]:
    if not isinstance(told, Mapping) or not 1 <= len(told) <= _MOST_PAIRS:
        raise ParameterError(f"`expand` needs words and what they stand for, saw {spell(told)}")
    for word, stands_for in told.items():
        if not isinstance(word, str) or not word.strip() or not isinstance(stands_for, str):
            raise ParameterError(f"`expand` needs texts, saw {spell(word)}: {spell(stands_for)}")
        if max(len(word), len(stands_for)) > _LONGEST:
            raise ParameterError(f"`expand` takes texts of up to {_LONGEST} characters, saw {spell(word)}")
    return dict(told)


def _characters(told: Any) -> str:
    if not isinstance(told, str) or not 1 <= len(told) <= _LONGEST:
        raise ParameterError(f'`keep` needs characters and ranges such as "a-z\' ", saw {spell(told)}')
    for match in _RANGE.finditer(told):
        if match[1] is not None and match[1] > match[2]:
            raise ParameterError(f"`keep` has the range {match[0]}, which ends before it begins")
    return told


def normalized(text: str, steps: Sequence[Step]) -> str:
    """The text after all steps."""
    for step in steps:
        if isinstance(step, str):
            text = PLAIN[step](text)
        elif "expand" in step:
            text = _expanded(text, step["expand"])
        else:
            text = _others(step["keep"]).sub(" ", text)
    return text


def _expanded(text: str, words: Mapping[str, str]) -> str:
    return _any_of(tuple(words)).sub(lambda match: words[match[0]], text)


@lru_cache(maxsize=64)
def _any_of(words: tuple[str, ...]) -> re.Pattern[str]:
    """Any of the words where it stands alone, the longest first."""
    longest = sorted(words, key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest))})(?!\w)")


@lru_cache(maxsize=64)
def _others(kept: str) -> re.Pattern[str]:
    """Every character that is not kept."""
    ranges = "".join(
        re.escape(match[3]) if match[3] is not None else f"{re.escape(match[1])}-{re.escape(match[2])}"
        for match in _RANGE.finditer(kept)
    )
    return re.compile(f"[^{ranges}]")
