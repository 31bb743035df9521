"""Translation and summarization: BLEU, chrF, chrF++ and TER by sacrebleu, and ROUGE.

A score holds what a text adds to the sums that a number of many texts is made of, so that numbers of any set of texts
follow without reading a text again.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from mlmodelscope.measure import ngrams
from mlmodelscope.measure.pack import pack, unpack
from mlmodelscope.measure.rouge import MEASURES as ROUGE
from mlmodelscope.measure.rouge import rouge
from mlmodelscope.measure.rule import Arrays, ScoreError, task_rule
from mlmodelscope.measure.sums import Formula, deviation_of, mean, number_of, ratio
from mlmodelscope.measure.texts import answered_text, reference_texts

MEASURES = ("bleu", "chrf", "chrfpp", "ter", *ROUGE)
_MOST_WORDS_OF_TER = 300
"""Beyond that, looking for the best shifts takes minutes."""
_CHARACTERS = 6
_WORDS = 2


class Texts:
    """The rule of both tasks; they differ in what the quality of a sample is."""

    quality = ""

    def score(self, arrays: Arrays, fields: Mapping[str, Any], target: Any, options: Mapping[str, Any]) -> bytes:
        answer, references = answered_text(fields), reference_texts(target)
        metrics = _metrics(*_settled(options))
        streams = [[each] for each in references]
        counted = metrics["counts"].corpus_score([answer], streams)
        found = {"bleu": [counted.sys_len, counted.ref_len, *counted.counts, *counted.totals]}
        found["chrfpp"] = _grams(metrics["chrfpp"], answer, streams)
        # Of several references each number takes the one that it is best with; of one the characters are the same.
        one = found["chrfpp"][: 3 * _CHARACTERS]
        found["chrf"] = one if len(references) == 1 else _grams(metrics["chrf"], answer, streams)
        if options.get("ter"):
            found["ter"] = _edits(metrics["ter"], answer, references)
        rows = {name: np.array(each, np.float64) for name, each in found.items()}
        rows["rouge"] = np.array(rouge(references, answer, options.get("stemming") is True))
        qualities = {"chrf": ngrams.chrf(rows["chrf"][None])[0] / 100, "rouge-l": rows["rouge"][2]}
        settled = {name: options.get(name, default) for name, default in _DEFAULTS.items()}
        return pack(
            rows,
            options=settled,
            quality=round(min(1.0, float(qualities[self.quality])), 9),
            references=len(references),
            shown={"chrf": float(100 * qualities["chrf"])},
        )

    def numbers(self, scores: Sequence[bytes], names: Sequence[str], weights: np.ndarray | None) -> dict[str, float]:
        table = _table(tuple(scores))
        found = {name: number_of(*table[name], weights) for name in names if name in table}
        return {name: value for name, value in found.items() if np.isfinite(value)}

    def deviations(self, scores: Sequence[bytes], names: Sequence[str]) -> dict[str, float]:
        table = _table(tuple(scores))
        return {name: deviation_of(*table[name]) for name in names if name in table}

    def details(self, scores: Sequence[bytes]) -> dict[str, Any]:
        """How sacrebleu writes down what it computed, so that others can compute the same."""
        parts = [unpack(each)[1] for each in scores]
        many = {facts["references"] for facts in parts}
        known = _table(tuple(scores))
        metrics = {name: each for name, each in _metrics(*_settled(parts[0]["options"])).items() if name in known}
        for each in metrics.values():
            each.num_refs = min(many) if len(many) == 1 else -1
        return {"signatures": {name: str(each.get_signature()) for name, each in metrics.items()}}


@task_rule("translation")
class Translation(Texts):
    """Samples are sorted by chrF."""

    quality = "chrf"


@task_rule("summarization")
class Summarization(Texts):
    """Samples are sorted by ROUGE-L."""

    quality = "rouge-l"


_DEFAULTS = {"tokenize": "13a", "lowercase": False, "smoothing": "exp", "effective_order": False}


def _settled(options: Mapping[str, Any]) -> tuple[str, bool, str, bool]:
    tokenize, lowercase, smoothing, order = (options.get(name, default) for name, default in _DEFAULTS.items())
    return str(tokenize), bool(lowercase), str(smoothing), bool(order)


@lru_cache(maxsize=8)
def _metrics(tokenize: str, lowercase: bool, smoothing: str, effective_order: bool) -> dict[str, Any]:
    """sacrebleu's, by the names of our measures."""
    theirs: Any = importlib.import_module("sacrebleu.metrics")
    common = {"lowercase": lowercase, "force": True, "tokenize": tokenize, "effective_order": effective_order}
    return {
        "bleu": theirs.BLEU(smooth_method=smoothing, **common),
        "counts": theirs.BLEU(smooth_method="none", **common),  # `add-k` would be among them
        "chrf": theirs.CHRF(lowercase=lowercase),
        "chrfpp": theirs.CHRF(lowercase=lowercase, word_order=_WORDS),
        "ter": theirs.TER(),
    }


def _grams(metric: Any, answer: str, streams: Sequence[Sequence[str]]) -> list[int]:
    """n-grams of the answer, of the reference that fits best, and those in both, for each order."""
    found: list[int] = metric._extract_corpus_statistics([answer], streams)[0]
    return found


def _edits(metric: Any, answer: str, references: Sequence[str]) -> list[float]:
    """(edits and shifts, words of the references on average)."""
    longest = max(len(each.split()) for each in (answer, *references))
    if longest > _MOST_WORDS_OF_TER:
        raise ScoreError(f"TER is computed of up to {_MOST_WORDS_OF_TER} words, and a text of it has {longest:,}")
    found = metric.corpus_score([answer], [[each] for each in references])
    return [found.num_edits, found.ref_length]


@lru_cache(maxsize=2)  # a bootstrap asks for the same scores again and again
def _table(scores: tuple[bytes, ...]) -> dict[str, tuple[np.ndarray, Formula]]:
    """What each sample adds to a number, and the formula of the sums."""
    parts = [unpack(each) for each in scores]
    _, _, smoothing, order = _settled(parts[0][1]["options"])
    formulas: dict[str, Formula] = {
        "bleu": partial(ngrams.bleu, smoothing=smoothing, effective_order=order),
        "chrf": ngrams.chrf,
        "chrfpp": ngrams.chrf,
        "ter": _ter,
    }
    found = {
        name: (np.stack([arrays[name] for arrays, _ in parts]), formula)
        for name, formula in formulas.items()
        if all(name in arrays for arrays, _ in parts)
    }
    values, ones = np.stack([arrays["rouge"] for arrays, _ in parts]), np.ones(len(parts))
    return found | {name: (np.stack([values[:, at], ones], axis=1), mean) for at, name in enumerate(ROUGE)}


def _ter(sums: np.ndarray) -> np.ndarray:
    """In percent; without words of references, 100 where there are edits, as sacrebleu has it."""
    edits, words = sums.T
    return np.where(words > 0, 100 * ratio(edits, words), np.where(edits > 0, 100.0, 0.0))
