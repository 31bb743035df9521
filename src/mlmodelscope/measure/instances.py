"""Instance segmentation: COCO's numbers of the masks, and those of the boxes of the same answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from mlmodelscope.measure.coco_match import Batch, Picture
from mlmodelscope.measure.coco_sums import names_of
from mlmodelscope.measure.detection import Detection, Part, box_overlap, box_size
from mlmodelscope.measure.masks import answered_masks, areas, overlaps, true_masks
from mlmodelscope.measure.rule import Arrays, ScoreError, task_rule

MEASURES = (*names_of("mask"), *names_of("box"))


def mask_overlap(batch: Batch, ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    found = np.zeros(len(ours))
    if not len(ours):
        return found
    answers, truths, crowd = batch.answered("masks"), batch.true("masks"), batch.true("crowd")
    # Pairs come answer by answer; all answers of a class in a picture are paired with the same truths.
    heads = np.flatnonzero(np.concatenate([[True], ours[1:] != ours[:-1]]))
    groups = heads[np.concatenate([[True], theirs[heads][1:] != theirs[heads][:-1]])]
    for start, end in zip(groups, [*groups[1:], len(ours)], strict=True):
        rows = np.arange(ours[start], ours[end - 1] + 1)
        there = np.arange(theirs[start], theirs[end - 1] + 1)
        found[start:end] = overlaps(answers[rows], truths[there], crowd[there]).ravel()
    return found


def mask_size(batch: Batch) -> np.ndarray:
    return areas(batch.answered("masks"))


@task_rule("instance_segmentation")
class Instances(Detection):
    parts = (Part("mask", mask_overlap, mask_size), Part("box", box_overlap, box_size))
    needs = (*Detection.needs, "runs", "lengths")

    def prepared(self, arrays: Arrays, fields: Mapping[str, Any], target: Any, options: Mapping[str, Any]) -> Picture:
        picture = Detection.prepared(self, arrays, fields, target, options)
        plain = {name: arrays[name] for name in Detection.needs}
        size, own = list(fields["size"]), list(picture.truth.more.get("size", ()))
        if own and size != own:
            raise ScoreError(f"the picture has {size[1]} x {size[0]} pixels, its masks are true of {own[1]} x {own[0]}")
        masks = answered_masks(arrays["runs"], arrays["lengths"], size)
        if len(masks) != len(plain["scores"]):
            raise ScoreError(f"there are {len(plain['scores'])} scores and {len(masks)} masks")
        truth = replace(picture.truth, masks=true_masks(picture.truth.more))
        return Picture({**plain, "masks": masks}, truth)


RULE = Instances()
