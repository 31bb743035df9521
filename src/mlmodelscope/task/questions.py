"""What the tables of language models' tasks have in common: what was shown, and how likely each token was."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mlmodelscope.task.array_answer import KEPT, ArrayAnswer
from mlmodelscope.task.shape import TokensShape
from mlmodelscope.task.spelled import Spelled, read_spelled, tokens_with_logs
from mlmodelscope.task.task import Column

QUESTION_COLUMNS = (Column("tokens", "list<int32>"), Column("logs", "list<float32>"), Column(KEPT, "string"))
"""How many tokens each row has, the logarithms of all of them one behind the other, and the rows in words."""


def kept_of(answer: ArrayAnswer) -> str | None:
    found = answer.arrays.get(KEPT)
    return None if found is None else found.content.decode("utf-8", "replace")


def question_values(answer: ArrayAnswer) -> dict[str, Any]:
    """What those columns hold. Logarithms are kept where their tokens are."""
    kept, tokens = kept_of(answer), answer.arrays.get("tokens")
    logs = answer.arrays.get("logs") if kept is not None else None
    return {
        "tokens": None if tokens is None else tokens.tolist(),
        "logs": None if logs is None else logs.tolist(),
        KEPT: kept,
    }


def spelled_of(row: Mapping[str, Any]) -> Spelled | None:
    """What a row of a table keeps of its question; ValueError where it is damaged."""
    return read_spelled(row.get(KEPT))


def token_shapes(row: Mapping[str, Any]) -> list[TokensShape]:
    """What was asked about, token by token; choices without their question are left out."""
    spelled = spelled_of(row)
    if spelled is None:
        return []
    found = []
    for each, tokens in zip(spelled.rows, tokens_with_logs(spelled, row.get("logs"), row.get("tokens")), strict=True):
        if not each.alone and tokens:
            name = "" if each.choice is None else f"choice {each.choice}"
            found.append(TokensShape("answer", tuple(tokens), each.words.more, name))
    return found
