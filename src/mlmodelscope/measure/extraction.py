"""Which part of a written answer counts: a list of steps, declared where a number is measured or claimed.

A language model that is asked for a number writes a paragraph. Whether its last number is taken, or what stands behind
"####", moves a score by more than most models differ in, so it is written down. The steps of a normalization are steps
here, too.
"""

from __future__ import annotations

import atexit
import re
import string
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from mlmodelscope.confine.confined import Confined, Limits
from mlmodelscope.errors import LimitError
from mlmodelscope.measure.normalization import PLAIN as NORMALIZING
from mlmodelscope.measure.normalization import STEPS as NORMALIZATION
from mlmodelscope.measure.normalization import Normalization, normalized
from mlmodelscope_worker.parameters import Kind, ParameterError, spell

_NUMBER = re.compile(r"-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|-?\.\d+")
_LETTER = re.compile(r"(?<![A-Za-z])([A-Z])(?![A-Za-z])")
_BOXED = "\\boxed{"
_DIGITS = str.maketrans("", "", string.digits)
_ASCII_PUNCTUATION = str.maketrans("", "", string.punctuation)
_MOST_STEPS = 32
_LONGEST = 1000
_MOST_GROUPS = 100
_LIMITS = Limits(cpu_s=1.0, memory_bytes=256 << 20)
"""For some dozens of answers; an ordinary expression takes a hundredth of it."""
_MOST_ENDLESS = 3
"""Texts for which an expression may not come to an end before the others are not tried."""


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def _last_line(text: str) -> str:
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")


def _first_number(text: str) -> str:
    found = _NUMBER.search(text)
    return found[0].replace(",", "") if found else ""


def _last_number(text: str) -> str:
    found = _NUMBER.findall(text)
    return found[-1].replace(",", "") if found else ""


def _letter(text: str) -> str:
    found = _LETTER.search(text)
    return found[1] if found else ""


def _boxed(text: str) -> str:
    """What stands in the last `\\boxed{…}`, its braces counted."""
    start = text.rfind(_BOXED)
    if start < 0:
        return ""
    depth, begin = 1, start + len(_BOXED)
    for place in range(begin, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if not depth:
            return text[begin:place]
    return ""


PLAIN: Mapping[str, Callable[[str], str]] = {
    "strip": str.strip,
    "first_line": _first_line,
    "last_line": _last_line,
    "first_number": _first_number,
    "last_number": _last_number,
    "letter": _letter,
    "boxed": _boxed,
    "remove_digits": lambda text: text.translate(_DIGITS),
    "remove_ascii_punctuation": lambda text: text.translate(_ASCII_PUNCTUATION),
}
"""Steps that need nothing more, beside those of a normalization."""
_PATTERNS = ("regex", "remove")
_TEXTS = ("before", "after")
STEPS = (*PLAIN, *NORMALIZATION, *_TEXTS, *_PATTERNS)
Step = str | Mapping[str, Any]
_normalization = Normalization("")


class Extraction(Kind):
    """A list of steps, in the order in which they are done."""

    def __init__(self, meaning: str) -> None:
        Kind.__init__(self, meaning)

    def check(self, value: Any) -> list[Step]:
        steps = value if isinstance(value, list | tuple) else [value]
        if len(steps) > _MOST_STEPS:
            raise ParameterError(f"expected up to {_MOST_STEPS} steps, saw {len(steps)}")
        return [_step(each) for each in steps]

    def schema(self) -> dict[str, Any]:
        text = {"type": "string", "minLength": 1, "maxLength": _LONGEST}
        regex = {
            "type": "object",
            "properties": {
                "pattern": text,
                "take": {"type": "integer", "minimum": -_MOST_GROUPS, "maximum": _MOST_GROUPS},
                "fallback": {"type": "string", "maxLength": _LONGEST},
            },
            "required": ["pattern"],
            "additionalProperties": False,
        }
        forms = [_alone(name, text) for name in (*_TEXTS, "remove")] + [_alone("regex", {"anyOf": [text, regex]})]
        of_normalization = _normalization.schema()["items"]["anyOf"][1:]
        return {
            "type": "array",
            "items": {"anyOf": [{"enum": [*PLAIN, *NORMALIZING]}, *of_normalization, *forms]},
            "maxItems": _MOST_STEPS,
        }


def _alone(name: str, form: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {name: form}, "required": [name], "additionalProperties": False}


def _step(step: Any) -> Step:
    if isinstance(step, str) and step in PLAIN:
        return step
    if isinstance(step, Mapping) and len(step) == 1:
        ((name, argument),) = step.items()
        if name in _TEXTS:
            return {name: _text(name, argument)}
        if name == "remove":
            return {name: _pattern(name, argument)}
        if name == "regex":
            return {name: _regex(argument)}
    try:
        (found,) = _normalization.check([step])
    except ParameterError as error:
        if not error.known:
            raise
        raise ParameterError(f"{spell(step)} is not a step that takes a part of a text", known=STEPS) from None
    return found


def _text(name: str, told: Any) -> str:
    if not isinstance(told, str) or not 1 <= len(told) <= _LONGEST:
        raise ParameterError(f"`{name}` needs a text of up to {_LONGEST} characters, saw {spell(told)}")
    return told


def _pattern(name: str, told: Any) -> str:
    """A regular expression that can be read. Whether it comes to an end is seen where it is used."""
    _text(name, told)
    try:
        re.compile(told)
    except (re.error, RecursionError, OverflowError) as error:
        raise ParameterError(f"`{name}`: {spell(told)} is not a regular expression: {error}") from None
    return str(told)


def _regex(told: Any) -> dict[str, Any]:
    given = told if isinstance(told, Mapping) else {"pattern": told}
    unknown = sorted(str(each) for each in given if each not in ("pattern", "take", "fallback"))
    if unknown:
        raise ParameterError(f"`regex` has no `{unknown[0]}`", known=("pattern", "take", "fallback"))
    take, fallback = given.get("take", 0), given.get("fallback", "")
    if not isinstance(take, int) or isinstance(take, bool) or abs(take) > _MOST_GROUPS:
        raise ParameterError(f"`take` is which match counts, 0 the first and -1 the last, saw {spell(take)}")
    if not isinstance(fallback, str) or len(fallback) > _LONGEST:
        raise ParameterError(f"`fallback` is the text that stands for no match, saw {spell(fallback)}")
    return {"pattern": _pattern("regex", given.get("pattern")), "take": take, "fallback": fallback}


def takes_the_last(steps: Sequence[Step]) -> bool:
    """Whether the part that counts is meant to be the last of its kind in a text: where it is marked."""
    found = False
    for step in steps:
        name = step if isinstance(step, str) else next(iter(step))
        if name in ("last_line", "last_number", "boxed", "after"):
            found = True
        elif name in ("first_line", "first_number", "letter", "before"):
            found = False
        elif name == "regex" and not isinstance(step, str):
            found = int(step["regex"]["take"]) < 0
    return found


def extracted(texts: Sequence[str], steps: Sequence[Step]) -> list[str | LimitError]:
    """What the steps leave of each text. Expressions of strangers are matched in a confined process, and one that does
    not come to an end costs the text that it was matched with."""
    if not has_patterns(steps):
        return [_after(text, steps) for text in texts]
    try:
        found: list[str | LimitError] = _confined().call(after_all, texts=list(texts), steps=list(steps))
        return found
    except LimitError:
        return _one_by_one(texts, steps)


def _one_by_one(texts: Sequence[str], steps: Sequence[Step]) -> list[str | LimitError]:
    found: list[str | LimitError] = []
    errors: list[LimitError] = []
    for text in texts:
        if len(errors) >= _MOST_ENDLESS:
            found.append(errors[-1])
            continue
        try:
            found += _confined().call(after_all, texts=[text], steps=list(steps))
        except LimitError as error:
            errors.append(error)
            found.append(error)
    return found


def has_patterns(steps: Sequence[Step]) -> bool:
    return any(not isinstance(step, str) and next(iter(step)) in _PATTERNS for step in steps)


@lru_cache(maxsize=1)
def _confined() -> Confined:
    """Where expressions are matched, started when the first one is."""
    made = Confined(_LIMITS, processes=1)
    atexit.register(made.close)
    return made


def after_all(texts: list[str], steps: list[Step]) -> list[str]:
    return [_after(text, steps) for text in texts]


def _after(text: str, steps: Sequence[Step]) -> str:
    for step in steps:
        if isinstance(step, str):
            text = PLAIN[step](text) if step in PLAIN else normalized(text, [step])
            continue
        ((name, argument),) = step.items()
        if name == "regex":
            text = _matched(text, **argument)
        elif name == "remove":
            text = _compiled(argument).sub("", text)
        elif name == "before":
            text = text.partition(argument)[0]
        elif name == "after":
            text = text.rpartition(argument)[2]
        else:
            text = normalized(text, [step])
    return text


def _matched(text: str, pattern: str, take: int, fallback: str) -> str:
    """The match that is asked for, without blanks around it: of several groups the first that matched anything."""
    found = _compiled(pattern).findall(text)
    if not -len(found) <= take < len(found):
        return fallback
    match = found[take]
    if isinstance(match, tuple):
        match = next((each for each in match if each), None)
    return fallback if match is None else str(match).strip()


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def number_in(text: str) -> float | None:
    """A text as a number: signs of currencies, percent, thousands and a final period do not count."""
    plain = text.strip().strip("$€£%").rstrip(".").replace(",", "").strip()
    try:
        found = float(plain)
    except ValueError:
        return None
    return found if found == found and abs(found) != float("inf") else None
