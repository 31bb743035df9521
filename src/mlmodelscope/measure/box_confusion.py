"""Which classes a detector takes for which: boxes that lie where something is, under another name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mlmodelscope.measure.coco_match import Picture
from mlmodelscope.measure.truth import boxes_of

_SURE = 0.3
"""Least score of a box that counts: detectors give many that nobody would show."""
_NEAR = 0.5
_MOST = 100


def confused(picture: Picture) -> list[list[int]]:
    """[what it is, what was answered, how often] in one picture.

    Every sure box, the best first, takes the nearest thing that is free, one of its own class where there is one.
    """
    truth, scores = picture.truth, np.asarray(picture.arrays["scores"], np.float64)
    order = np.argsort(-scores, kind="mergesort")
    order = order[scores[order] >= _SURE]
    if not len(order) or not len(truth.classes):
        return []
    classes = np.asarray(picture.arrays["classes"])[order]
    shared = boxes_of(np.asarray(picture.arrays["boxes"], np.float64)[order], truth.boxes)
    free, found = ~truth.ignored, Counter[tuple[int, int]]()
    for row, kind in enumerate(classes):
        near = np.flatnonzero(free & (shared[row] >= _NEAR))
        if not near.size:
            continue
        own = near[truth.classes[near] == kind]
        best = max(own if own.size else near, key=lambda at: shared[row, at])
        free[best] = False
        if truth.classes[best] != kind:
            found[int(truth.classes[best]), int(kind)] += 1
    return [[label, answer, count] for (label, answer), count in sorted(found.items())]


def summed(facts: Sequence[Mapping[str, Any]]) -> list[dict[str, int]]:
    """Of all pictures, the most frequent pairs first."""
    found = Counter[tuple[int, int]]()
    for each in facts:
        for label, answer, count in each.get("confused", ()):
            found[label, answer] += count
    ranked = sorted(found.items(), key=lambda item: (-item[1], item[0]))[:_MOST]
    return [{"label": label, "answer": answer, "count": count} for (label, answer), count in ranked]
