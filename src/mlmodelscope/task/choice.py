"""Multiple choice: a language model finds one of several continuations the likeliest.

The truth is `{"answers": [...]}`: numbers or texts of right choices. An answer is how likely each choice is, and how
long; which choice wins depends on what the likelihood is divided by.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from mlmodelscope.measure.facts import facts_of
from mlmodelscope.task.array_answer import ArrayAnswer
from mlmodelscope.task.detection import sentence_of
from mlmodelscope.task.measure import MEASURES, Row
from mlmodelscope.task.questions import QUESTION_COLUMNS, question_values, token_shapes
from mlmodelscope.task.ruled import RuledMeasure, RuledTally
from mlmodelscope.task.shape import ChoicesShape, Named, Shape, TextShape
from mlmodelscope.task.task import TASKS, Column, Option, Task
from mlmodelscope_worker.parameters import Choice
from mlmodelscope_worker.registry import add

NAME = "multiple_choice"
NORMALIZATIONS = ("none", "characters", "bytes", "tokens", "unconditional")


def _values(target: Any, answer: ArrayAnswer | None, score: bytes | None) -> dict[str, Any]:
    found: dict[str, Any] = {"target": json.dumps(target, sort_keys=True) if target is not None else None}
    if answer is not None:
        found["choices"] = json.dumps(answer.fields.get("choices", []))
        for name in ("sums", "characters", "bytes", "alone"):
            found[name] = answer.arrays[name].tolist() if name in answer.arrays else None
        found |= question_values(answer)
    return {**found, "score": score}


def _plain(row: Mapping[str, Any]) -> Any:
    if row.get("sums") is None:
        return None
    choices = json.loads(row.get("choices") or "[]")
    return {"choices": choices, "likelihoods": list(row["sums"]), "chosen": _chosen(row)}


def _chosen(row: Mapping[str, Any]) -> int | None:
    return facts_of(row["score"]).get("chosen") if row.get("score") is not None else None


def _shapes(row: Mapping[str, Any], target: Any, named: Named) -> list[Shape]:
    """In words, then as bars, then token by token."""
    found, choices = _glance(row, named, target), json.loads(row.get("choices") or "[]")
    if row.get("sums") is None or len(choices) != len(row["sums"]):
        return found
    due = _right(row, target)
    right = tuple(number for number in range(len(choices)) if number in due or choices[number] in due)
    facts = facts_of(row["score"]) if row.get("score") is not None else {}
    used = facts.get("rule") if facts.get("rule") in NORMALIZATIONS else ""
    found.append(ChoicesShape("answer", tuple(map(str, choices)), tuple(_rules(row)), right, used or ""))
    return [*found, *token_shapes(row)]


def _rules(row: Mapping[str, Any]) -> list[tuple[str, tuple[float, ...], int]]:
    """(the rule, the number of each choice, the first of the best) for each rule that can be told from a row."""
    sums: Sequence[float] = row["sums"]
    found = []
    for name in NORMALIZATIONS:
        by = {"none": [1.0] * len(sums), "unconditional": None}.get(name, row.get(name))
        if name == "unconditional":
            alone = row.get("alone")
            values = [each - other for each, other in zip(sums, alone, strict=True)] if alone else None
        else:
            values = [each / size if size else -math.inf for each, size in zip(sums, by, strict=True)] if by else None
        if values and all(math.isfinite(each) for each in values):
            found.append((name, tuple(values), max(range(len(values)), key=values.__getitem__)))
    return found


def _right(row: Mapping[str, Any], target: Any) -> list[Any]:
    truth = target if isinstance(target, Mapping) else json.loads(row.get("target") or "{}")
    due = truth.get("answers", []) if isinstance(truth, Mapping) else []
    return due if isinstance(due, list) else []


def _glance(row: Mapping[str, Any], named: Named, target: Any = None) -> list[Shape]:
    choices = json.loads(row.get("choices") or "[]")
    found: list[Shape] = [TextShape("truth", _spelled(each, choices)) for each in _right(row, target)]
    chosen = _chosen(row)
    return [*found, TextShape("answer", _spelled(chosen, choices))] if chosen is not None else found


def _spelled(answer: Any, choices: list[str]) -> str:
    if isinstance(answer, int) and 0 <= answer < len(choices):
        return str(choices[answer])
    return str(answer)


task = Task(
    NAME,
    "Multiple choice",
    partial(RuledTally, NAME),
    headline=("choice-accuracy", "choice-accuracy-characters"),
    options={
        "normalization": Option(
            Choice(
                "What the logarithm of a choice's probability is divided by before choices are compared: nothing, its "
                "length in characters, bytes or tokens; `unconditional` subtracts that of the choice without question.",
                *NORMALIZATIONS,
            ),
            "none",
        )
    },
    is_ruled=True,
    has_classes=False,
    roles=(("text",),),
    columns=(
        Column("target", "string"),
        Column("choices", "string"),
        Column("sums", "list<float64>"),
        Column("characters", "list<int32>"),
        Column("bytes", "list<int32>"),
        Column("alone", "list<float64>"),
        *QUESTION_COLUMNS,
        Column("score", "binary"),
    ),
    values=_values,
    plain=_plain,
    shapes=_shapes,
    glance=_glance,
    quality="Quality is the share of probability that the right choices have among all.",
    sentence=sentence_of("choice-accuracy", "choice-accuracy-characters"),
)
add(TASKS.things, NAME, task, TASKS.code)


def _is_right(name: str) -> Any:
    def outcome(row: Row) -> bool:
        return row is not None and bool(facts_of(row).get("right", {}).get(name))

    return outcome


_MEASURES = {
    "choice-accuracy": (
        "accuracy",
        "Share of questions whose likeliest choice is right; `measure: {normalization: …}` says what is compared.",
        ("acc", "accuracy"),
    ),
    "choice-accuracy-characters": (
        "accuracy by characters",
        "The same by the likelihood of a choice divided by its length in characters, as lm-evaluation-harness has it.",
        ("acc-norm", "normalized-accuracy"),
    ),
    "choice-accuracy-bytes": ("accuracy by bytes", "The same divided by the length in bytes.", ("acc-bytes",)),
    "choice-accuracy-tokens": ("accuracy by tokens", "The same divided by the number of tokens.", ("acc-tokens",)),
    "choice-accuracy-unconditional": (
        "accuracy beyond the choice alone",
        "The same less the likelihood of the choice without the question; asked for with `ask: {unconditional: true}`.",
        ("acc-mutual-info",),
    ),
}
for _name, (_title, _about, _aliases) in _MEASURES.items():
    add(
        MEASURES.things,
        _name,
        RuledMeasure(_name, _title, (NAME,), aliases=_aliases, about=_about, outcome=_is_right(_name)),
        MEASURES.code,
    )
