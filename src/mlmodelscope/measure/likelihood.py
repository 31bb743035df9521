"""Language modeling: perplexities and bits, from logarithms of probabilities and lengths of texts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from mlmodelscope.measure.pack import pack, unpack
from mlmodelscope.measure.rule import Arrays, ScoreError, task_rule
from mlmodelscope.measure.sums import counted, deviation_of, mean, number_of, ratio

_UNITS = ("tokens", "words", "bytes", "texts")


def _perplexity(sums: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        found: np.ndarray = np.exp(-ratio(sums[:, 0], sums[:, 1]))
        return found


def _bits(sums: np.ndarray) -> np.ndarray:
    return -ratio(sums[:, 0], sums[:, 1]) / math.log(2)


MEASURES: Mapping[str, tuple[str, Callable[[np.ndarray], np.ndarray]]] = {
    "perplexity": ("unit", _perplexity),
    "perplexity-word": ("words", _perplexity),
    "perplexity-byte": ("bytes", _perplexity),
    "bits-per-byte": ("bytes", _bits),
    "perplexity-text": ("texts", _perplexity),
    "greedy-accuracy": ("likeliest", mean),
}


@task_rule("language_modeling")
class LanguageModeling:
    """A score holds the logarithm of a text's probability, and what there was of it: tokens, words, bytes."""

    def score(self, arrays: Arrays, fields: Mapping[str, Any], target: Any, options: Mapping[str, Any]) -> bytes:
        sums, tokens = arrays.get("sums"), arrays.get("tokens")
        if sums is None or tokens is None or not len(sums) or not np.isfinite(sums).all():
            raise ScoreError("its answer does not say how likely the text is")
        total, count = float(sums.sum()), int(tokens.sum())
        words, size = fields.get("words"), fields.get("bytes")
        if count < 1 or not isinstance(words, int) or not isinstance(size, int):
            raise ScoreError("its answer does not say how long the text is")
        likeliest = float(arrays["likeliest"].all()) if "likeliest" in arrays else 0.0
        counts = (count, words, size, 1.0)
        values = np.array([total, *counts, likeliest, counts[_UNITS.index(str(options.get("unit", "tokens")))]])
        return pack({"values": values}, quality=round(min(1.0, math.exp(total / count)), 9))

    def numbers(self, scores: Sequence[bytes], names: Sequence[str], weights: np.ndarray | None) -> dict[str, float]:
        found = {name: number_of(_rows(tuple(scores), name), MEASURES[name][1], weights) for name in names}
        return {name: value for name, value in found.items() if np.isfinite(value)}

    def deviations(self, scores: Sequence[bytes], names: Sequence[str]) -> dict[str, float]:
        return {name: deviation_of(_rows(tuple(scores), name), MEASURES[name][1]) for name in names}

    def counts(self, scores: Sequence[bytes], names: Sequence[str]) -> dict[str, tuple[int, int]]:
        found = counted(_rows(tuple(scores), "greedy-accuracy"))
        return {"greedy-accuracy": found} if found is not None and "greedy-accuracy" in names else {}

    def details(self, scores: Sequence[bytes]) -> dict[str, Any]:
        total = _table(tuple(scores)).sum(axis=0)
        return {"texts": {unit: int(total[place + 1]) for place, unit in enumerate(_UNITS)}}


def _rows(scores: tuple[bytes, ...], name: str) -> np.ndarray:
    """(what is summed, what it is divided by) of each sample."""
    table, unit = _table(scores), MEASURES[name][0]
    if unit == "likeliest":
        return np.stack([table[:, 5], table[:, 4]], axis=1)
    if unit == "unit":
        return np.stack([table[:, 0], table[:, 6]], axis=1)
    return np.stack([table[:, 0], table[:, 1 + _UNITS.index(unit)]], axis=1)


@lru_cache(maxsize=4)
def _table(scores: tuple[bytes, ...]) -> np.ndarray:
    return np.stack([unpack(each)[0]["values"] for each in scores])
