"""Text generation: a language model writes an answer, and a declared part of it is compared.

The truth is `{"answers": [...]}`, texts of which one suffices. Which part of an answer counts, and what is done to
both before they are compared, is the manifest's `measure`; nothing is done unless it is written down.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Mapping
from typing import Any

from mlmodelscope.confine.execution import why_nothing_runs
from mlmodelscope.errors import MetricError
from mlmodelscope.measure.extraction import Extraction
from mlmodelscope.measure.facts import facts_of
from mlmodelscope.task.array_answer import ArrayAnswer
from mlmodelscope.task.detection import sentence_of
from mlmodelscope.task.measure import MEASURES
from mlmodelscope.task.questions import kept_of
from mlmodelscope.task.ruled import RuledMeasure, RuledTally
from mlmodelscope.task.shape import Named, Shape, SpansShape, TextShape
from mlmodelscope.task.task import TASKS, Column, Option, Task, Terms
from mlmodelscope.task.texts import storable, text_values, truth_of
from mlmodelscope_worker.parameters import Choice, Flag, Integer, Number, Text
from mlmodelscope_worker.registry import add

NAME = "text_generation"
_STEPS = (
    "`strip`, `first_line`, `last_line`, `first_number`, `last_number`, `letter` (the first capital letter that stands "
    "alone), `boxed` (LaTeX), `before: TEXT`, `after: TEXT`, `regex: {pattern, take, fallback}` (Python's findall; "
    "`take` is which match, 0 the first and -1 the last; of several groups the first that matched), `remove: PATTERN`, "
    "`remove_digits`, `remove_ascii_punctuation`, and the steps of a normalization of texts"
)
OPTIONS = {
    "extract": Option(Extraction(f"Which part of an answer counts, in this order: {_STEPS}."), []),
    "reference_extract": Option(Extraction("The same for what is right."), []),
    "normalization": Option(Extraction("What is done to both after that."), []),
    "tolerance": Option(
        Number("How far a number may lie from the right one, as a share of it, to be the same.", at_least=0, at_most=1),
        0.0,
    ),
    "execute": Option(
        Choice(
            "Whether an answer is a program: the reference has a place for it, and both are run in a sandbox. It needs "
            "trust.",
            "none",
            "python",
        ),
        "none",
    ),
    "insert": Option(Text("What stands in the reference where the answer belongs that is run."), "[[answer]]"),
    "timeout_s": Option(Integer("Processor time (s) of one program.", at_least=1, at_most=600), 10),
    "memory_mib": Option(Integer("What one program may allocate (MiB).", at_least=64, at_most=65536), 512),
    "vote": Option(Flag("Whether of several answers to a question the most frequent one is the answer."), False),
}
_ENDINGS = ("stop", "length")
_LONGEST_SOUGHT = 200
TAKEN = "extracted"


def _values(target: Any, answer: ArrayAnswer | None, score: bytes | None) -> dict[str, Any]:
    found = {**text_values(target, answer, score), "extracted": _extracted(score)}
    if answer is not None:
        told = answer.fields
        found["ending"] = told.get("ending") if told.get("ending") in _ENDINGS else None
        found["tokens"] = told.get("tokens") if isinstance(told.get("tokens"), int) else None
        found["kept"] = kept_of(answer)
        several = told.get("texts")
        if isinstance(several, list):
            found["texts"] = json.dumps([storable(each) for each in several])
    return found


def _extracted(score: bytes | None) -> str | None:
    """What was taken out of an answer; nothing where a score does not say it, or is damaged."""
    try:
        told = facts_of(score).get("extracted") if score else None
    except (ValueError, TypeError, LookupError, RecursionError, struct.error):  # a stranger's
        return None
    return told if isinstance(told, str) else None


def _plain(row: Mapping[str, Any]) -> Any:
    if row.get("text") is None:
        return None
    texts = json.loads(row["texts"]) if row.get("texts") else [row["text"]]
    return {"text": row["text"], "extracted": row.get("extracted"), "ending": row.get("ending"), "texts": texts}


def _shapes(row: Mapping[str, Any], target: Any, named: Named) -> list[Shape]:
    """What is right, and the whole answer, in which the part that counts is marked."""
    due = truth_of(row, target)
    right = due.get("answers") or due.get("texts") or []
    found: list[Shape] = [TextShape("truth", storable(str(each)) or "") for each in right]
    text, taken = row.get("text"), row.get("extracted")
    if text is None:
        return found
    remark = f"cut off at {row['tokens'] or 0:,} tokens" if row.get("ending") == "length" else ""
    if not taken or taken == text:
        nothing = "" if taken or taken is None or not text else "nothing could be extracted"
        return [*found, TextShape("answer", text, remark=", ".join(filter(None, (nothing, remark))))]
    place = place_of(text, taken, _is_last(row.get("score")))
    if place is None:
        return [*found, TextShape("answer", taken, name=TAKEN), TextShape("answer", text, remark=remark)]
    return [*found, SpansShape("answer", text, ((*place, TAKEN, None),), remark=remark)]


def _glance(row: Mapping[str, Any], named: Named) -> list[Shape]:
    """The same in a list: what counts, or all of it where nothing is taken out."""
    found = [each for each in _shapes(row, None, named) if each.side == "truth"]
    said = row.get("extracted") or row.get("text")
    return [*found, TextShape("answer", said)] if said is not None else found


def _is_last(score: bytes | None) -> bool:
    return bool(facts_of(score).get("is_last")) if score else False


def place_of(text: str, taken: str, is_last: bool) -> tuple[int, int] | None:
    """Where a part stands in a text, whose numbers may have commas and which may have other capitals."""
    if not taken:
        return None
    start = text.rfind(taken) if is_last else text.find(taken)
    if start >= 0:
        return start, start + len(taken)
    if len(taken) > _LONGEST_SOUGHT:
        return None
    sought = ",?".join(map(re.escape, taken)) if taken.strip("-.").isdigit() else re.escape(taken)
    found = list(re.finditer(sought, text, re.IGNORECASE))
    return found[-1 if is_last else 0].span() if found else None


class GenerationTally(RuledTally):
    def __init__(self, terms: Terms) -> None:
        reason = why_nothing_runs() if terms.parameters.get("execute", "none") != "none" else None
        if reason is not None:
            raise MetricError(
                f"answers are programs that run in a sandbox only, and there is none: {reason}",
                hint="apt-get install bubblewrap; mlmodelscope doctor looks for it",
            )
        super().__init__(NAME, terms)


task = Task(
    NAME,
    "Text generation",
    GenerationTally,
    headline=("pass-at-1", "exact-match", "numeric-match", "answer-f1"),
    options=OPTIONS,
    is_ruled=True,
    has_classes=False,
    roles=(("text",), ("tokens",), ("logits",), ("tensor",), ("general",)),
    columns=(
        Column("target", "string"),
        Column("text", "string"),
        Column("extracted", "string"),
        Column("ending", "string"),
        Column("tokens", "int32"),
        Column("texts", "string"),
        Column("kept", "string"),
        Column("score", "binary"),
    ),
    values=_values,
    plain=_plain,
    shapes=_shapes,
    glance=_glance,
    quality="Quality is the best of match, F1 of words and match of numbers, over the answers to a question.",
    sentence=sentence_of("exact-match", "numeric-match"),
)
add(TASKS.things, NAME, task, TASKS.code)

for _name, _title, _about, _aliases in (
    (
        "numeric-match",
        "same number",
        "Share of answers that are the right number, however it is written.",
        ("numeric-accuracy",),
    ),
    ("contains", "contains", "Share of answers with the right text somewhere in them.", ("substring-match", "in")),
    (
        "any-match",
        "any match",
        "Share of questions to which at least one of several answers matches; `ask: {repeats: …}` asks for several.",
        ("pass-any",),
    ),
):
    add(
        MEASURES.things,
        _name,
        RuledMeasure(_name, _title, (NAME,), aliases=_aliases, about=_about, needs={"execute": "none"}),
        MEASURES.code,
    )
for _count in (1, 5, 10, 100):
    add(
        MEASURES.things,
        f"pass-at-{_count}",
        RuledMeasure(
            f"pass-at-{_count}",
            f"pass@{_count}",
            (NAME,),
            aliases=(f"pass-{_count}",),
            about=f"How likely one of {_count} written programs passes its tests, by the estimator without bias; "
            "`measure: {execute: python}` runs them, `ask: {repeats: …}` asks for several.",
            needs={"execute": "python"},
        ),
        MEASURES.code,
    )
