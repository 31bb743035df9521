"""Keypoints: COCO's numbers by object keypoint similarity (OKS).

How near a point must be depends on its kind (a hip is vaguer than an eye, `sigmas`) and on the size of the thing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from mlmodelscope.measure.coco_match import Batch, Picture
from mlmodelscope.measure.coco_sums import names_of
from mlmodelscope.measure.detection import Detection, Part, box_size
from mlmodelscope.measure.rule import Arrays, ScoreError, task_rule

MEASURES = tuple(names_of("oks"))
# Of COCO's 17 points of a person, nose to ankles.
_SIDES = (0.025, 0.035, 0.079, 0.072, 0.062, 0.107, 0.087, 0.089)
SIGMAS = (0.026, *(each for sigma in _SIDES for each in (sigma, sigma)))


def similarity(batch: Batch, ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """OKS of each pair. Where no point is annotated, points count from twice the box around the thing."""
    if not len(ours):
        return np.zeros(0)
    answered, true = batch.answered("points")[ours], batch.true("points")[theirs]
    boxes, area = batch.true("boxes")[theirs], batch.true("area")[theirs]
    seen = true[:, :, 2] > 0
    away = answered[:, :, :2] - true[:, :, :2]
    size = boxes[:, 2:] - boxes[:, :2]
    low, high = boxes[:, None, :2] - size[:, None], boxes[:, None, :2] + 2 * size[:, None]
    outside = np.maximum(0, low - answered[:, :, :2]) + np.maximum(0, answered[:, :, :2] - high)
    is_blank = ~seen.any(axis=1)
    away = np.where(is_blank[:, None, None], outside, away)
    spread = (batch.answered("sigmas")[ours] * 2) ** 2
    near = np.exp(-(away**2).sum(axis=2) / spread / (area[:, None] + np.spacing(1)) / 2)
    counts = seen | is_blank[:, None]
    found: np.ndarray = (near * counts).sum(axis=1) / counts.sum(axis=1)
    return found


@task_rule("keypoint_detection")
class Keypoints(Detection):
    parts = (Part("oks", similarity, box_size, most=20),)
    needs = (*Detection.needs, "keypoints")

    def prepared(self, arrays: Arrays, fields: Mapping[str, Any], target: Any, options: Mapping[str, Any]) -> Picture:
        picture = Detection.prepared(self, arrays, fields, target, options)
        sigmas = np.asarray(options.get("sigmas") or SIGMAS, np.float64)
        points = _true_points(picture.truth.more, len(sigmas))
        answered = arrays["keypoints"]
        count = len(arrays["scores"])
        if answered.shape[:1] != (count,) or answered.shape[1:] != (len(sigmas), 3):
            raise ScoreError(
                f"the answer has {answered.shape[1] if answered.ndim > 1 else 0} keypoints for each thing; "
                f"there are {len(sigmas)} sigmas"
            )
        blank = ~(points[:, :, 2] > 0).any(axis=1)
        truth = replace(picture.truth, points=points, ignored=picture.truth.ignored | blank)
        rows = np.broadcast_to(sigmas, (count, len(sigmas)))
        return Picture({**arrays, "points": answered, "sigmas": rows}, truth)


def _true_points(target: Mapping[str, Any], kinds: int) -> np.ndarray:
    points = target.get("keypoints", ())
    if len(points) != len(target["boxes"]):
        raise ScoreError("it has no keypoints to compare with")
    counts = {len(each) for each in points} - {3 * kinds}
    if counts:
        raise ScoreError(f"a thing has {counts.pop() / 3:g} keypoints; there are {kinds} sigmas")
    found = np.asarray(points, np.float64).reshape(-1, kinds, 3)
    if not np.isfinite(found).all():
        raise ScoreError("a keypoint of its truth is not a number")
    return found


RULE = Keypoints()
