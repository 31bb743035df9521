"""Translation: a text in another language.

The truth is one or several reference texts, an answer is a text. BLEU, chrF, chrF++ and TER are sacrebleu's, with its
signature in the details of a record; all but ROUGE are numbers of all texts together, not means over texts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from mlmodelscope.task.array_answer import ArrayAnswer
from mlmodelscope.task.measure import MEASURES, NUMBER
from mlmodelscope.task.ruled import RuledMeasure, RuledTally, shown_of
from mlmodelscope.task.task import TASKS, Column, Number, Option, Task
from mlmodelscope.task.texts import TEXT_COLUMNS, text_answer, text_shapes, text_values
from mlmodelscope_worker.parameters import Choice, Flag
from mlmodelscope_worker.registry import add

NAME = "translation"
BOTH = (NAME, "summarization")
PACKAGES = ("sacrebleu", "rapidfuzz")
ROLES = (("text",), ("tokens",), ("logits",), ("tensor",), ("general",))
OPTIONS = {
    "tokenize": Option(
        Choice("How BLEU parts words, by sacrebleu's names.", "13a", "intl", "char", "zh", "none"),
        "13a",
    ),
    "lowercase": Option(Flag("Whether BLEU and chrF take capitals for small letters; TER always does."), False),
    "smoothing": Option(
        Choice("What BLEU does about n-grams that are never right.", "exp", "floor", "add-k", "none"), "exp"
    ),
    "effective_order": Option(
        Flag("Whether BLEU leaves out n-grams that are longer than the answers; for single sentences."), False
    ),
    "stemming": Option(
        Flag("Whether ROUGE compares stems of English words (Porter's, as rouge-score has them)."), False
    ),
    "ter": Option(Flag("Whether TER is computed, which is slow; of texts of up to 300 words."), False),
}


def _values(target: Any, answer: ArrayAnswer | None, score: bytes | None) -> dict[str, Any]:
    return {**text_values(target, answer, score), "chrf": shown_of(score).get("chrf")}


def sentence_of_number(*names: str) -> Callable[[int, Mapping[str, Number]], str]:
    """The first of these numbers, which are no shares, in words."""

    def sentence(samples: int, numbers: Mapping[str, Number]) -> str:
        shown = next((name for name in names if name in numbers), None)
        if shown is None:
            return ""
        told = f"{MEASURES[shown].title} {numbers[shown].value:.1f}"
        return f"{told} on {samples:,} sample{'' if samples == 1 else 's'}"

    return sentence


task = Task(
    NAME,
    "Translation",
    partial(RuledTally, NAME, packages=PACKAGES),
    headline=("bleu", "chrf", "chrfpp"),
    options=OPTIONS,
    is_ruled=True,
    has_classes=False,
    roles=ROLES,
    columns=(*TEXT_COLUMNS[:2], Column("chrf", "float64"), *TEXT_COLUMNS[2:]),
    values=_values,
    plain=text_answer,
    shapes=text_shapes,
    quality="Quality is the chrF of a text by itself.",
    sentence=sentence_of_number("bleu", "chrf"),
)
add(TASKS.things, NAME, task, TASKS.code)

for _each in (
    RuledMeasure(
        "bleu",
        "BLEU",
        BOTH,
        unit=NUMBER,
        bounds=(0.0, 100.0),
        aliases=("sacrebleu", "bleu-4", "bleu4"),
        about="n-grams of up to four words that are in a reference, with a penalty for brevity; from 0 to 100.",
        is_stable=False,
    ),
    RuledMeasure(
        "chrf",
        "chrF",
        BOTH,
        unit=NUMBER,
        bounds=(0.0, 100.0),
        aliases=("chrf2",),
        about="F2 of n-grams of up to six characters (Popović 2015); from 0 to 100.",
        is_stable=False,
    ),
    RuledMeasure(
        "chrfpp",
        "chrF++",
        BOTH,
        unit=NUMBER,
        bounds=(0.0, 100.0),
        aliases=("chrf++", "chrf2++"),
        about="chrF with words and pairs of words as well (Popović 2017); from 0 to 100.",
        is_stable=False,
    ),
    RuledMeasure(
        "ter",
        "TER",
        BOTH,
        better="lower",
        unit=NUMBER,
        bounds=(0.0, math.inf),
        aliases=("translation-edit-rate",),
        about="Edits and shifts of words by the words of the references, in percent. It needs the option `ter`.",
        needs={"ter": True},
    ),
):
    add(MEASURES.things, _each.name, _each, MEASURES.code)

for _name, _title, _about in (
    ("rouge-1", "ROUGE-1", "F1 of single words"),
    ("rouge-2", "ROUGE-2", "F1 of pairs of words"),
    ("rouge-l", "ROUGE-L", "F1 of the longest common subsequence of words"),
):
    _measure = RuledMeasure(
        _name,
        _title,
        tuple(reversed(BOTH)),
        aliases=(_name.replace("-", ""),),
        about=f"{_about}, by the nearest reference, the mean of all texts; as rouge-score has it.",
    )
    add(MEASURES.things, _name, _measure, MEASURES.code)
