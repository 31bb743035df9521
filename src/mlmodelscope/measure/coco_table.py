"""Scores of many samples, put together: COCO's averages of precision and recall over any of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from mlmodelscope.measure.coco_match import BITS, IOUS

RECALLS = np.linspace(0.0, 1.0, 101)
_CURVES = 100
"""Classes whose curve is kept."""
Weights = np.ndarray | None
"""How often each sample counts; once by default."""


class Table:
    """Answers of all samples by class, the best first, and how many there were to find."""

    def __init__(self, found: Sequence[np.ndarray], due: Sequence[np.ndarray]) -> None:
        together, sample = np.concatenate(found), np.repeat(np.arange(len(found)), list(map(len, found)))
        self.due = np.concatenate(due)
        self.due_sample = np.repeat(np.arange(len(due)), list(map(len, due)))
        self.classes = np.unique(self.due["class"])
        self._due_class = np.searchsorted(self.classes, self.due["class"])
        # Of equal scores the earlier sample comes first, and in it the earlier answer, as everywhere in COCO's code.
        known = np.isin(together["class"], self.classes)
        together, sample = together[known], sample[known]
        order = np.lexsort((-together["score"], together["class"]))
        self.found, self.sample = together[order], sample[order]
        self.kind = np.searchsorted(self.classes, self.found["class"])
        self.cuts = np.searchsorted(self.kind, np.arange(len(self.classes) + 1))
        self._weighted: tuple[Weights, np.ndarray] = (None, np.zeros(0))
        self.flags = lru_cache(maxsize=None)(self._flags)

    def _flags(self, area: int, iou: int) -> tuple[np.ndarray, np.ndarray]:
        """(rows that found something, whether each row counts)."""
        counts = (self.found["left_out"][:, area] & BITS[iou]) == 0
        right = np.flatnonzero(((self.found["hit"][:, area] & BITS[iou]) > 0) & counts)
        return right, counts

    def many(self, area: int, weights: Weights = None) -> np.ndarray:
        """How many of each class there were to find."""
        counts = self.due["count"][:, area].astype(np.float64)
        if weights is not None:
            counts *= weights[self.due_sample]
        return np.bincount(self._due_class, counts, len(self.classes))

    def counted(self, area: int, iou: int, weights: Weights = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(where each class begins, right ones so far, all so far) at each right answer, class behind class."""
        right, counts = self.flags(area, iou)
        if weights is None:
            so_far = np.cumsum(counts, dtype=np.int64).astype(np.float64)
            own = np.arange(1.0, len(right) + 1)
        else:
            each = self._weight_of_rows(weights)
            so_far = np.cumsum(np.where(counts, each, 0.0))
            own = np.cumsum(each[right])
        before = np.concatenate([[0.0], so_far])[self.cuts[:-1]]
        places = np.searchsorted(right, self.cuts)
        own_before = np.concatenate([[0.0], own])[places[:-1]]
        kind = self.kind[right]
        return places, own - own_before[kind], so_far[right] - before[kind]

    def _weight_of_rows(self, weights: np.ndarray) -> np.ndarray:
        """The last ones are kept: all numbers are asked of the same weights."""
        if self._weighted[0] is not weights:
            self._weighted = (weights, weights[self.sample])
        return self._weighted[1]

    def _best(self, places: np.ndarray, right: np.ndarray, seen: np.ndarray) -> np.ndarray:
        """At each right answer the best precision there or further down its class; it peaks nowhere in between."""
        found: np.ndarray = right / np.maximum(seen, np.spacing(1))
        for start, end in zip(places[:-1].tolist(), places[1:].tolist(), strict=True):
            if end - start > 1:
                found[start:end] = np.maximum.accumulate(found[start:end][::-1])[::-1]
        return found

    def averages(self, area: int, iou: int, weights: Weights = None) -> np.ndarray:
        """Mean precision at 101 recalls of each class that there is something of to find."""
        due = self.many(area, weights)
        places, right, seen = self.counted(area, iou, weights)
        kind = np.repeat(np.arange(len(due)), np.diff(places))
        with np.errstate(divide="ignore", invalid="ignore"):
            reached = np.searchsorted(RECALLS, right / due[kind], side="right")
        before = np.concatenate([[0], reached[:-1]]) if len(reached) else reached
        before[places[:-1][np.diff(places) > 0]] = 0
        sums = np.bincount(kind, self._best(places, right, seen) * (reached - before), len(due))
        found: np.ndarray = sums[due > 0] / len(RECALLS)
        return found

    def curves(self, area: int, iou: int, weights: Weights = None) -> tuple[np.ndarray, np.ndarray]:
        """(classes that there is something of to find, their precision at 101 recalls)."""
        due = self.many(area, weights)
        places, right, seen = self.counted(area, iou, weights)
        known = np.flatnonzero(due > 0)
        found = np.zeros((len(known), len(RECALLS)))
        best = self._best(places, right, seen)
        for row, kind in enumerate(known):
            start, end = places[kind], places[kind + 1]
            at = np.searchsorted(right[start:end] / due[kind], RECALLS)
            inside = at < end - start
            found[row, inside] = best[start:end][at[inside]]
        return known, found

    def precision(self, iou: int | None, area: int, weights: Weights = None) -> float | None:
        columns = range(len(IOUS)) if iou is None else (iou,)
        found = [self.averages(area, each, weights) for each in columns]
        return float(np.mean(found)) if found[0].size else None

    def recall(self, iou: int | None, area: int, most: int | None, weights: Weights = None) -> float | None:
        due = self.many(area, weights)
        known, found = due > 0, []
        for each in range(len(IOUS)) if iou is None else (iou,):
            right, _ = self.flags(area, each)
            if most is not None:
                right = right[self.found["rank"][right] < most]
            own = None if weights is None else self._weight_of_rows(weights)[right]
            found.append(np.bincount(self.kind[right], own, len(due))[known] / due[known])
        return float(np.mean(found)) if known.any() else None

    def per_class(self) -> list[dict[str, Any]]:
        due = self.many(0)
        found = np.zeros((len(IOUS), len(due)))
        for iou in range(len(IOUS)):
            found[iou, due > 0] = self.averages(0, iou)
        return [
            {
                "class": int(self.classes[kind]),
                "due": int(due[kind]),
                "ap": float(found[:, kind].mean()) if due[kind] > 0 else None,
                "ap50": float(found[0, kind]) if due[kind] > 0 else None,
            }
            for kind in range(len(due))
        ]

    def curve(self) -> list[dict[str, float]]:
        """Precision over recall at an overlap of one half, the mean of all classes."""
        _, curves = self.curves(0, 0)
        if not len(curves):
            return []
        mean = curves.mean(axis=0)
        return [
            {"recall": float(at), "precision": float(each)} for at, each in zip(RECALLS[::5], mean[::5], strict=True)
        ]

    def class_curves(self) -> list[dict[str, Any]]:
        """The same of each class, those that there is most of to find: precision at recalls of 0, 5, … 100 %."""
        known, curves = self.curves(0, 0)
        order = np.argsort(-self.many(0)[known], kind="mergesort")[:_CURVES]
        return [
            {"class": int(self.classes[known[row]]), "precision": [round(float(each), 4) for each in curves[row][::5]]}
            for row in order
        ]
