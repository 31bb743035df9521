"""What tasks have in common whose answers are texts: their columns, what is kept of a row, what is seen of it."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from mlmodelscope.task.array_answer import ArrayAnswer
from mlmodelscope.task.shape import Named, Shape, TextShape
from mlmodelscope.task.task import Column

_LARGEST = sys.float_info.max
TEXT_COLUMNS = (Column("target", "string"), Column("text", "string"), Column("score", "binary"))


def storable(text: Any) -> str | None:
    """A text that a table can hold: halves of surrogate pairs, which no file can, are replaced."""
    return text.encode("utf-8", "replace").decode("utf-8") if isinstance(text, str) else None


def finite_score(value: Any) -> float | None:
    """How sure an answer is, where that is a number that JSON can hold."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and abs(value) <= _LARGEST else None


def text_values(target: Any, answer: ArrayAnswer | None, score: bytes | None) -> dict[str, Any]:
    found: dict[str, Any] = {"target": json.dumps(target, sort_keys=True) if target is not None else None}
    if answer is not None:
        found["text"] = storable(answer.fields.get("text"))
    return {**found, "score": score}


def text_answer(row: Mapping[str, Any]) -> Any:
    return row.get("text")


def truth_of(row: Mapping[str, Any], target: Any) -> Mapping[str, Any]:
    """What is true of a row: of its dataset, or as the row has it; nothing where a stranger wrote something else."""
    if isinstance(target, Mapping):
        return target
    found = json.loads(row.get("target") or "{}")
    return found if isinstance(found, dict) else {}


def true_texts(row: Mapping[str, Any], target: Any) -> Sequence[str]:
    """The reference texts of a row."""
    found = truth_of(row, target).get("texts")
    return [each for each in found if isinstance(each, str)] if isinstance(found, list | tuple) else []


def text_shapes(row: Mapping[str, Any], target: Any, named: Named) -> list[Shape]:
    """The references, then the answer."""
    found: list[Shape] = [TextShape("truth", storable(each) or "") for each in true_texts(row, target)]
    return found + [TextShape("answer", row["text"])] if row.get("text") is not None else found
