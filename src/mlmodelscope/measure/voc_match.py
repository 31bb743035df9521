"""VOC's rule: each box may find the one that it overlaps most, once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mlmodelscope.measure.coco_match import DUE, FOUND, quality_of
from mlmodelscope.measure.pack import pack
from mlmodelscope.measure.truth import Truth, boxes_of


def match_voc(arrays: Mapping[str, np.ndarray], truth: Truth, options: Mapping[str, Any]) -> bytes:
    """The score of one picture; `difficult` ones count neither way."""
    least, plus_one = float(options.get("iou", 0.5)), bool(options.get("plus_one", True))
    order = np.argsort(-arrays["scores"], kind="mergesort")
    boxes, scores, classes = (arrays[name][order] for name in ("boxes", "scores", "classes"))
    shared = boxes_of(boxes, truth.boxes, plus_one)
    due = np.zeros(len(np.unique(truth.classes)), DUE)
    for place, kind in enumerate(np.unique(truth.classes)):
        due[place] = (kind, ((truth.classes == kind) & ~truth.ignored).sum())
    found = np.zeros(len(scores), FOUND)
    found["score"], found["class"] = scores, classes
    taken = np.zeros(len(truth.boxes), bool)
    for row, kind in enumerate(classes):
        there = np.flatnonzero(truth.classes == kind)
        if not there.size:
            continue
        best = there[np.argmax(shared[row, there])]
        if shared[row, best] >= least:
            if truth.ignored[best]:
                found["left_out"][row] = 1
            elif not taken[best]:
                found["hit"][row], taken[best] = 1, True
    quality = quality_of(found, due, overlaps=1)
    arrays = {"voc.found": found, "voc.due": due[due["count"].any(axis=1)]}
    return pack(arrays, iou=least, points=options.get("points", "every"), quality=quality)
