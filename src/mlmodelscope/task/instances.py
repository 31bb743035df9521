"""Instance segmentation: which things there are in a picture, and which pixels belong to each.

The truth is boxes with classes and masks; an answer is such boxes with scores, its masks as COCO's compressed run
lengths. Numbers of the masks come first; those of the boxes of the same answers stand beside them.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from mlmodelscope.task.array_answer import ArrayAnswer
from mlmodelscope.task.detection import (
    COLUMNS,
    OPTIONS,
    SIZES,
    box_answer,
    box_shapes,
    box_steps,
    box_values,
    boxes_with,
    sentence_of,
)
from mlmodelscope.task.mask import mask_png, plane_of
from mlmodelscope.task.measure import MEASURES
from mlmodelscope.task.ruled import RuledMeasure, RuledTally
from mlmodelscope.task.shape import COLORS, BoxShape, MaskShape, Named, Shape
from mlmodelscope.task.task import TASKS, Column, Task
from mlmodelscope_worker.registry import add

NAME = "instance_segmentation"


def _values(target: Any, answer: ArrayAnswer | None, score: bytes | None) -> dict[str, Any]:
    found = box_values(target, answer, score)
    if answer is not None:
        found |= {"runs": answer.arrays["runs"].content, "lengths": answer.arrays["lengths"].tolist()}
        found["size"] = list(answer.fields["size"])
    return found


def _answer(row: Mapping[str, Any]) -> Any:
    """Boxes, each with its mask as COCO's JSON has it."""
    found = box_answer(row)
    if found is None or row.get("runs") is None:
        return found
    start = 0
    for each, length in zip(found, row["lengths"], strict=True):
        counts = row["runs"][start : start + length].decode("ascii")
        each["mask"] = {"size": list(row["size"]), "counts": counts}
        start += length
    return found


def _shapes(row: Mapping[str, Any], target: Any, named: Named) -> list[Shape]:
    """True things by their outlines, answered ones by their pixels, the best first. A mask that cannot be drawn leaves
    the box."""
    truth = target if target is not None else json.loads(row.get("target") or "{}")
    size = truth.get("size") or row.get("size")
    answers = [{**each, "masks": (each.get("mask") or {}).get("counts")} for each in _answer(row) or ()]
    return [
        box if mask is None or size is None else _masked(box, number, mask, size)
        for box, number, mask in boxes_with(row, truth, named, "masks", answers)
    ]


def _masked(box: BoxShape, number: int, mask: Any, size: Sequence[int]) -> Shape:
    height, width = size
    color = COLORS[number % len(COLORS)]
    try:
        plane = plane_of(mask, height, width)
    except (ValueError, TypeError):
        return box
    png = b64encode(mask_png(plane, width, height, color, is_filled=box.side == "answer")).decode("ascii")
    corners = (box.left, box.top, box.right, box.bottom)
    legend = ((box.name, color),)
    return MaskShape(box.side, png, legend, box.score, (), corners, plane.count(1), box.remark)


def _glance(row: Mapping[str, Any], named: Named) -> list[BoxShape]:
    return box_shapes(row, None, named)


def _steps(roles: Sequence[str]) -> list[dict[str, Any]]:
    return [*box_steps(roles), {"paste_masks": {}}] if "boxes" in roles or "columns" in roles else []


task = Task(
    NAME,
    "Instance segmentation",
    partial(RuledTally, NAME, packages=("faster_coco_eval",)),
    headline=("mask-ap", "mask-ap50", "ap"),
    is_ruled=True,
    options={name: OPTIONS[name] for name in ("max_detections", "crowd", "area")},
    roles=(("boxes", "scores", "masks"), ("boxes", "probability", "masks"), ("tensor", "prototypes")),
    steps=_steps,
    truth=("masks",),
    columns=(
        *COLUMNS[:-1],
        Column("runs", "binary"),
        Column("lengths", "list<int32>"),
        Column("size", "list<int32>"),
        COLUMNS[-1],
    ),
    values=_values,
    plain=_answer,
    shapes=_shapes,
    glance=_glance,
    quality="Quality is the F-measure of a picture's masks, each weighted by its score, the mean of all overlaps.",
    sentence=sentence_of("mask-ap"),
)
add(TASKS.things, NAME, task, TASKS.code)

_MEASURES = {
    "mask-ap": (
        "mask AP",
        "Average precision of masks: mean over classes and ten overlaps from 0.50 to 0.95.",
        ("segm-ap", "mask-map", "segm-map", "ap-mask"),
    ),
    "mask-ap50": ("mask AP50", "Average precision of masks at an overlap of 0.50.", ("segm-ap50", "mask-map50")),
    "mask-ap75": ("mask AP75", "Average precision of masks at an overlap of 0.75.", ("segm-ap75", "mask-map75")),
    **{
        f"mask-ap-{size}": (f"mask AP {size}", f"Average precision of masks of things of {words}.", ())
        for size, words in SIZES.items()
    },
    "mask-ar1": ("mask AR1", "Average recall with one mask for each class and picture.", ()),
    "mask-ar10": ("mask AR10", "Average recall with ten masks for each class and picture.", ()),
    "mask-ar100": ("mask AR100", "Average recall with a hundred masks for each class and picture.", ()),
    **{
        f"mask-ar-{size}": (f"mask AR {size}", f"Average recall of masks of things of {words}.", ())
        for size, words in SIZES.items()
    },
}
for _name, (_title, _about, _aliases) in _MEASURES.items():
    _measure = RuledMeasure(_name, _title, (NAME,), aliases=_aliases, about=_about, is_stable=False)
    add(MEASURES.things, _name, _measure, MEASURES.code)
