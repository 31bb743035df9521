"""What a language model was shown of a sample, in words and in tokens, as a worker spelled it (`spelling`).

A record may be a stranger's: what is not what our workers write is ValueError.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

_LARGEST = 64 << 20


@dataclass(frozen=True, slots=True)
class Words:
    """A text and its tokens, as far as they are known or kept."""

    text: str | None
    """None where only tokens are known."""
    omitted: int = 0
    """Characters that are left out between `text` and `end`."""
    end: str = ""
    tokens: tuple[int, ...] | None = None
    """None where a server makes them out of sight."""
    pieces: tuple[str, ...] = ()
    """What each token adds to the text; empty where nobody knows."""
    more: int = 0
    """Tokens that are left out: of a context the first, else the last."""

    @property
    def whole(self) -> str:
        """The text; where only tokens are known what they make together."""
        if self.text is None:
            return "".join(self.pieces)
        return f"{self.text}[… {self.omitted:,} characters …]{self.end}" if self.omitted else self.text


@dataclass(frozen=True, slots=True)
class Turn:
    """What somebody said in a chat."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Context:
    """What stands before."""

    words: Words
    dropped: int = 0
    """Tokens that the model did not get, since it takes no more."""
    turns: tuple[Turn, ...] = ()
    """In place of a text, where a server writes turns by a template of its own."""


@dataclass(frozen=True, slots=True)
class Row:
    """What is asked about or was written, behind one of the contexts."""

    words: Words
    context: int
    choice: int | None = None
    """Which choice it is, where there are some."""
    alone: bool = False
    """Whether the question is left out, to see how likely the choice is by itself."""


@dataclass(frozen=True, slots=True)
class Spelled:
    call: str
    """`choose`, `read` or `write`."""
    contexts: tuple[Context, ...]
    """Empty where the record keeps no prompts."""
    rows: tuple[Row, ...]


def read_spelled(told: str | Mapping[str, Any] | None) -> Spelled | None:
    """What a record keeps; None where it keeps nothing, ValueError where that is damaged."""
    if not told:
        return None
    if isinstance(told, str):
        if len(told) > _LARGEST:
            raise ValueError("what is kept of a question is too long")
        told = json.loads(told)
    try:
        contexts = tuple(map(_context, told["contexts"]))  # type: ignore[index]
        rows = tuple(map(_row, told["rows"]))  # type: ignore[index]
        call = told["call"]  # type: ignore[index]
    except (KeyError, TypeError, AttributeError, OverflowError) as error:
        raise ValueError(f"what is kept of a question is damaged: {error}") from None
    if call not in ("choose", "read", "write"):
        raise ValueError("what is kept of a question does not say what was asked")
    return Spelled(call, contexts, rows)


def _context(told: Mapping[str, Any]) -> Context:
    turns = tuple(Turn(_text(each["role"]), _words(each).whole) for each in told.get("turns") or ())
    return Context(_words(told), _count(told.get("dropped", 0)), turns)


def _row(told: Mapping[str, Any]) -> Row:
    choice = told.get("choice")
    return Row(
        _words(told), _count(told["context"]), None if choice is None else _count(choice), bool(told.get("alone"))
    )


def _words(told: Mapping[str, Any]) -> Words:
    tokens, pieces = told.get("tokens"), told.get("pieces") or ()
    found = Words(
        None if told.get("text") is None else _text(told["text"]),
        _count(told.get("omitted", 0)),
        _text(told.get("end", "")),
        None if tokens is None else tuple(map(_count, tokens)),
        tuple(map(_text, pieces)),
        _count(told.get("more", 0)),
    )
    if found.pieces and len(found.pieces) != len(found.tokens or ()):
        raise ValueError("what is kept of a question has other pieces than tokens")
    return found


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("what is kept of a question has something else where a text is due")
    return value


def _count(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**63:
        raise ValueError("what is kept of a question has something else where a number is due")
    return value


Token = tuple[str, int, float | None]
"""What a token adds to the text, its number, and the logarithm of its probability where that is known."""


def tokens_with_logs(found: Spelled, logs: Sequence[float] | None, counts: Sequence[int] | None) -> list[list[Token]]:
    """The tokens of each row. `logs` are those of all rows, one behind the other, of which `counts` has the lengths."""
    starts = list(accumulate(counts or (), initial=0))
    made = []
    for number, row in enumerate(found.rows):
        tokens = row.words.tokens or ()
        own = list((logs or ())[starts[number] : starts[number + 1]]) if number + 1 < len(starts) else []
        pieces = row.words.pieces or ("",) * len(tokens)
        known = [own[at] if at < len(own) and math.isfinite(own[at]) else None for at in range(len(tokens))]
        made.append([(piece, token, log) for piece, token, log in zip(pieces, tokens, known, strict=True)])
    return made
