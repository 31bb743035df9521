"""Multiple choice: which choice is the likeliest, by what likelihoods are divided by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from mlmodelscope.measure.facts import facts_of
from mlmodelscope.measure.pack import pack
from mlmodelscope.measure.rule import Arrays, ScoreError, task_rule
from mlmodelscope.measure.sums import counted, deviation_of, mean, number_of

_BY = {"none": None, "characters": "characters", "bytes": "bytes", "tokens": "tokens"}


@task_rule("multiple_choice")
class MultipleChoice:
    """A score says by which rules the answer is right, which choice was taken, and how likely the right ones were."""

    def score(self, arrays: Arrays, fields: Mapping[str, Any], target: Any, options: Mapping[str, Any]) -> bytes:
        sums = arrays.get("sums")
        if sums is None or not len(sums) > 0 or not np.isfinite(sums).all():
            raise ScoreError("its answer does not say how likely each choice is")
        due = right_choices(target, fields.get("choices"), len(sums))
        chosen = {name: _best(arrays, name) for name in (*_BY, "unconditional")}
        rule = str(options.get("normalization", "none"))
        taken = chosen[rule]
        if taken is None:
            raise ScoreError(
                "how likely each choice is without the question was not asked: `ask: {unconditional: true}`"
            )
        right = {
            f"choice-accuracy-{name}": int(each in due)
            for name, each in chosen.items()
            if each is not None and name != "none"
        }
        right["choice-accuracy"] = int(taken in due)
        shares = np.exp(sums - sums.max())
        quality = float(shares[sorted(due)].sum() / shares.sum())
        return pack({}, right=right, chosen=int(taken), rule=rule, quality=round(min(1.0, quality), 9))

    def numbers(self, scores: Sequence[bytes], names: Sequence[str], weights: np.ndarray | None) -> dict[str, float]:
        found = {name: number_of(_rows(tuple(scores), name), mean, weights) for name in names}
        return {name: value for name, value in found.items() if np.isfinite(value)}

    def deviations(self, scores: Sequence[bytes], names: Sequence[str]) -> dict[str, float]:
        return {name: deviation_of(_rows(tuple(scores), name), mean) for name in names}

    def counts(self, scores: Sequence[bytes], names: Sequence[str]) -> dict[str, tuple[int, int]]:
        found = {name: counted(_rows(tuple(scores), name)) for name in names}
        return {name: each for name, each in found.items() if each is not None}

    def details(self, scores: Sequence[bytes]) -> dict[str, Any]:
        return {}


def _best(arrays: Arrays, normalization: str) -> int | None:
    """The first of the best choices by a rule; None where what it needs is not there."""
    sums = arrays["sums"]
    if normalization == "unconditional":
        return int(np.argmax(sums - arrays["alone"])) if "alone" in arrays else None
    by = _BY[normalization]
    if by is None:
        return int(np.argmax(sums))
    lengths = arrays[by].astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return int(np.argmax(np.where(lengths > 0, sums / lengths, -np.inf)))


def right_choices(target: Any, choices: Any, count: int) -> set[int]:
    """The numbers of the right choices."""
    answers = target.get("answers") if isinstance(target, Mapping) else None
    if not isinstance(answers, list) or not answers:
        raise ScoreError("nobody says which choice is right")
    found = set()
    for each in answers:
        if isinstance(each, str) and isinstance(choices, list) and each in choices:
            found.add(choices.index(each))
        elif isinstance(each, int) and not isinstance(each, bool) and 0 <= each < count:
            found.add(each)
        elif isinstance(choices, list) and str(each) in choices:  # a number that is a choice, and none of one
            found.add(choices.index(str(each)))
        else:
            raise ScoreError(f"the right answer {str(each)[:60]!r} is none of its {count} choices")
    return found


@lru_cache(maxsize=16)
def _rows(scores: tuple[bytes, ...], name: str) -> np.ndarray:
    """(right, 1) of each sample that can be judged by the rule."""
    right = [facts_of(each)["right"].get(name) for each in scores]
    return np.array([(0.0, 0.0) if each is None else (float(each), 1.0) for each in right])
