"""Token classification: which pieces of a text are names of people, places and the like.

The truth is spans of characters with their types, and where the tokens of the text lie; an answer is such spans. A span
is found where start, end and type are those of the truth, as in CoNLL's evaluation and seqeval; a token counts for each
type by whether it lies in a span of that type. `span-f1` and the like count all types together, `span-f1-macro` is the
mean over types, and `span-f1:PER` is that of one type.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

from mlmodelscope.task.array_answer import ArrayAnswer
from mlmodelscope.task.detection import sentence_of
from mlmodelscope.task.measure import MEASURES
from mlmodelscope.task.ruled import RuledMeasure, RuledTally
from mlmodelscope.task.shape import Named, Side, SpansShape
from mlmodelscope.task.task import TASKS, Column, Option, Task
from mlmodelscope.task.texts import finite_score, storable, truth_of
from mlmodelscope_worker.parameters import Choice
from mlmodelscope_worker.registry import add

NAME = "token_classification"
_LAST_PLACE = 1 << 53
"""Beyond that, programs that read JSON round."""
OPTIONS = {
    "borders": Option(
        Choice(
            "Spans that do not start and end where tokens do: dropped on both sides, or counted with every token that "
            "they touch.",
            "drop",
            "count",
        ),
        "drop",
    ),
    "averaging": Option(
        Choice(
            "Types that macro numbers are the mean over: those that occur in the truth or in answers, as seqeval has "
            "it, or those of the truth alone.",
            "occurring",
            "true",
        ),
        "occurring",
    ),
}


def _values(target: Any, answer: ArrayAnswer | None, score: bytes | None) -> dict[str, Any]:
    found: dict[str, Any] = {"target": json.dumps(target, sort_keys=True) if target is not None else None}
    if answer is not None:
        found["spans"] = json.dumps(answer.fields.get("spans"))
    return {**found, "score": score}


def _answer(row: Mapping[str, Any]) -> Any:
    """Spans of a row as a program reads them."""
    spans = _spans(json.loads(row.get("spans") or "null"))
    return (
        spans if spans is None else [dict(zip(("start", "end", "type", "score"), each, strict=True)) for each in spans]
    )


def _spans(told: Any) -> list[tuple[int, int, str, float | None]] | None:
    """As they can be shown; a row may be a stranger's."""
    if not isinstance(told, list):
        return None
    known = [each for each in told if isinstance(each, list | tuple) and len(each) in (3, 4)]
    return [
        (each[0], each[1], storable(each[2]) or "", finite_score(each[3]) if len(each) > 3 else None)
        for each in known
        if _is_place(each[0]) and _is_place(each[1]) and isinstance(each[2], str)
    ]


def _is_place(value: Any) -> bool:
    return type(value) is int and 0 <= value <= _LAST_PLACE


def _shapes(row: Mapping[str, Any], target: Any, named: Named) -> list[SpansShape]:
    """The text with the spans of the truth, then with those of the answer."""
    truth = truth_of(row, target)
    text = storable(truth.get("text")) or ""
    sides: list[tuple[Side, Any]] = [("truth", truth.get("spans")), ("answer", json.loads(row.get("spans") or "null"))]
    found = [(side, _spans(told)) for side, told in sides]
    return [SpansShape(side, text, tuple(sorted(spans, key=_order))) for side, spans in found if spans is not None]


def _order(span: tuple[int, int, str, float | None]) -> tuple[int, int, str]:
    return span[0], -span[1], span[2]


task = Task(
    NAME,
    "Token classification",
    partial(RuledTally, NAME),
    headline=("span-f1", "token-f1", "span-f1-macro"),
    options=OPTIONS,
    is_ruled=True,
    roles=(("logits",), ("probability",), ("classes",), ("tensor",), ("text",), ("general",)),
    columns=(Column("target", "string"), Column("spans", "string"), Column("score", "binary")),
    values=_values,
    plain=_answer,
    shapes=_shapes,
    quality="Quality is the F-measure of a text's spans, by start, end and type.",
    sentence=sentence_of("span-f1", "token-f1"),
)
add(TASKS.things, NAME, task, TASKS.code)

_WHAT = {
    "f1": ("F1", "F1, twice the right ones by those answered and those there,"),
    "precision": ("precision", "Share of those answered that are right,"),
    "recall": ("recall", "Share of those there that are answered,"),
}
_UNITS = {"span": "spans with start, end and type", "token": "tokens that lie in a span of a type"}
_ALIASES = {
    "span-f1": ("entity-f1", "ner-f1", "conll-f1", "seqeval-f1", "span-f1-micro"),
    "token-f1": ("token-f1-micro",),
}
for _unit, _words in _UNITS.items():
    for _what, (_title, _about) in _WHAT.items():
        _name = f"{_unit}-{_what}"
        _whole = RuledMeasure(
            _name,
            f"{_unit} {_title}",
            (NAME,),
            aliases=_ALIASES.get(_name, ()),
            about=f"{_about} of {_words}, all types together. `{_name}:TYPE` is that of one type.",
            is_stable=False,
            parts="type of span",
        )
        _mean = RuledMeasure(
            f"{_name}-macro",
            f"{_unit} {_title}, macro",
            (NAME,),
            about=f"{_about} of {_words}, the mean over types.",
            is_stable=False,
        )
        for _each in (_whole, _mean):
            add(MEASURES.things, _each.name, _each, MEASURES.code)
