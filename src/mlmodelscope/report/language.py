"""What a language model was shown and found likely: a prompt, choices as bars, and texts token by token."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mlmodelscope.report.own_content import cut_text
from mlmodelscope.task.questions import spelled_of
from mlmodelscope.task.shape import ChoicesShape, Shape, TokensShape

_MOST_TOKENS, _MOST_CHOICES = 1500, 24
_LONGEST_PROMPT, _LONGEST_CHOICE = 6000, 300
UNLIKELY = 8.0
"""Minus the logarithm of a probability that is as dark as can be."""
RULES = {
    "none": "likelihood",
    "characters": "by characters",
    "bytes": "by bytes",
    "tokens": "by tokens",
    "unconditional": "beyond the choice alone",
}
_SHOWN_AS = {"\n": "⏎\n", "\t": "⇥", "\r": "␍"}


@dataclass(frozen=True)
class Bar:
    value: str
    share: float
    """How likely it is, set against the likeliest by this rule."""
    is_chosen: bool


@dataclass(frozen=True)
class ChoiceRow:
    text: str
    is_right: bool
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class Choices:
    rules: tuple[tuple[str, bool], ...]
    """(title, whether the dataset declares it)."""
    rows: tuple[ChoiceRow, ...]
    more: int


@dataclass(frozen=True)
class TokenPiece:
    text: str
    depth: int
    """How unlikely it was, in percent of the darkest; 0 where that is not known."""
    note: str


@dataclass(frozen=True)
class TokenLine:
    name: str
    pieces: tuple[TokenPiece, ...]
    more: int


@dataclass(frozen=True)
class Asked:
    """All empty where a sample is not a question to a language model."""

    prompts: tuple[tuple[str, str], ...] = ()
    """(the text, what there is to know of it)."""
    choices: Choices | None = None
    lines: tuple[TokenLine, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.prompts or self.choices or self.lines)


def asked_of(row: Mapping[str, Any], shapes: Sequence[Shape]) -> Asked:
    spelled = spelled_of(row)
    prompts = []
    for context in spelled.contexts if spelled is not None else ():
        turns = "\n".join(f"{turn.role}: {turn.text}" for turn in context.turns)
        text = turns or context.words.whole
        count = f"{len(context.words.tokens) + context.words.more:,} tokens" if context.words.tokens is not None else ""
        dropped = f"{context.dropped:,} more were dropped, since the model takes no more" if context.dropped else ""
        if text or count:
            prompts.append((visible(cut_text(text, _LONGEST_PROMPT)), "; ".join(filter(None, (count, dropped)))))
    tables = [_choices(each) for each in shapes if isinstance(each, ChoicesShape)]
    lines = tuple(_line(each) for each in shapes if isinstance(each, TokensShape))
    return Asked(tuple(prompts[:4]), tables[0] if tables else None, lines[:_MOST_CHOICES])


def _choices(shape: ChoicesShape) -> Choices:
    rows = []
    for number, text in enumerate(shape.choices[:_MOST_CHOICES]):
        bars = tuple(
            Bar(f"{values[number]:.4g}", _share(values[number], max(values)), number == chosen)
            for _, values, chosen in shape.rules
        )
        rows.append(ChoiceRow(visible(cut_text(text, _LONGEST_CHOICE)), number in shape.right, bars))
    rules = tuple((RULES.get(name, name), name == shape.used) for name, _, _ in shape.rules)
    return Choices(rules, tuple(rows), max(0, len(shape.choices) - _MOST_CHOICES))


def _share(value: float, best: float) -> float:
    return math.exp(max(-60.0, value - best))


def _line(shape: TokensShape) -> TokenLine:
    pieces = tuple(
        TokenPiece(visible(text) or f"#{number}", _depth(log), f"token {number}" + _probability(log))
        for text, number, log in shape.tokens[:_MOST_TOKENS]
    )
    return TokenLine(shape.name, pieces, shape.more + max(0, len(shape.tokens) - _MOST_TOKENS))


def _depth(log: float | None) -> int:
    return 0 if log is None else round(100 * min(1.0, max(0.0, -log) / UNLIKELY))


def _probability(log: float | None) -> str:
    return "" if log is None else f", log-likelihood {log:.3f}, probability {100 * math.exp(min(0.0, log)):.3g} %"


def visible(text: str) -> str:
    """What nobody would see, or what would turn the text around, spelled out; the ends of lines stay."""
    return "".join(
        _SHOWN_AS.get(each, f"\\u{ord(each):04x}") if unicodedata.category(each) in ("Cc", "Cf") else each
        for each in text
    )
