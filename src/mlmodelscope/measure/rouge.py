"""ROUGE-1, ROUGE-2 and ROUGE-L of one text, as Google's rouge-score counts them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from mlmodelscope.measure.porter import stem

MEASURES = ("rouge-1", "rouge-2", "rouge-l")
_OTHERS = re.compile(r"[^a-z0-9]+")


def rouge(references: Sequence[str], answer: str, stemming: bool = False) -> list[float]:
    """F-measures in the order of `MEASURES`, each by the reference that it is best with."""
    words = _words(answer, stemming)
    found = [_measured(_words(each, stemming), words) for each in references]
    return [max(values) for values in zip(*found, strict=True)]


def _words(text: str, stemming: bool) -> list[str]:
    """Letters and digits of English; whatever else there is parts words. Words of up to three letters are stems."""
    found = _OTHERS.sub(" ", text.lower()).split()
    return [stem(each) if len(each) > 3 else each for each in found] if stemming else found


def _measured(due: Sequence[str], told: Sequence[str]) -> list[float]:
    found = []
    for size in (1, 2):
        first, second = _grams(due, size), _grams(told, size)
        shared = sum(min(count, second[gram]) for gram, count in first.items() if gram in second)
        found.append(_f1(shared, sum(second.values()), sum(first.values())))
    return [*found, _f1(_longest(due, told), len(told), len(due))]


def _grams(words: Sequence[str], size: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[at : at + size]) for at in range(len(words) - size + 1))


def _longest(first: Sequence[str], second: Sequence[str]) -> int:
    """Words of the longest common subsequence."""
    from rapidfuzz.distance import LCSseq

    numbers: dict[str, int] = {}
    coded = [[numbers.setdefault(each, len(numbers)) for each in side] for side in (first, second)]
    return int(LCSseq.similarity(*coded))


def _f1(shared: int, told: int, due: int) -> float:
    precision, recall = shared / max(told, 1), shared / max(due, 1)
    return 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0
