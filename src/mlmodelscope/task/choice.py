"""Multiple choice: a language model finds one of several continuations the likeliest.

The truth is `{"answers": [...]}`: numbers or texts of right choices. An answer is how likely each choice is, and how
long; which choice wins depends on what the likelihood is divided by.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

from mlmodelscope.measure.facts import facts_of
from mlmodelscope.task.array_answer import ArrayAnswer
from mlmodelscope.task.detection import sentence_of
from mlmodelscope.task.measure import MEASURES, Row
from mlmodelscope.task.ruled import RuledMeasure, RuledTally
from mlmodelscope.task.shape import Named, Shape, TextShape
from mlmodelscope.task.task import TASKS, Column, Option, Task
from mlmodelscope_worker.parameters import Choice
from mlmodelscope_worker.registry import add

NAME = "multiple_choice"
NORMALIZATIONS = ("none", "characters", "bytes", "tokens", "unconditional")


def _values(target: Any, answer: ArrayAnswer | None, score: bytes | None) -> dict[str, Any]:
    found: dict[str, Any] = {"target": json.dumps(target, sort_keys=True) if target is not None else None}
    if answer is not None:
        found["choices"] = json.dumps(answer.fields.get("choices", []))
        found["sums"] = answer.arrays["sums"].tolist() if "sums" in answer.arrays else None
    return {**found, "score": score}


def _plain(row: Mapping[str, Any]) -> Any:
    if row.get("sums") is None:
        return None
    choices = json.loads(row.get("choices") or "[]")
    return {"choices": choices, "likelihoods": list(row["sums"]), "chosen": _chosen(row)}


def _chosen(row: Mapping[str, Any]) -> int | None:
    return facts_of(row["score"]).get("chosen") if row.get("score") is not None else None


def _shapes(row: Mapping[str, Any], target: Any, named: Named) -> list[Shape]:
    choices = json.loads(row.get("choices") or "[]")
    truth = target if isinstance(target, Mapping) else json.loads(row.get("target") or "{}")
    due = truth.get("answers", []) if isinstance(truth, Mapping) else []
    found: list[Shape] = [TextShape("truth", _spelled(each, choices)) for each in due]
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
        Column("score", "binary"),
    ),
    values=_values,
    plain=_plain,
    shapes=_shapes,
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
