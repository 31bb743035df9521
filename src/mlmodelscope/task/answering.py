"""Question answering: a question and a text, and the words that answer it.

The truth is one or several right answers, or that there is none (`impossible`, SQuAD 2.0: then an empty answer is
right). An answer is compared with each of them, and the nearest counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from mlmodelscope.task.array_answer import ArrayAnswer
from mlmodelscope.task.detection import sentence_of
from mlmodelscope.task.measure import MEASURES
from mlmodelscope.task.ruled import RuledMeasure, RuledTally
from mlmodelscope.task.shape import Named, Shape, TextShape
from mlmodelscope.task.task import TASKS, Column, Option, Task
from mlmodelscope.task.texts import finite_score, text_shapes, text_values, truth_of
from mlmodelscope_worker.parameters import Choice
from mlmodelscope_worker.registry import add

NAME = "question_answering"
_NO_ANSWER = "(no answer)"


def _values(target: Any, answer: ArrayAnswer | None, score: bytes | None) -> dict[str, Any]:
    told = answer.fields.get("score") if answer is not None else None
    return {**text_values(target, answer, score), "sure": finite_score(told)}


def _answer(row: Mapping[str, Any]) -> Any:
    return {"text": row["text"], "score": finite_score(row.get("sure"))} if row.get("text") is not None else None


def _shapes(row: Mapping[str, Any], target: Any, named: Named) -> list[Shape]:
    found = text_shapes(row, target, named)
    if truth_of(row, target).get("impossible") is True:
        found = [TextShape("truth", _NO_ANSWER), *(each for each in found if each.side == "answer")]
    return [TextShape(each.side, each.text or _NO_ANSWER) if isinstance(each, TextShape) else each for each in found]


task = Task(
    NAME,
    "Question answering",
    partial(RuledTally, NAME),
    headline=("answer-f1", "exact-match"),
    options={
        "normalization": Option(
            Choice(
                "What is done to both texts first: SQuAD's (lower case, no punctuation, no articles, single spaces), "
                "or nothing.",
                "squad",
                "none",
            ),
            "squad",
        )
    },
    is_ruled=True,
    has_classes=False,
    roles=(("text",), ("start", "end"), ("tokens",), ("logits",), ("tensor",), ("general",)),
    columns=(
        Column("target", "string"),
        Column("text", "string"),
        Column("sure", "float64"),
        Column("score", "binary"),
    ),
    values=_values,
    plain=_answer,
    shapes=_shapes,
    quality="Quality is the F1 of an answer's words, by the reference that it is nearest to.",
    sentence=sentence_of("answer-f1", "exact-match"),
)
add(TASKS.things, NAME, task, TASKS.code)

_PARTS = "`:answerable` and `:impossible` are those of questions with and without an answer."
for _each in (
    RuledMeasure(
        "exact-match",
        "exact match",
        (NAME, "text_generation"),
        aliases=("em", "squad-em", "exact"),
        about=f"Share of answers that are a reference, letter by letter after normalization. {_PARTS}",
        parts="kind of question",
        needs={"execute": "none"},
    ),
    RuledMeasure(
        "answer-f1",
        "F1 of answers",
        (NAME, "text_generation"),
        aliases=("squad-f1", "qa-f1"),
        about=f"F1 of the words of each answer and its nearest reference, the mean of all answers. {_PARTS}",
        parts="kind of question",
        needs={"execute": "none"},
    ),
):
    add(MEASURES.things, _each.name, _each, MEASURES.code)
