"""Speech recognition: word and character error rate, the edits of all utterances by the words of all references."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from mlmodelscope.measure.normalization import Step, normalized
from mlmodelscope.measure.pack import pack, unpack
from mlmodelscope.measure.rule import Arrays, ScoreError, task_rule
from mlmodelscope.measure.sums import deviation_of, mean, number_of, ratio
from mlmodelscope.measure.texts import answered_text, reference_texts, usable_text

MEASURES = ("wer", "cer")
_COUNTS = ("substitutions", "deletions", "insertions", "words")
_SHOWN_WORDS = 1000
"""Of both texts, up to which the score says what became of every word."""
Difference = list[tuple[str, str, str]]


@task_rule("speech_recognition")
class SpeechRecognition:
    """A score holds substitutions, deletions, insertions and length of the reference, in words and in characters."""

    def score(self, arrays: Arrays, fields: Mapping[str, Any], target: Any, options: Mapping[str, Any]) -> bytes:
        for_both = options.get("normalization") or ()
        first = [*(options.get("reference_normalization") or ()), *for_both]
        second = [*(options.get("answer_normalization") or ()), *for_both]
        answer = _normal(answered_text(fields), second, "its answer")
        found = [_compared(_normal(each, first, "its reference"), answer) for each in reference_texts(target)]
        counts, difference = min(found, key=lambda each: _rate(each[0][0]))
        averaging = str(options.get("averaging", "pooled"))
        words = counts[0]
        if averaging == "utterances" and not words[3]:
            raise ScoreError("its reference has no words, so it has no error rate of its own")
        right = words[3] - words[0] - words[1]
        both = int(words[:3].sum() + right)
        shown = {name: float(_rate(each)) for name, each in zip(MEASURES, counts, strict=True) if each[3]}
        return pack(
            {"counts": counts},
            averaging=averaging,
            difference=difference,
            quality=round(float(right) / both, 9) if both else 1.0,
            shown=shown,
        )

    def numbers(self, scores: Sequence[bytes], names: Sequence[str], weights: np.ndarray | None) -> dict[str, float]:
        found = {name: number_of(*_rows(tuple(scores), name), weights) for name in names if name in MEASURES}
        return {name: value for name, value in found.items() if np.isfinite(value)}

    def deviations(self, scores: Sequence[bytes], names: Sequence[str]) -> dict[str, float]:
        return {name: deviation_of(*_rows(tuple(scores), name)) for name in names if name in MEASURES}

    def details(self, scores: Sequence[bytes]) -> dict[str, Any]:
        words, characters = _table(tuple(scores))[0].sum(axis=0).astype(int).tolist()
        return {
            "word_edits": dict(zip(_COUNTS, words, strict=True)),
            "character_edits": dict(zip((*_COUNTS[:3], "characters"), characters, strict=True)),
        }


def _normal(text: str, steps: Sequence[Step], whose: str) -> str:
    return usable_text(normalized(text, steps), f"{whose} after normalization")


def _rate(counts: np.ndarray) -> float:
    """Edits by the length of the reference; where that is nothing, the edits."""
    return float(counts[:3].sum() / max(1, counts[3]))


def _rows(scores: tuple[bytes, ...], name: str) -> tuple[np.ndarray, Any]:
    """What each sample adds, and the formula of the sums."""
    counts, is_pooled = _table(scores)
    own = counts[:, MEASURES.index(name)]
    edits, long = own[:, :3].sum(axis=1), own[:, 3]
    if is_pooled:
        return np.stack([edits, long], axis=1), mean
    return np.stack([ratio(edits, long), np.ones(len(own))], axis=1), mean


@lru_cache(maxsize=2)  # a bootstrap asks for the same scores again and again
def _table(scores: tuple[bytes, ...]) -> tuple[np.ndarray, bool]:
    parts = [unpack(each) for each in scores]
    counts = np.stack([arrays["counts"] for arrays, _ in parts]).astype(np.float64)
    return counts, parts[0][1]["averaging"] == "pooled"


def _compared(reference: str, answer: str) -> tuple[np.ndarray, Difference]:
    """(counts of words and of characters, what became of the words)."""
    first, second = reference.split(), answer.split()
    words, difference = _edits(first, second)
    characters, _ = _edits(reference.strip(), answer.strip())
    told = difference if len(first) + len(second) <= _SHOWN_WORDS else []
    spelled = [(change, " ".join(first[a:b]), " ".join(second[c:d])) for change, a, b, c, d in told]
    return np.array([[*words, len(first)], [*characters, len(reference.strip())]], np.int64), spelled


def _edits(first: Sequence[str], second: Sequence[str]) -> tuple[tuple[int, int, int], list[Any]]:
    """(substitutions, deletions, insertions) of the shortest way, and its pieces; memory grows with the length."""
    from rapidfuzz.distance import Levenshtein

    numbers: dict[str, int] = {}
    coded = [[numbers.setdefault(each, len(numbers)) for each in side] for side in (first, second)]
    found: list[Any] = [tuple(each) for each in Levenshtein.opcodes(*coded)]
    edits = [
        sum(max(b - a, d - c) for change, a, b, c, d in found if change == wanted)
        for wanted in ("replace", "delete", "insert")
    ]
    return (edits[0], edits[1], edits[2]), found
