"""Texts that are compared: what is refused before anything is counted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mlmodelscope.measure.rule import ScoreError

MOST_CHARACTERS = 100_000
"""Of one text: beyond that, aligning two of them takes too long."""
_MOST_REFERENCES = 100


def answered_text(fields: Mapping[str, Any]) -> str:
    """The text of an answer."""
    return usable_text(fields.get("text"), "its answer")


def reference_texts(target: Any) -> list[str]:
    """The texts that are right, at least one."""
    texts = target.get("texts") if isinstance(target, Mapping) else None
    if not isinstance(texts, list | tuple) or not texts:
        raise ScoreError("it has no reference text to compare with")
    if len(texts) > _MOST_REFERENCES:
        raise ScoreError(f"it has {len(texts):,} reference texts; {_MOST_REFERENCES} are compared at most")
    return [usable_text(each, "its reference") for each in texts]


def usable_text(text: Any, whose: str) -> str:
    """A text as it is; ScoreError for one that cannot be compared."""
    if not isinstance(text, str):
        raise ScoreError(f"{whose} is not a text")
    if len(text) > MOST_CHARACTERS:
        raise ScoreError(f"{whose} has {len(text):,} characters; texts of up to {MOST_CHARACTERS:,} are compared")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ScoreError(f"{whose} is not valid Unicode: half a surrogate pair at character {error.start}") from None
    return text
