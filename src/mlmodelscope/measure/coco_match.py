"""COCO's rule for which answer has found what, at ten overlaps and for four ranges of area at once.

Many pictures are matched together. An answer depends only on better ones of its class in its picture, so all the best
ones are matched at once, then all the second ones, and so on; only pairs that overlap enough take part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from mlmodelscope.measure.truth import Truth

IOUS = np.linspace(0.5, 0.95, 10)
_LEAST = np.minimum(IOUS, 1 - 1e-10)
AREAS = ((0.0, 1e10), (0.0, 32.0**2), (32.0**2, 96.0**2), (96.0**2, 1e10))
_LOW, _HIGH = np.array(AREAS).T
FOUND = np.dtype([("score", "<f8"), ("class", "<i4"), ("rank", "<i4"), ("hit", "<u2", (4,)), ("left_out", "<u2", (4,))])
DUE = np.dtype([("class", "<i4"), ("count", "<i4", (4,))])
BITS = (1 << np.arange(len(IOUS))).astype(np.uint16)


@dataclass(frozen=True)
class Picture:
    """What was answered about one picture, and what is true of it."""

    arrays: dict[str, np.ndarray]
    """`scores`, `classes` and whatever overlaps follow from, a row for each answer."""
    truth: Truth


@dataclass(frozen=True)
class Batch:
    """Answers and truths of some pictures in one row each, those of a class in a picture next to each other."""

    pictures: Sequence[Picture]
    most: int
    """Answers of a class in a picture that count, the best ones."""

    @cached_property
    def _answers(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(picture, place in it, rank among those of its class) of each answer that counts."""
        place = _places([len(each.arrays["scores"]) for each in self.pictures])
        picture = _owners([len(each.arrays["scores"]) for each in self.pictures])
        order = np.lexsort((-self._joined("scores"), self._joined("classes"), picture))
        picture, place, kind = picture[order], place[order], self._joined("classes")[order]
        rank = _ranks((picture[1:] != picture[:-1]) | (kind[1:] != kind[:-1]), len(order))
        kept = rank < self.most
        return picture[kept], place[kept], rank[kept]

    @cached_property
    def _truths(self) -> tuple[np.ndarray, np.ndarray]:
        """(picture, place in it) of each truth."""
        counts = [len(each.truth.classes) for each in self.pictures]
        picture = _owners(counts)
        order = np.lexsort((self._true("classes"), picture))
        return picture[order], _places(counts)[order]

    def _joined(self, name: str) -> np.ndarray:
        return np.concatenate([each.arrays[name] for each in self.pictures])

    def _true(self, name: str) -> np.ndarray:
        return np.concatenate([getattr(each.truth, name) for each in self.pictures])

    @property
    def answer_picture(self) -> np.ndarray:
        return self._answers[0]

    @property
    def answer_place(self) -> np.ndarray:
        return self._answers[1]

    @property
    def rank(self) -> np.ndarray:
        return self._answers[2]

    @property
    def truth_picture(self) -> np.ndarray:
        return self._truths[0]

    @property
    def truth_place(self) -> np.ndarray:
        return self._truths[1]

    def answered(self, name: str) -> np.ndarray:
        """One of the answers' arrays, all pictures together."""
        starts = np.cumsum([0, *(len(each.arrays["scores"]) for each in self.pictures)])
        found: np.ndarray = self._joined(name)[starts[self.answer_picture] + self.answer_place]
        return found

    def true(self, name: str) -> np.ndarray:
        """The same of the truths."""
        starts = np.cumsum([0, *(len(each.truth.classes) for each in self.pictures)])
        found: np.ndarray = self._true(name)[starts[self.truth_picture] + self.truth_place]
        return found

    def pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """(answer, truth) of each pair of the same class in the same picture."""
        truths, answers = self.true("classes").astype(np.int64), self.answered("classes").astype(np.int64)
        classes = np.unique(np.concatenate([truths, answers]))
        ours = self.answer_picture * len(classes) + np.searchsorted(classes, answers)
        theirs = self.truth_picture * len(classes) + np.searchsorted(classes, truths)
        first, last = np.searchsorted(theirs, ours), np.searchsorted(theirs, ours, side="right")
        return np.repeat(np.arange(len(ours)), last - first), _places(last - first) + np.repeat(first, last - first)


Overlap = Callable[[Batch, np.ndarray, np.ndarray], np.ndarray]
"""By how much each answer overlaps the truth it is paired with."""
Size = Callable[[Batch], np.ndarray]


def _owners(counts: Any) -> np.ndarray:
    return np.repeat(np.arange(len(counts)), counts)


def _places(counts: Any) -> np.ndarray:
    """0, 1, 2, … for each owner."""
    counts = np.asarray(counts, np.int64)
    found: np.ndarray = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return found


def _ranks(begins: np.ndarray, count: int) -> np.ndarray:
    """The place of each row among those since the last beginning."""
    if not count:
        return np.zeros(0, np.int64)
    starts = np.flatnonzero(np.concatenate([[True], begins]))
    return _places(np.diff(np.append(starts, count)))


def match(batch: Batch, overlap: Overlap, size: Size) -> list[tuple[np.ndarray, np.ndarray]]:
    """(answers with what they have found, how many there were to find) of each picture."""
    answers = len(batch.rank)
    truth_area, area = batch.true("area"), size(batch)
    ignored = (truth_area[:, None] < _LOW) | (truth_area[:, None] > _HIGH) | batch.true("ignored")[:, None]
    hit, left_out = np.zeros((answers, len(AREAS), len(IOUS)), bool), np.zeros((answers, len(AREAS), len(IOUS)), bool)
    ours, theirs = batch.pairs()
    shared = overlap(batch, ours, theirs)
    near = np.flatnonzero(shared >= _LEAST[0])  # most pairs are far from it
    if near.size:
        _match_pairs(batch, (ours[near], theirs[near], shared[near]), ignored, (hit, left_out))
    beyond = (area[:, None] < _LOW) | (area[:, None] > _HIGH)
    left_out |= ~hit & beyond[:, :, None]
    found = np.zeros(answers, FOUND)
    found["score"], found["class"], found["rank"] = batch.answered("scores"), batch.answered("classes"), batch.rank
    found["hit"], found["left_out"] = _as_bits(hit), _as_bits(left_out)
    due, due_picture = _due(batch, ignored)
    count = np.arange(len(batch.pictures) + 1)
    cuts, due_cuts = np.searchsorted(batch.answer_picture, count), np.searchsorted(due_picture, count)
    return [(found[cuts[at] : cuts[at + 1]], due[due_cuts[at] : due_cuts[at + 1]]) for at in range(len(batch.pictures))]


def _as_bits(flags: np.ndarray) -> np.ndarray:
    packed: np.ndarray = flags @ BITS.astype(np.int64)
    return packed.astype(np.uint16)


def _due(batch: Batch, ignored: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(how many of each class there are to find, the picture of each row)."""
    picture, kind = batch.truth_picture, batch.true("classes")
    if not len(picture):
        return np.zeros(0, DUE), picture
    starts = np.flatnonzero(np.concatenate([[True], (picture[1:] != picture[:-1]) | (kind[1:] != kind[:-1])]))
    due = np.zeros(len(starts), DUE)
    due["class"], due["count"] = kind[starts], np.add.reduceat((~ignored).astype(np.int32), starts, axis=0)
    kept = due["count"].any(axis=1)
    return due[kept], picture[starts][kept]


def _match_pairs(
    batch: Batch,
    pairs: tuple[np.ndarray, np.ndarray, np.ndarray],
    ignored: np.ndarray,
    found: tuple[np.ndarray, np.ndarray],
) -> None:
    """Fill `found`: whether each answer has found something, whether that counts neither way."""
    ours, theirs, shared = pairs
    first = np.flatnonzero(np.concatenate([[True], ours[1:] != ours[:-1]]))
    taking_part = ours[first]
    picture, kind = batch.answer_picture[taking_part], batch.answered("classes")[taking_part]
    turn = np.repeat(
        _ranks((picture[1:] != picture[:-1]) | (kind[1:] != kind[:-1]), len(first)),
        np.diff(np.append(first, len(ours))),
    )
    # The best pair of an answer comes last; of equal overlaps that is the last truth, as in COCO's own code.
    order = np.lexsort((theirs, shared, ours, turn))
    ours, theirs, shared, turn = ours[order], theirs[order], shared[order], turn[order]
    near = shared[:, None] >= _LEAST
    counts, again, free = ~ignored, batch.true("crowd"), np.ones((len(ignored), len(AREAS), len(IOUS)), bool)
    cuts = np.searchsorted(turn, np.arange(turn[-1] + 2))
    for start, end in zip(cuts[:-1], cuts[1:], strict=True):
        answer, truth = ours[start:end], theirs[start:end]
        heads = np.flatnonzero(np.concatenate([[True], answer[1:] != answer[:-1]]))
        open_ones = near[start:end, None, :] & free[truth]
        regular = open_ones & counts[truth][:, :, None]
        any_regular = np.repeat(
            np.logical_or.reduceat(regular, heads, axis=0), np.diff(np.append(heads, end - start)), axis=0
        )
        chosen = np.where(any_regular, regular, open_ones)
        best = np.maximum.reduceat(np.where(chosen, np.arange(end - start)[:, None, None], -1), heads, axis=0)
        row, area, iou = np.nonzero(best >= 0)
        taken = truth[best[row, area, iou]]
        who = answer[heads][row]
        found[0][who, area, iou] = True
        found[1][who, area, iou] = ignored[taken, area]
        gone = ~again[taken]
        free[taken[gone], area[gone], iou[gone]] = False


def quality_of(found: np.ndarray, due: np.ndarray, overlaps: int = len(IOUS)) -> float:
    """How good the boxes of one picture are: the F-measure with boxes weighted by their scores, mean over overlaps."""
    bits = BITS[:overlaps]
    left_out = (found["left_out"][:, 0, None] & bits) > 0
    weights = np.clip(found["score"], 0, 1)[:, None] * ~left_out
    hits = (weights * ((found["hit"][:, 0, None] & bits) > 0)).sum(axis=0)
    both = weights.sum(axis=0) + due["count"][:, 0].sum()
    return round(float(np.mean(np.where(both > 0, 2 * hits / np.maximum(both, 1e-12), 1.0))), 9)
