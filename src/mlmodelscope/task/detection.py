"""Object detection: which things there are in a picture, and where.

The truth is boxes with classes, in pixels of the original picture; an answer is such boxes with scores. Which of them
found what is decided by COCO's rule or by VOC's (`measure: {rule: voc}`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from mlmodelscope.task.array_answer import Array, ArrayAnswer
from mlmodelscope.task.measure import MEASURES
from mlmodelscope.task.ruled import RuledMeasure, RuledTally
from mlmodelscope.task.shape import BoxShape, Named
from mlmodelscope.task.task import TASKS, Column, Number, Option, Task
from mlmodelscope_worker.parameters import Choice, Flag, Integer
from mlmodelscope_worker.parameters import Number as NumberKind
from mlmodelscope_worker.registry import add

NAME = "object_detection"
OPTIONS = {
    "rule": Option(Choice("Whose rule decides which box has found what.", "coco", "voc"), "coco"),
    "max_detections": Option(Integer("Boxes of a class that count in a picture, the best ones.", at_least=1), 100),
    "crowd": Option(
        Choice("Regions with many things: ignored, counted as one, dropped.", "ignore", "count", "drop"), "ignore"
    ),
    "area": Option(
        Choice("The size of a thing: as annotated (its mask's), or its box's.", "annotated", "box"), "annotated"
    ),
    "iou": Option(NumberKind("VOC: overlap at which a box has found something.", above=0, at_most=1), 0.5),
    "points": Option(
        Choice(
            "VOC: what `voc-ap` sums up of the curve: all of it (2010 and later), or eleven recalls (2007).",
            "every",
            "eleven",
        ),
        "every",
    ),
    "difficult": Option(
        Choice("Things that are annotated as difficult: ignored, or counted like others.", "ignore", "count"), "ignore"
    ),
    "plus_one": Option(Flag("VOC: whether a box from pixel 3 to pixel 5 is 3 pixels wide."), True),
}
COLUMNS = (
    Column("target", "string"),
    Column("classes", "list<int32>"),
    Column("scores", "list<float64>"),
    Column("boxes", "list<float64>"),
    Column("score", "binary"),
)


def box_values(target: Any, answer: ArrayAnswer | None, score: bytes | None) -> dict[str, Any]:
    found: dict[str, Any] = {"target": json.dumps(target, sort_keys=True) if target is not None else None}
    if answer is not None:
        found |= {name: answer.arrays[name].tolist() for name in ("classes", "scores", "boxes")}
    return {**found, "score": score}


def box_answer(row: Mapping[str, Any]) -> Any:
    """Boxes of a row as a program reads them."""
    if row.get("boxes") is None:
        return None
    corners = [row["boxes"][at : at + 4] for at in range(0, len(row["boxes"]), 4)]
    return [
        {"box": box, "class": number, "score": score}
        for box, number, score in zip(corners, row["classes"], row["scores"], strict=True)
    ]


def box_shapes(row: Mapping[str, Any], target: Any, named: Named) -> list[BoxShape]:
    """Boxes of the truth, then those of the answer, the best first."""
    truth = target if target is not None else json.loads(row.get("target") or "{}")
    found = []
    for place, (box, number) in enumerate(zip(truth.get("boxes", ()), truth.get("classes", ()), strict=True)):
        remarks = [word for word in ("crowd", "difficult") if truth.get(word) and truth[word][place]]
        found.append(BoxShape("truth", *_corners(box), name=named(number), remark=", ".join(remarks)))
    answers = sorted(box_answer(row) or (), key=lambda each: -each["score"])
    return found + [
        BoxShape("answer", *_corners(each["box"]), name=named(each["class"]), score=each["score"]) for each in answers
    ]


def boxes_with(
    row: Mapping[str, Any], truth: Mapping[str, Any], named: Named, part: str, answers: Any
) -> list[tuple[BoxShape, int, Any]]:
    """(box, class, what else there is of the thing) of the truth, then of the answers, the best first."""
    boxes = box_shapes(row, truth, named)
    true = list(zip(truth.get("classes", ()), truth.get(part, ()), strict=False))
    said = [(each["class"], each.get(part)) for each in sorted(answers or (), key=lambda each: -each["score"])]
    things = [*(true or [(0, None)] * (len(boxes) - len(said))), *said]
    return [(box, number, more) for box, (number, more) in zip(boxes, things, strict=True)]


def _corners(box: Sequence[float]) -> tuple[float, float, float, float]:
    left, top, right, bottom = box
    return left, top, right, bottom


def box_steps(roles: Sequence[str]) -> list[dict[str, Any]]:
    """Boxes, classes and scores as TensorFlow's detectors give them are shares with y first; Caffe's are shares.

    A function of a manifest gives boxes as the original system's pages drew them: shares of the picture, y first.
    """
    if "columns" in roles:
        return [{"boxes": {"order": "yxyx", "unit": "share", "of": "original"}}]
    if "detections" in roles:
        return [{"boxes": {"order": "xyxy", "unit": "share"}}]
    if "boxes" in roles:
        return [{"boxes": {"order": "yxyx", "unit": "share"}}]
    return []


def sentence_of(*names: str) -> Callable[[int, Mapping[str, Number]], str]:
    """The first of these numbers, in words."""

    def sentence(samples: int, numbers: Mapping[str, Number]) -> str:
        shown = next((name for name in names if name in numbers), None)
        if shown is None:
            return ""
        value, title = numbers[shown].value, MEASURES[shown].title
        return f"{title} {100 * value:.1f} % on {samples:,} sample{'' if samples == 1 else 's'}"

    return sentence


QUALITY = "Quality is the F-measure of a picture's boxes, each weighted by its score, the mean of all overlaps."
NO_BOXES = ArrayAnswer(
    {"boxes": Array("<f8", (0, 4), b""), "scores": Array("<f8", (0,), b""), "classes": Array("<i4", (0,), b"")}
)
ROLES = (("boxes", "scores"), ("boxes", "probability"), ("detections",), ("tensor",))
task = Task(
    NAME,
    "Object detection",
    partial(RuledTally, NAME),
    headline=("ap", "ap50", "voc-ap"),
    options=OPTIONS,
    is_ruled=True,
    nothing=NO_BOXES,
    roles=ROLES,
    steps=box_steps,
    columns=COLUMNS,
    values=box_values,
    plain=box_answer,
    shapes=box_shapes,
    quality=QUALITY,
    sentence=sentence_of("ap", "voc-ap"),
)
add(TASKS.things, NAME, task, TASKS.code)

SIZES = {"small": "up to 32 x 32 pixels", "medium": "32 x 32 to 96 x 96 pixels", "large": "beyond 96 x 96 pixels"}
_MEASURES = {
    "ap": (
        "AP",
        "Average precision: mean over classes and ten overlaps from 0.50 to 0.95.",
        ("map", "coco-ap", "mean-ap"),
    ),
    "ap50": ("AP50", "Average precision at an overlap of 0.50.", ("map50", "ap-50", "map@0.5", "map-50")),
    "ap75": ("AP75", "Average precision at an overlap of 0.75.", ("map75", "ap-75", "map@0.75")),
    **{f"ap-{size}": (f"AP {size}", f"Average precision of things of {words}.", ()) for size, words in SIZES.items()},
    "ar1": ("AR1", "Average recall with one box for each class and picture.", ()),
    "ar10": ("AR10", "Average recall with ten boxes for each class and picture.", ()),
    "ar100": ("AR100", "Average recall with a hundred boxes for each class and picture.", ()),
    **{f"ar-{size}": (f"AR {size}", f"Average recall of things of {words}.", ()) for size, words in SIZES.items()},
    "voc-ap": ("VOC AP", "Average precision by VOC's rule, area under the curve (2010 and later).", ("voc-map",)),
    "voc-ap11": ("VOC AP, 11 points", "Average precision by VOC's rule at eleven recalls (2007).", ("voc07-map",)),
}
for _name, (_title, _about, _aliases) in _MEASURES.items():
    _rule = {"rule": "voc" if _name.startswith("voc") else "coco"}
    # Instances have boxes, too, which are matched by COCO's rule.
    _tasks = (NAME,) if _name.startswith("voc") else (NAME, "instance_segmentation")
    _measure = RuledMeasure(_name, _title, _tasks, aliases=_aliases, about=_about, needs=_rule, is_stable=False)
    add(MEASURES.things, _name, _measure, MEASURES.code)
