"""Language modeling: how likely a model finds a text.

An answer is the logarithm of the probability of each window of a text. Per token it compares models with the same
tokenizer only; per byte, and per word, it compares all.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from functools import partial
from typing import Any

from mlmodelscope.task.array_answer import ArrayAnswer
from mlmodelscope.task.detection import sentence_of
from mlmodelscope.task.measure import MEASURES, NUMBER, SHARE
from mlmodelscope.task.questions import QUESTION_COLUMNS, question_values, spelled_of, token_shapes
from mlmodelscope.task.ruled import RuledMeasure, RuledTally
from mlmodelscope.task.shape import Named, Shape, TextShape, TokensShape
from mlmodelscope.task.task import TASKS, Column, Option, Task
from mlmodelscope_worker.parameters import Choice
from mlmodelscope_worker.registry import add

NAME = "language_modeling"


def _values(target: Any, answer: ArrayAnswer | None, score: bytes | None) -> dict[str, Any]:
    found: dict[str, Any] = {"target": json.dumps(target, sort_keys=True) if target is not None else None}
    if answer is not None:
        found["sums"] = answer.arrays["sums"].tolist() if "sums" in answer.arrays else None
        found |= question_values(answer)
    return {**found, "score": score}


def _plain(row: Mapping[str, Any]) -> Any:
    if row.get("sums") is None:
        return None
    return {"likelihoods": list(row["sums"]), "tokens": list(row.get("tokens") or ())}


def _shapes(row: Mapping[str, Any], target: Any, named: Named) -> list[Shape]:
    """The windows of a text, one behind the other."""
    found = [each for each in token_shapes(row) if isinstance(each, TokensShape)]
    if not found:
        return []
    tokens = tuple(token for each in found for token in each.tokens)
    return [TokensShape("answer", tokens, sum(each.more for each in found))]


def _glance(row: Mapping[str, Any], named: Named) -> list[Shape]:
    """How the text begins."""
    spelled = spelled_of(row)
    text = "".join(each.words.whole for each in spelled.rows[:1]) if spelled is not None else ""
    return [TextShape("answer", text)] if text else []


task = Task(
    NAME,
    "Language modeling",
    partial(RuledTally, NAME),
    headline=("perplexity", "bits-per-byte", "perplexity-word"),
    options={
        "unit": Option(
            Choice("What `perplexity` is of: `tokens`, `words` or `bytes`.", "tokens", "words", "bytes"), "tokens"
        )
    },
    is_ruled=True,
    has_classes=False,
    roles=(("text",),),
    columns=(
        Column("target", "string"),
        Column("sums", "list<float64>"),
        *QUESTION_COLUMNS,
        Column("score", "binary"),
    ),
    values=_values,
    plain=_plain,
    shapes=_shapes,
    glance=_glance,
    quality="Quality is the mean probability of a token, by its logarithm.",
    sentence=sentence_of("perplexity", "bits-per-byte"),
)
add(TASKS.things, NAME, task, TASKS.code)

_ABOVE_1 = (1.0, math.inf)
for _each in (
    RuledMeasure(
        "perplexity",
        "perplexity",
        (NAME,),
        better="lower",
        unit=NUMBER,
        bounds=_ABOVE_1,
        aliases=("ppl", "token-perplexity", "perplexity-token"),
        about="How many tokens were equally likely, on average: e to the power of the mean of −log p of all tokens; "
        "`measure: {unit: …}` makes it one of words or bytes.",
    ),
    RuledMeasure(
        "perplexity-word",
        "perplexity of words",
        (NAME,),
        better="lower",
        unit=NUMBER,
        bounds=_ABOVE_1,
        aliases=("word-perplexity",),
        about="The same by words instead of tokens: what stands between blanks.",
    ),
    RuledMeasure(
        "perplexity-byte",
        "perplexity of bytes",
        (NAME,),
        better="lower",
        unit=NUMBER,
        bounds=_ABOVE_1,
        aliases=("byte-perplexity",),
        about="The same by bytes of UTF-8.",
    ),
    RuledMeasure(
        "bits-per-byte",
        "bits per byte",
        (NAME,),
        better="lower",
        unit=NUMBER,
        bounds=(0.0, math.inf),
        aliases=("bpb",),
        about="Bits that a byte of the text takes, were it compressed by the model; comparable between tokenizers.",
    ),
    RuledMeasure(
        "perplexity-text",
        "perplexity of texts",
        (NAME,),
        better="lower",
        unit=NUMBER,
        bounds=_ABOVE_1,
        aliases=("lambada-perplexity",),
        about="The same by whole texts: e to the power of the mean of −log p of what each sample asks for.",
    ),
    RuledMeasure(
        "greedy-accuracy",
        "greedy accuracy",
        (NAME,),
        unit=SHARE,
        aliases=("lambada-accuracy",),
        about="Share of texts of which every token was the likeliest: what a model would have written by itself.",
    ),
):
    add(MEASURES.things, _each.name, _each, MEASURES.code)
