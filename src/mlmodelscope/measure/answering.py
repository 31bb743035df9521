"""Question answering: exact match and F1 of words, as SQuAD's own evaluation counts them (version 2.0)."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from mlmodelscope.measure.pack import pack, unpack
from mlmodelscope.measure.rule import Arrays, ScoreError, task_rule
from mlmodelscope.measure.sums import counted, deviation_of, mean, number_of
from mlmodelscope.measure.texts import answered_text, reference_texts

MEASURES = ("exact-match", "answer-f1")
PARTS = ("answerable", "impossible")
_ARTICLES = re.compile(r"\b(a|an|the)\b", re.UNICODE)
_PUNCTUATION = str.maketrans("", "", string.punctuation)


@task_rule("question_answering")
class QuestionAnswering:
    """A score holds exact match and F1 of one answer, by the reference that it is nearest to."""

    measures: tuple[str, ...] = MEASURES
    """Columns of a score's values, those of this rule first in every rule that is made of it."""

    def score(self, arrays: Arrays, fields: Mapping[str, Any], target: Any, options: Mapping[str, Any]) -> bytes:
        is_impossible = isinstance(target, Mapping) and target.get("impossible") is True
        normal = NORMALIZATIONS[str(options.get("normalization", "squad"))]
        references = [] if is_impossible else reference_texts(target)
        due = [each for each in map(normal, references) if each]
        if references and not due and options.get("normalization") == "none":
            raise ScoreError("its reference is an empty text; a question without an answer is `impossible`")
        answer = normal(answered_text(fields))
        due = due or [""]  # SQuAD 2.0: the right answer is none
        exact = max(float(each == answer) for each in due)
        overlap = max(f1(each, answer) for each in due)
        return pack(
            {"values": np.array([exact, overlap])}, impossible=bool(due == [""]), quality=round(min(1.0, overlap), 9)
        )

    def numbers(self, scores: Sequence[bytes], names: Sequence[str], weights: np.ndarray | None) -> dict[str, float]:
        found = {name: number_of(self._rows(scores, name), mean, weights) for name in names if self._is_known(name)}
        return {name: value for name, value in found.items() if np.isfinite(value)}

    def deviations(self, scores: Sequence[bytes], names: Sequence[str]) -> dict[str, float]:
        return {name: deviation_of(self._rows(scores, name), mean) for name in names if self._is_known(name)}

    def counts(self, scores: Sequence[bytes], names: Sequence[str]) -> dict[str, tuple[int, int]]:
        found = {name: counted(self._rows(scores, name)) for name in names if self._is_known(name)}
        return {name: each for name, each in found.items() if each is not None}

    def details(self, scores: Sequence[bytes]) -> dict[str, Any]:
        """Of questions that have an answer, and of those that have none, where there are both."""
        parts = {part: self._rows(scores, f"exact-match:{part}")[:, 1].sum() for part in PARTS}
        if not all(parts.values()):
            return {}
        rows = []
        for part, count in parts.items():
            numbers = self.numbers(scores, [f"{name}:{part}" for name in MEASURES], None)
            rows.append({"type": part, "due": int(count), **{name: numbers[f"{name}:{part}"] for name in MEASURES}})
        return {"per_type": rows}

    def _is_known(self, name: str) -> bool:
        base, _, part = name.partition(":")
        return base in self.measures and part in ("", *PARTS)

    def _rows(self, scores: Sequence[bytes], name: str) -> np.ndarray:
        """(value, 1) of each sample that counts."""
        base, _, part = name.partition(":")
        values, impossible = _table(tuple(scores))
        kept = np.ones(len(values)) if not part else (impossible == (part == "impossible")).astype(np.float64)
        return np.stack([values[:, self.measures.index(base)] * kept, kept], axis=1)


@lru_cache(maxsize=2)  # a bootstrap asks for the same scores again and again
def _table(scores: tuple[bytes, ...]) -> tuple[np.ndarray, np.ndarray]:
    parts = [unpack(each) for each in scores]
    return np.stack([arrays["values"] for arrays, _ in parts]), np.array([facts["impossible"] for _, facts in parts])


def squad(text: str) -> str:
    """Lower case, no punctuation, no articles, single spaces."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def untouched(text: str) -> str:
    return text


NORMALIZATIONS: Mapping[str, Callable[[str], str]] = {"squad": squad, "none": untouched}


def f1(due: str, answer: str) -> float:
    """Of the words that both have; without words, whether both have none."""
    first, second = due.split(), answer.split()
    if not first or not second:
        return float(first == second)
    same = sum((Counter(first) & Counter(second)).values())
    if not same:
        return 0.0
    precision, recall = same / len(second), same / len(first)
    return 2 * precision * recall / (precision + recall)
