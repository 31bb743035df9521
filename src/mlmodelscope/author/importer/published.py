"""Published numbers of strangers' files become claims: which metric, percent or share and why, which conditions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any

from mlmodelscope.author.draft import Draft, one_line
from mlmodelscope.author.request import is_name, name_from
from mlmodelscope.model_file.limit import clean
from mlmodelscope.task.measure import find_measure

MOST_CLAIMS = 2000
_NUMBER = re.compile(r"\s*([+-]?\d{1,9}(?:\.\d{1,40})?(?:[eE][+-]?\d{1,2})?)\s*(%)?\s*(.{0,100})", re.DOTALL)
_DIGITS = 12
_CHOICES = ("text-generation", "multiple-choice", "question-answering")
_ASKED = {
    "accuracy": "choice-accuracy",
    "acc": "choice-accuracy",
    "normalized-accuracy": "choice-accuracy-characters",
    "acc-norm": "choice-accuracy-characters",
    "f1": "answer-f1",
    "pass-1": "pass-at-1",
}
"""What the tasks of language models mean by these words."""


@dataclass(frozen=True)
class Published:
    """One number as a file has it."""

    metric: str
    value: Any
    dataset: str
    task: str = ""
    split: str | None = None
    source: str | None = None
    conditions: tuple[str, ...] = field(default=())
    where: str = ""
    """For what cannot be a claim."""


@dataclass(frozen=True)
class _Read:
    published: Published
    number: Decimal
    is_percent: bool
    """Whether a sign stands behind it."""
    rest: str
    measure: str
    is_share: bool
    """Whether it is one of the measures that people write as a share or in percent."""


def add_claims(draft: Draft, section: str, found: Sequence[Published]) -> None:
    """Every number becomes a claim, or is kept and named with the reason why not."""
    read = []
    for each in found[:MOST_CLAIMS]:
        number = _read(each)
        if number is None:
            draft.keep(section, each.where, each.value, "it is not a number as claims are")
        else:
            read.append(number)
    if len(found) > MOST_CLAIMS:
        draft.notes.append(f"{len(found)} numbers are published; the first {MOST_CLAIMS} are claims")
    has_percent = any(each.is_share and abs(each.number) > 1 for each in read)
    for one in read:
        unit, why = _unit(one, has_percent)
        if unit == "":
            draft.keep(section, one.published.where, one.published.value, why)
            continue
        claim = _claim(one, unit, why)
        if claim not in draft.claims:
            draft.claims.append(claim)


def _unit(each: _Read, has_percent: bool) -> tuple[str | None, str]:
    """(percent, share, nothing special, or the empty text where nobody can tell; and the reason)."""
    if not each.is_share:
        return None, ""
    if each.is_percent:
        return "percent", "a percent sign stands behind it"
    if abs(each.number) > 1:
        return "percent", "more than 1 is no share"
    if each.number == 0:
        return "percent", "0 is the same in percent and as a share"
    if has_percent:
        return "", "other numbers here are in percent, and this one is at most 1: percent or a share, nobody can tell"
    return "share", "no such number of the file is more than 1"


def _claim(each: _Read, unit: str | None, why: str) -> dict[str, Any]:
    told, conditions = each.published, list(each.published.conditions)
    if each.rest:
        conditions.append(each.rest)
    claim: dict[str, Any] = {"metric": each.measure, "value": _spelled(each.number), "dataset": told.dataset}
    if told.split is not None and is_name(told.split):
        claim["split"] = told.split
    elif told.split is not None:
        conditions.append(f"split {told.split}")
    if told.source:
        claim["source"] = one_line(told.source)
    if conditions:
        claim["conditions"] = one_line("; ".join(conditions))
    if unit is not None:
        claim["unit"] = unit
    return claim | ({"because": why} if why else {})


def _spelled(number: Decimal) -> str:
    """With its own digits, of which a claim takes twelve behind the point."""
    exponent = number.as_tuple().exponent
    if isinstance(exponent, int) and -exponent > _DIGITS:
        number = round(number, _DIGITS)
    return f"{number:f}"


def _read(told: Published) -> _Read | None:
    value = told.value
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    match = _NUMBER.fullmatch(str(getattr(value, "text", value)))
    if match is None:
        return None
    try:
        number = Decimal(match[1])
    except InvalidOperation:
        return None
    if abs(number) >= 10**9:
        return None
    measure, is_share = _measure(told.metric, told.task)
    return _Read(told, number, match[2] is not None, clean(match[3]).strip(), measure, is_share)


def _measure(metric: str, task: str) -> tuple[str, bool]:
    """(our name where there is one, whether it is a share)."""
    plain = re.sub(r"[^a-z0-9]+", "-", metric.lower()).strip("-")
    name = _ASKED.get(plain) if task in _CHOICES else None
    known = find_measure(name or metric) or find_measure(plain)
    if known is not None:
        return known.name, known.unit.name == "share"
    return name_from(plain) or "score", not _is_number(plain)


def _is_number(metric: str) -> bool:
    """Metrics without a measure here that are no shares."""
    return any(word in metric for word in ("loss", "perplexity", "ppl", "bleu", "mse", "mae", "elo", "time", "reward"))


def text_of(value: Any) -> str | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    return clean(str(getattr(value, "text", value))).strip()[:300] or None


def words_of(section: str, values: Any) -> list[str]:
    """`num_few_shot 25` of what a file says beside a number."""
    if not isinstance(values, Mapping):
        text = text_of(values)
        return [f"{section} {text}"] if text else []
    return [f"{clean(str(key))[:60]} {text}" for key, value in list(values.items())[:20] if (text := text_of(value))]
