"""What tasks whose answers are numbers have in common: their columns, and how truth and answer are shown."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from mlmodelscope.task.array_answer import ArrayAnswer
from mlmodelscope.task.shape import Named, TextShape
from mlmodelscope.task.task import Column

COLUMNS = (Column("target", "string"), Column("values", "list<float64>"), Column("score", "binary"))
ROLES = (("number",), ("embedding",), ("tensor",), ("scores",), ("probability",), ("logits",), ("general",))
_SHOWN = 6


def values_of(target: Any, answer: ArrayAnswer | None, score: bytes | None) -> dict[str, Any]:
    """What the columns hold."""
    found: dict[str, Any] = {"target": json.dumps(target) if isinstance(target, Mapping) else None}
    if answer is not None and "values" in answer.arrays:
        found["values"] = answer.arrays["values"].tolist()
    return {**found, "score": score}


def plain(row: Mapping[str, Any]) -> Any:
    return {"values": row["values"]} if row.get("values") is not None else None


def truth_of(row: Mapping[str, Any], target: Any) -> Mapping[str, Any]:
    """What is true of a sample: as the dataset has it, or as the row kept it."""
    found = target if target is not None else json.loads(row.get("target") or "{}")
    return found if isinstance(found, Mapping) else {}


def shapes(row: Mapping[str, Any], target: Any, named: Named) -> list[TextShape]:
    """The true numbers and those that were answered."""
    truth = truth_of(row, target).get("values")
    found = [TextShape("truth", spelled(truth))] if isinstance(truth, Sequence) and truth else []
    if row.get("values"):
        found.append(TextShape("answer", spelled(row["values"])))
    return found


def compared(row: Mapping[str, Any]) -> list[tuple[float, float]]:
    """Each true number beside the one that was answered; none where they are not as many."""
    truth, answer = truth_of(row, None).get("values"), row.get("values")
    if not isinstance(truth, list) or not isinstance(answer, list) or len(truth) != len(answer):
        return []
    return list(zip(truth, answer, strict=True))


def spelled(values: Sequence[float]) -> str:
    """The first numbers, and how many there are."""
    text = ", ".join(f"{each:.6g}" for each in values[:_SHOWN])
    return f"{text}, … ({len(values):,} values)" if len(values) > _SHOWN else text


def samples_in_words(samples: int) -> str:
    return f"{samples:,} sample{'' if samples == 1 else 's'}"
