"""Answers of two sides, compared as their task means them: classes, boxes, masks, texts, numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from mlmodelscope.task.array_answer import ArrayAnswer
from mlmodelscope.task.class_answer import ClassAnswer
from mlmodelscope.task.task import task_named
from mlmodelscope.worker.answers import Answers

_CLOSE = 1e-4
"""Scores and coordinates that are as near to each other are the same."""


def different_answers(task: str, first: Answers, second: Answers) -> str | None:
    """In words how the answers differ; None where they are the same."""
    mine, theirs = first.rows, second.rows
    if len(mine) != len(theirs) or first.errors.keys() != second.errors.keys():
        return f"A answers {len(mine)} samples and B {len(theirs)}"
    found = [_different(_plain(task, one), _plain(task, other)) for one, other in zip(mine, theirs, strict=True)]
    reasons = [each for each in found if each is not None]
    if not reasons:
        return None
    return f"{len(reasons)} of {len(found)} answers differ: {reasons[0]}"


def same_answers(task: str, first: Answers, second: Answers) -> tuple[int, int]:
    """(samples with the same answer, samples that both answer); of classes the best one counts."""
    if first.errors.keys() != second.errors.keys() or len(first.rows) != len(second.rows):
        return 0, 0
    same = [_is_same(task, one, other) for one, other in zip(first.rows, second.rows, strict=True)]
    return sum(same), len(same)


def _is_same(task: str, one: Any, other: Any) -> bool:
    if isinstance(one, ClassAnswer) and isinstance(other, ClassAnswer):
        return tuple(one.classes[:1]) == tuple(other.classes[:1])
    return _different(_plain(task, one), _plain(task, other)) is None


def _plain(task: str, answer: Any) -> Any:
    """An answer as plain values, by its task."""
    if isinstance(answer, ClassAnswer):
        return {"class": list(answer.classes), "score": list(answer.scores)}
    if isinstance(answer, ArrayAnswer):
        known = task_named(task)
        return known.plain(known.values(None, answer, None))
    return answer


def _different(one: Any, other: Any, where: str = "") -> str | None:
    place = f" ({where})" if where else ""
    if isinstance(one, bool) or isinstance(other, bool) or one is None or other is None:
        return None if one == other else f"{one} in A and {other} in B{place}"
    if isinstance(one, int | float) and isinstance(other, int | float):
        same = one == other or math.isclose(one, other, rel_tol=_CLOSE, abs_tol=_CLOSE)
        if isinstance(one, int) and isinstance(other, int):
            same = one == other
        return None if same else f"{one:.6g} in A and {other:.6g} in B{place}"
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        keys = dict.fromkeys((*one, *other))
        return next((said for key in keys if (said := _different(one.get(key), other.get(key), str(key)))), None)
    if isinstance(one, str) or isinstance(other, str):
        return None if one == other else f"{str(one)[:60]!r} in A and {str(other)[:60]!r} in B{place}"
    if isinstance(one, Sequence) and isinstance(other, Sequence):
        if len(one) != len(other):
            return f"{len(one)} {where or 'things'} in A and {len(other)} in B"
        return next((said for a, b in zip(one, other, strict=True) if (said := _different(a, b, where))), None)
    return None if one == other else f"another {type(one).__name__}{place}"
