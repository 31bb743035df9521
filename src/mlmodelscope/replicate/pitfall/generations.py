"""Which part of a written answer counts, and what is done to it before it is compared."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mlmodelscope.plan.plan import Plan
from mlmodelscope.replicate.pitfall.pitfall import Edits, pitfall
from mlmodelscope.replicate.pitfall.prompting import DOCUMENT
from mlmodelscope.task.task import task_named

_TASK = "text_generation"
EXTRACTIONS: dict[str, list[Any]] = {
    "the whole answer counts": [],
    "the last number counts": ["last_number"],
    "what stands behind #### counts": [{"regex": {"pattern": r"#### (-?[0-9.,]+)"}}],
    "the first number counts": ["first_number"],
    "the answer without blanks around it counts": ["strip"],
    "the first line counts": ["first_line"],
    "the last line counts": ["last_line"],
    "the letter counts": ["letter"],
    "what stands in \\boxed counts": ["boxed"],
}
_NORMALIZATIONS: dict[str, list[Any]] = {
    "as they are": [],
    "lower case, without punctuation": ["lowercase", "remove_ascii_punctuation", "squeeze_spaces"],
    "lower case": ["lowercase"],
    "without punctuation": ["remove_ascii_punctuation"],
}
_FORMATS: dict[str, list[Any]] = {
    "without commas": [{"remove": ","}],
    "without commas and dollar signs": [{"remove": r"[,$]"}],
    "without a period at the end": [{"remove": r"\.$"}],
    "without zeros behind the point": [{"remove": r"\.0+$"}],
}


def _settled(plan: Plan, **options: object) -> Iterator[Plan]:
    """The plan with answers scored otherwise, every default of the steps filled in; nothing where that changes none."""
    measure = task_named(plan.task).settle({**plan.measure, **options})
    if measure != plan.measure:
        yield plan.model_copy(update={"measure": measure})


@pitfall("answer-extraction", "Part of an answer that counts", is_ranked=True, parts=DOCUMENT)
def answer_extraction(plan: Plan) -> Edits:
    """The last number of an answer is compared, or only what stands behind a mark, or all of it."""
    if plan.task == _TASK:
        for words, steps in EXTRACTIONS.items():
            for edited in _settled(plan, extract=steps):
                yield words, edited


@pitfall("answer-normalization", "Normalization of answers", is_ranked=True, parts=DOCUMENT)
def answer_normalization(plan: Plan) -> Edits:
    """Capitals and punctuation of an answer count, or they do not."""
    if plan.task == _TASK:
        for words, steps in _NORMALIZATIONS.items():
            for edited in _settled(plan, normalization=steps):
                yield f"answers compared {words}", edited


@pitfall("number-format", "Form of numbers", weight=0.5, parts=DOCUMENT)
def number_format(plan: Plan) -> Edits:
    """`1,000`, `$1000` and `1000.0` are one number to people and three texts to an exact match."""
    if plan.task != _TASK:
        return
    now = list(plan.measure.get("normalization") or [])
    for words, steps in _FORMATS.items():
        if not all(each in now for each in steps):
            for edited in _settled(plan, normalization=[*now, *steps]):
                yield f"numbers {words}", edited
    rest = [each for each in now if not any(each in steps for steps in _FORMATS.values())]
    for edited in _settled(plan, normalization=rest) if rest != now else ():
        yield "numbers as they are written", edited
