"""Masks as COCO has them: polygons and run lengths, drawn and compared by faster-coco-eval as by pycocotools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mlmodelscope.measure.rule import ScoreError

Mask = Mapping[str, Any]
"""`size` (height, width) and `counts`, COCO's compressed run lengths."""


def library() -> Any:
    """Imported when masks are compared first: boxes do without."""
    from faster_coco_eval.core import mask

    return mask


def true_masks(target: Mapping[str, Any]) -> np.ndarray:
    """The masks of a target: each some polygons, or compressed run lengths."""
    masks = target.get("masks", ())
    if len(masks) != len(target["boxes"]) or (masks and "size" not in target):
        raise ScoreError("it has no masks to compare with")
    height, width = target.get("size", (0, 0))
    return _row([_drawn(each, height, width) for each in masks])


def _drawn(mask: Any, height: int, width: int) -> Mask:
    if isinstance(mask, str):
        return {"size": [height, width], "counts": mask.encode("ascii")}
    found: Mask = library().merge(library().frPyObjects(mask, height, width))
    return found


def answered_masks(runs: np.ndarray, lengths: np.ndarray, size: Sequence[int]) -> np.ndarray:
    """Masks as they travel: compressed run lengths, one behind the other."""
    if lengths.sum() != len(runs) or (lengths < 0).any():
        raise ScoreError("the answer's masks are damaged")
    ends = np.cumsum(lengths)
    content = runs.tobytes()
    return _row(
        [
            {"size": list(size), "counts": content[end - length : end]}
            for end, length in zip(ends.tolist(), lengths.tolist(), strict=True)
        ]
    )


def _row(masks: Sequence[Mask]) -> np.ndarray:
    found = np.empty(len(masks), object)
    found[:] = masks
    return found


def areas(masks: np.ndarray) -> np.ndarray:
    """In pixels."""
    return np.asarray(library().area(list(masks)), np.float64) if len(masks) else np.zeros(0)


def overlaps(ours: np.ndarray, theirs: np.ndarray, crowd: np.ndarray) -> np.ndarray:
    """Intersection over union of all with all; over the own area where the other is a crowd."""
    found = library().iou(list(ours), list(theirs), [int(each) for each in crowd])
    return np.asarray(found, np.float64).reshape(len(ours), len(theirs))
