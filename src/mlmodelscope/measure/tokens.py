"""Token classification: spans that are found exactly, and tokens that lie in a span of the right type.

Spans count as in CoNLL's evaluation and seqeval: start, end and type must be those of the truth. A token counts for
each type by itself: it lies in a span of that type or it does not. Which tokens there are the truth says, and where it
does not, the answer.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from mlmodelscope.measure.pack import pack, unpack
from mlmodelscope.measure.rule import Arrays, ScoreError, task_rule
from mlmodelscope.measure.sums import jackknifed
from mlmodelscope.measure.texts import usable_text

MEASURES = tuple(
    f"{unit}-{what}{how}"
    for unit in ("span", "token")
    for what in ("f1", "precision", "recall")
    for how in ("", "-macro")
)
_MOST_SPANS = 20_000
_MOST_TOKENS = 1_000_000
_MOST_NAME = 100
_FIRST = {"span": 0, "token": 3}
"""Where the counts of each unit stand: found and right, answered, true."""
Span = tuple[int, int, str]
Piece = tuple[int, int]


@task_rule("token_classification")
class TokenClassification:
    """A score holds six counts for each type: spans and tokens that are right, answered and true."""

    def score(self, arrays: Arrays, fields: Mapping[str, Any], target: Any, options: Mapping[str, Any]) -> bytes:
        if not isinstance(target, Mapping) or "spans" not in target:
            raise ScoreError("it has no spans to compare with")
        by_answer = target.get("tokens") is None
        places = fields.get("tokens") if by_answer else target["tokens"]
        tokens = _Tokens.of(places) if places is not None else None
        keeps = options.get("borders", "drop") == "count"
        due = _placed(_spans(target["spans"], "its truth"), tokens, keeps)
        told = _placed(_spans(fields.get("spans"), "its answer"), tokens, keeps)
        kinds = sorted({*due, *told})
        counts = np.zeros((len(kinds), 6), np.int64)
        for place, kind in enumerate(kinds):
            true, answered = due.get(kind, {}), told.get(kind, {})
            counts[place, :3] = len(true.keys() & answered.keys()), len(answered), len(true)
            if tokens is not None:
                first, second = _merged(answered.values()), _merged(true.values())
                counts[place, 3:] = _shared(first, second), _shared(first, first), _shared(second, second)
        both = int(counts[:, 1:3].sum())
        quality = round(2 * int(counts[:, 0].sum()) / both, 9) if both else 1.0
        averaging = str(options.get("averaging", "occurring"))
        has = {"tokens": tokens is not None, "tokens_by_answer": by_answer and tokens is not None}
        return pack({"counts": counts}, types=kinds, averaging=averaging, quality=quality, **has)

    def numbers(self, scores: Sequence[bytes], names: Sequence[str], weights: np.ndarray | None) -> dict[str, float]:
        table = _table(tuple(scores))
        totals = table.totals(weights)
        found = {}
        for name in names:
            value = table.number(name, totals)
            if value is not None and np.isfinite(value):
                found[name] = float(value)
        return found

    def deviations(self, scores: Sequence[bytes], names: Sequence[str]) -> dict[str, float]:
        """By leaving out each sample in turn, which changes the types that it has."""
        table = _table(tuple(scores))
        return {name: jackknifed(table.without_each(name)) for name in names if table.knows(name)}

    def details(self, scores: Sequence[bytes]) -> dict[str, Any]:
        table = _table(tuple(scores))
        totals = table.totals(None)
        names = [name for name in MEASURES if not name.endswith("-macro") and table.knows(name)]
        rows = []
        for place, kind in enumerate(table.types):
            values = {name: table.number(f"{name}:{kind}", totals) for name in names}
            rows.append({"type": kind, "due": int(totals[place, 2]), **values})
        own = {"tokens": "those of the answers"} if table.by_answers else {}
        return {"per_type": rows, **own}


@dataclass(frozen=True)
class _Table:
    """The counts of all samples: a row for each type of each sample."""

    types: tuple[str, ...]
    sample: np.ndarray
    kind: np.ndarray
    counts: np.ndarray
    samples: int
    has_tokens: bool
    by_answers: bool
    """Whether answers say where tokens lie, the truth of some text not doing so."""
    only_true: bool
    """Whether macro numbers leave types out that only occur in answers."""

    def totals(self, weights: np.ndarray | None) -> np.ndarray:
        """Of each type."""
        rows = self.counts if weights is None else self.counts * weights[self.sample][:, None]
        found = np.zeros((len(self.types), 6))
        np.add.at(found, self.kind, rows)
        return found

    def knows(self, name: str) -> bool:
        unit, _, _, part = _parsed(name)
        return (self.has_tokens or unit == "span") and (not part or part in self.types)

    def number(self, name: str, totals: np.ndarray) -> float | None:
        """None where there is nothing that it could count."""
        if not self.knows(name):
            return None
        unit, what, is_macro, part = _parsed(name)
        if part:
            totals = totals[self.types.index(part)][None]
        elif not is_macro:
            totals = totals.sum(axis=0)[None]
        counts = totals[:, _FIRST[unit] : _FIRST[unit] + 3]
        occurs = self._occurs(totals, unit, is_macro)
        return float(_value(counts, what)[occurs].mean()) if occurs.any() else None

    def _occurs(self, totals: np.ndarray, unit: str, is_macro: bool) -> np.ndarray:
        first = _FIRST[unit]
        due = totals[:, first + 2] > 0
        return due if is_macro and self.only_true else due | (totals[:, first + 1] > 0)

    def without_each(self, name: str) -> np.ndarray:
        """The number without each of the samples; samples without any span leave it as it is."""
        unit, what, is_macro, part = _parsed(name)
        first, totals = _FIRST[unit], self.totals(None)
        if not is_macro:
            rows = np.zeros((self.samples, 6))
            own = self.kind == self.types.index(part) if part else np.ones(len(self.kind), bool)
            np.add.at(rows, self.sample[own], self.counts[own])
            left = rows.sum(axis=0) - rows
            return np.where(self._occurs(left, unit, False), _value(left[:, first : first + 3], what), np.nan)
        left = totals[self.kind] - self.counts
        before, after = self._occurs(totals, unit, True), self._occurs(left, unit, True)
        old = np.where(before, _value(totals[:, first : first + 3], what), 0.0)
        new = np.where(after, _value(left[:, first : first + 3], what), 0.0)
        sums = old.sum() + np.bincount(self.sample, new - old[self.kind], self.samples)
        many = before.sum() + np.bincount(self.sample, after.astype(float) - before[self.kind], self.samples)
        found: np.ndarray = np.divide(sums, many, out=np.full(self.samples, np.nan), where=many > 0)
        return found


@lru_cache(maxsize=2)  # a bootstrap asks for the same scores again and again
def _table(scores: tuple[bytes, ...]) -> _Table:
    parts = [unpack(each) for each in scores]
    types = tuple(sorted({kind for _, facts in parts for kind in facts["types"]}))
    places = {kind: place for place, kind in enumerate(types)}
    return _Table(
        types,
        np.repeat(np.arange(len(parts)), [len(facts["types"]) for _, facts in parts]),
        np.array([places[kind] for _, facts in parts for kind in facts["types"]], np.int64),
        np.concatenate([arrays["counts"] for arrays, _ in parts]).astype(np.float64),
        len(parts),
        all(facts["tokens"] for _, facts in parts),
        any(facts.get("tokens_by_answer") for _, facts in parts),
        parts[0][1]["averaging"] == "true",
    )


def _parsed(name: str) -> tuple[str, str, bool, str]:
    """`token-f1:PER` is (token, f1, False, PER)."""
    base, _, part = name.partition(":")
    unit, what, *more = base.split("-")
    return unit, what, bool(more), part


def _value(counts: np.ndarray, what: str) -> np.ndarray:
    """Of right, answered and true; 0 where nothing is there to divide by, as seqeval has it."""
    right, answered, due = counts.T
    below = {"f1": answered + due, "precision": answered, "recall": due}[what]
    found: np.ndarray = np.divide((2 if what == "f1" else 1) * right, below, out=np.zeros(len(below)), where=below > 0)
    return found


class _Tokens:
    """Where the words of a text lie."""

    def __init__(self, starts: list[int], ends: list[int]) -> None:
        self._starts, self._ends = starts, ends

    @classmethod
    def of(cls, pairs: Any) -> _Tokens:
        if not isinstance(pairs, list | tuple) or len(pairs) > _MOST_TOKENS:
            raise ScoreError(f"its tokens are not a list of up to {_MOST_TOKENS:,} places")
        last = 0
        for pair in pairs:
            if not (isinstance(pair, list | tuple) and len(pair) == 2 and all(type(each) is int for each in pair)):
                raise ScoreError(f"its tokens need a start and an end each, not {str(pair)[:60]}")
            if not last <= pair[0] < pair[1]:
                raise ScoreError(f"its token {pair[0]} to {pair[1]} does not follow the one before it")
            last = pair[1]
        return cls([start for start, _ in pairs], [end for _, end in pairs])

    def place(self, start: int, end: int, keeps: bool) -> Piece | None:
        """The tokens of a span, first and behind the last; None for one that is not on their borders."""
        first, last = bisect_left(self._starts, start), bisect_left(self._ends, end)
        fits = first < len(self._starts) and self._starts[first] == start
        fits = fits and last < len(self._ends) and self._ends[last] == end
        if fits:
            return first, last + 1
        return (bisect_right(self._ends, start), bisect_left(self._starts, end)) if keeps else None


def _spans(told: Any, whose: str) -> list[Span]:
    if not isinstance(told, list | tuple):
        raise ScoreError(f"{whose} has no list of spans")
    if len(told) > _MOST_SPANS:
        raise ScoreError(f"{whose} has {len(told):,} spans; up to {_MOST_SPANS:,} are compared")
    found = []
    for each in told:
        if not isinstance(each, list | tuple) or not 3 <= len(each) <= 4:
            raise ScoreError(f"{whose} has a span {str(each)[:60]}, which is not [start, end, type]")
        start, end, kind = each[:3]
        if type(start) is not int or type(end) is not int or not 0 <= start < end:
            raise ScoreError(
                f"{whose} has a span from {str(start)[:20]} to {str(end)[:20]}, which is not a piece of text"
            )
        name = usable_text(kind, f"the type of a span of {whose.removeprefix('its ')}")
        if not 0 < len(name) <= _MOST_NAME:
            raise ScoreError(f"{whose} has a type of {len(name)} characters; 1 to {_MOST_NAME} are a name")
        found.append((start, end, name))
    return found


def _placed(spans: Sequence[Span], tokens: _Tokens | None, keeps: bool) -> dict[str, dict[Piece, Piece]]:
    """Spans that count, each once, by their type, with the tokens that they cover."""
    found: dict[str, dict[Piece, Piece]] = {}
    for start, end, kind in spans:
        place = tokens.place(start, end, keeps) if tokens is not None else (0, 0)
        if place is not None:
            found.setdefault(kind, {})[start, end] = place
    return found


def _merged(pieces: Any) -> list[Piece]:
    """The same tokens, none of them twice."""
    found: list[Piece] = []
    for start, end in sorted(pieces):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        elif start < end:
            found.append((start, end))
    return found


def _shared(first: Sequence[Piece], second: Sequence[Piece]) -> int:
    """Tokens that both cover."""
    total = one = other = 0
    while one < len(first) and other < len(second):
        start, end = max(first[one][0], second[other][0]), min(first[one][1], second[other][1])
        total += max(0, end - start)
        if first[one][1] < second[other][1]:
            one += 1
        else:
            other += 1
    return total
