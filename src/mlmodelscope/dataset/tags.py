"""Tags of tokens (BIO, BIOES, IOB1) become spans in the characters of a text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlmodelscope.dataset.lines import refuse_half_characters
from mlmodelscope.errors import DatasetError

_BEGINS, _GOES_ON = "BSU", "IEML"
_ENDS = "ESLU"
"""`S` and `U` are single tokens, `E` and `L` last ones."""


def tagged(tokens: Any, tags: Any, where: str) -> tuple[str, dict[str, Any]]:
    """(the tokens joined by single blanks, the target of token classification)."""
    if not isinstance(tokens, list) or not isinstance(tags, list) or not tokens:
        raise DatasetError(f"{where} has no list of tokens and a list of tags")
    if len(tokens) != len(tags):
        raise DatasetError(f"{where} has {len(tokens)} tokens and {len(tags)} tags")
    if not all(isinstance(each, str) and each for each in tokens):
        raise DatasetError(f"{where} has a token that is empty or not a text")
    if not all(isinstance(each, str) for each in tags):
        raise DatasetError(f"{where} has tags that are not words such as `B-PER`: {str(tags)[:80]}")
    places, at = [], 0
    for token in tokens:
        refuse_half_characters(token, where)
        places.append([at, at + len(token)])
        at += len(token) + 1
    text = " ".join(tokens)
    return text, {"spans": spans_of(tags, places, where), "tokens": places, "text": text}


def spans_of(tags: Sequence[str], places: Sequence[Sequence[int]], where: str) -> list[list[Any]]:
    """[start, end, type] of each span. A tag that goes on where nothing began begins one, as in IOB1."""
    found: list[list[Any]] = []
    is_open = False
    for tag, (start, end) in zip(tags, places, strict=True):
        mark, kind = _parted(tag, where)
        if mark == "O":
            is_open = False
            continue
        if is_open and mark not in _BEGINS and found[-1][2] == kind:
            found[-1][1] = end
        else:
            found.append([start, end, kind])
        is_open = mark not in _ENDS
    return found


def _parted(tag: str, where: str) -> tuple[str, str]:
    """`B-PER` → (B, PER); `O`, `_` and an empty tag are outside of everything."""
    if tag in ("O", "_", ""):
        return "O", ""
    mark, dash, kind = tag.partition("-")
    if not dash or mark not in (*_BEGINS, *_GOES_ON) or not kind:
        raise DatasetError(f"{where} has the tag `{tag[:40]}`, which is not O, or B- or I- and a type")
    return mark, kind
