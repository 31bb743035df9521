"""Speech recognition: what is said in a recording.

The truth is one or several transcripts, of which the nearest counts; an answer is a text. What is done to both before
words are compared decides more than most models differ in, so it is written down: `normalization` is a list of steps.
Without one, texts are compared as they are.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from functools import partial
from typing import Any, get_args

from mlmodelscope.measure.facts import facts_of
from mlmodelscope.measure.normalization import Normalization
from mlmodelscope.task.array_answer import ArrayAnswer
from mlmodelscope.task.detection import sentence_of
from mlmodelscope.task.measure import MEASURES
from mlmodelscope.task.ruled import RuledMeasure, RuledTally, shown_of
from mlmodelscope.task.shape import Change, DifferenceShape, Named, Shape
from mlmodelscope.task.task import TASKS, Column, Option, Task
from mlmodelscope.task.texts import text_answer, text_shapes, text_values
from mlmodelscope_worker.parameters import Choice
from mlmodelscope_worker.registry import add

NAME = "speech_recognition"
_CHANGES: dict[str, Change] = {each: each for each in get_args(Change)}
OPTIONS = {
    "normalization": Option(
        Normalization(
            "What is done to both texts first, in this order: `lowercase`, `unicode_nfc`, `unicode_nfkc`, "
            "`strip_accents`, `remove_punctuation`, `squeeze_spaces`, `expand: {mr.: mister}` (words that stand for "
            'others), `keep: "a-z\' "` (every other character becomes a space).'
        ),
        [],
    ),
    "reference_normalization": Option(Normalization("Steps for references alone, done before the others."), []),
    "answer_normalization": Option(Normalization("Steps for answers alone, done before the others."), []),
    "averaging": Option(
        Choice(
            "What a rate is: the edits of all utterances by the words of all references, or the mean of the rates of "
            "utterances.",
            "pooled",
            "utterances",
        ),
        "pooled",
    ),
}


def _values(target: Any, answer: ArrayAnswer | None, score: bytes | None) -> dict[str, Any]:
    shown = shown_of(score)
    return {**text_values(target, answer, score), "wer": shown.get("wer"), "cer": shown.get("cer")}


def _shapes(row: Mapping[str, Any], target: Any, named: Named) -> list[Shape]:
    """The transcripts, then the answer; word by word where it was compared."""
    found = text_shapes(row, target, named)
    parts = _parts(row.get("score"))
    if not parts:
        return found
    return [*(each for each in found if each.side == "truth"), DifferenceShape("answer", parts)]


def _parts(score: bytes | None) -> tuple[tuple[Change, str, str], ...]:
    """What became of every word; nothing where a score does not say it, or is damaged."""
    try:
        told = facts_of(score).get("difference") if score else None
        return tuple((_CHANGES[change], str(due), str(said)) for change, due, said in told or ())
    except (ValueError, TypeError, LookupError, RecursionError, struct.error):  # a stranger's
        return ()


task = Task(
    NAME,
    "Speech recognition",
    partial(RuledTally, NAME, packages=("rapidfuzz",)),
    headline=("wer", "cer"),
    options=OPTIONS,
    is_ruled=True,
    has_classes=False,
    roles=(("text",), ("tokens",), ("logits",), ("probability",), ("tensor",), ("general",)),
    columns=(
        Column("target", "string"),
        Column("text", "string"),
        Column("wer", "float64"),
        Column("cer", "float64"),
        Column("score", "binary"),
    ),
    values=_values,
    plain=text_answer,
    shapes=_shapes,
    quality="Quality is the share of right words among the words of the reference and those inserted.",
    sentence=sentence_of("wer", "cer"),
)
add(TASKS.things, NAME, task, TASKS.code)

for _name, _title, _units, _aliases in (
    ("wer", "WER", "words", ("word-error-rate",)),
    ("cer", "CER", "characters", ("character-error-rate",)),
):
    _about = f"Substitutions, deletions and insertions by the {_units} of the references; it may exceed 100 %."
    _measure = RuledMeasure(
        _name, _title, (NAME,), better="lower", bounds=(0.0, math.inf), aliases=_aliases, about=_about
    )
    add(MEASURES.things, _name, _measure, MEASURES.code)
