"""What is true of a picture, as arrays: boxes with their classes, areas, crowds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mlmodelscope.measure.rule import ScoreError


@dataclass(frozen=True)
class Truth:
    boxes: np.ndarray
    """[left, top, right, bottom] each."""
    classes: np.ndarray
    area: np.ndarray
    crowd: np.ndarray
    """Whether it is a region with many, in which boxes may find something again and again."""
    ignored: np.ndarray
    """Whether it counts neither way: crowds, and what an author calls difficult."""
    more: Mapping[str, Any]
    """What else the target holds, as it came: masks, keypoints."""
    masks: np.ndarray = field(default_factory=lambda: np.zeros(0, object))
    points: np.ndarray = field(default_factory=lambda: np.zeros((0, 0, 3)))
    """x, y and whether it is annotated, of each point of each thing."""

    @classmethod
    def of(cls, target: Any, options: Mapping[str, Any]) -> Truth:
        """From a target as a dataset has it."""
        if not isinstance(target, dict) or "boxes" not in target:
            raise ScoreError("it has no boxes to compare with")
        boxes = np.asarray(target["boxes"], np.float64).reshape(-1, 4)
        count = len(boxes)
        sizes = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
        area = np.asarray(target["areas"], np.float64) if target.get("areas") is not None else sizes
        if options.get("area") == "box":
            area = sizes
        crowd = np.asarray(target.get("crowd") or [False] * count, bool)
        if options.get("crowd") == "count":
            crowd = np.zeros(count, bool)
        difficult = np.asarray(target.get("difficult") or [False] * count, bool)
        if options.get("difficult") == "count":
            difficult = np.zeros_like(difficult)
        found = cls(boxes, np.asarray(target["classes"], np.int64), area, crowd, crowd | difficult, target)
        if not len(found.classes) == len(area) == len(crowd) == len(difficult) == count:
            raise ScoreError(f"its truth has {count} boxes and {len(found.classes)} classes")
        if not (np.isfinite(boxes).all() and np.isfinite(area).all()):
            raise ScoreError("a box of its truth is not a number")
        return found.only(~crowd) if options.get("crowd") == "drop" else found

    def only(self, kept: np.ndarray) -> Truth:
        """Some of it."""
        more: dict[str, Any] = {
            name: [each for each, is_kept in zip(self.more[name], kept, strict=True) if is_kept]
            for name in ("masks", "keypoints")
            if name in self.more
        }
        more["boxes"] = self.boxes[kept]
        return Truth(
            self.boxes[kept],
            self.classes[kept],
            self.area[kept],
            self.crowd[kept],
            self.ignored[kept],
            {**self.more, **more},
        )


def paired_boxes(boxes: np.ndarray, others: np.ndarray, crowd: np.ndarray) -> np.ndarray:
    """Intersection over union of each box with the other beside it; over its own area where that is a crowd."""
    wide = np.minimum(boxes[:, 2], others[:, 2]) - np.maximum(boxes[:, 0], others[:, 0])
    high = np.minimum(boxes[:, 3], others[:, 3]) - np.maximum(boxes[:, 1], others[:, 1])
    shared = np.maximum(wide, 0) * np.maximum(high, 0)
    own = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    theirs = (others[:, 2] - others[:, 0]) * (others[:, 3] - others[:, 1])
    union = np.where(crowd, own, own + theirs - shared)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(union > 0, shared / union, 0.0)


def boxes_of(boxes: np.ndarray, others: np.ndarray, plus_one: bool = False) -> np.ndarray:
    """Intersection over union of all boxes with all others."""
    if not len(boxes) or not len(others):
        return np.zeros((len(boxes), len(others)))
    more = 1.0 if plus_one else 0.0
    wide = np.minimum(boxes[:, None, 2], others[None, :, 2]) - np.maximum(boxes[:, None, 0], others[None, :, 0]) + more
    high = np.minimum(boxes[:, None, 3], others[None, :, 3]) - np.maximum(boxes[:, None, 1], others[None, :, 1]) + more
    shared = np.maximum(wide, 0) * np.maximum(high, 0)
    own = (boxes[:, 2] - boxes[:, 0] + more) * (boxes[:, 3] - boxes[:, 1] + more)
    theirs = (others[:, 2] - others[:, 0] + more) * (others[:, 3] - others[:, 1] + more)
    union = own[:, None] + theirs[None, :] - shared
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(union > 0, shared / union, 0.0)
