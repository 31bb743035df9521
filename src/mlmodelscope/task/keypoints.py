"""Keypoint detection: where the joints of each person are, or other points of other things.

The truth is points of each thing, some of them not annotated; an answer is things with scores and points. How near a
point must be follows from its kind and the size of the thing (object keypoint similarity, `measure: {sigmas: […]}`).
"""

from __future__ import annotations

import json
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
from mlmodelscope.task.measure import MEASURES
from mlmodelscope.task.ruled import RuledMeasure, RuledTally
from mlmodelscope.task.shape import BoxShape, Named, PointsShape, Shape
from mlmodelscope.task.task import TASKS, Column, Option, Task
from mlmodelscope_worker.parameters import Integer, Numbers
from mlmodelscope_worker.registry import add

NAME = "keypoint_detection"


def _values(target: Any, answer: ArrayAnswer | None, score: bytes | None) -> dict[str, Any]:
    found = box_values(target, answer, score)
    if answer is not None:
        found["keypoints"] = answer.arrays["keypoints"].tolist()
    return found


def _answer(row: Mapping[str, Any]) -> Any:
    """Boxes, each with its points as COCO's JSON has them: x, y and how sure, one behind the other."""
    found = box_answer(row)
    points = row.get("keypoints")
    if not found or points is None:
        return found
    each = len(points) // len(found)
    return [{**one, "keypoints": points[at * each : (at + 1) * each]} for at, one in enumerate(found)]


_OF_PERSON = 17
_SURE = 0.05
"""Answered points that the model is less sure of are not drawn, unless it is of none."""
# Of COCO's 17 points of a person, nose to ankles: which are connected.
_ARMS_AND_LEGS = ((5, 7), (7, 9), (6, 8), (8, 10), (11, 13), (13, 15), (12, 14), (14, 16))
PERSON = (*_ARMS_AND_LEGS, (5, 6), (5, 11), (6, 12), (11, 12), (0, 1), (0, 2), (1, 2), (1, 3), (2, 4), (3, 5), (4, 6))


def _shapes(row: Mapping[str, Any], target: Any, named: Named) -> list[Shape]:
    """The points of each true thing that are annotated, then those of the answers, the best first."""
    truth = target if target is not None else json.loads(row.get("target") or "{}")
    skeletons = {number: pairs for number, pairs in truth.get("skeleton") or ()}
    return [
        _pointed(box, points, skeletons.get(number)) if points else box
        for box, number, points in boxes_with(row, truth, named, "keypoints", _answer(row))
    ]


def _pointed(box: BoxShape, numbers: Sequence[float], skeleton: Any) -> Shape:
    points = list(zip(numbers[::3], numbers[1::3], numbers[2::3], strict=False))
    pairs = skeleton if skeleton is not None else PERSON if len(points) == _OF_PERSON else ()
    known = {at for at, (_, _, sure) in enumerate(points) if sure > (_SURE if box.side == "answer" else 0)}
    if box.side == "answer" and not known:
        known = set(range(len(points)))
    places = {at: place for place, at in enumerate(sorted(known))}
    lines = tuple((places[one], places[other]) for one, other in pairs if one in places and other in places)
    drawn = tuple((points[at][0], points[at][1]) for at in sorted(known))
    return PointsShape(box.side, drawn, lines, box.name, box.score, (box.left, box.top, box.right, box.bottom))


def _glance(row: Mapping[str, Any], named: Named) -> list[BoxShape]:
    return box_shapes(row, None, named)


def _steps(roles: Sequence[str]) -> list[dict[str, Any]]:
    if "keypoints" not in roles:
        return []
    return [*box_steps(roles), {"keypoints": {} if "scores" in roles else {"score": "points"}}]


task = Task(
    NAME,
    "Keypoint detection",
    partial(RuledTally, NAME),
    headline=("oks-ap", "oks-ap50", "oks-ap75"),
    is_ruled=True,
    options={
        "max_detections": Option(Integer("Things of a class that count in a picture, the best ones.", at_least=1), 20),
        "crowd": OPTIONS["crowd"],
        "area": OPTIONS["area"],
        "sigmas": Option(
            Numbers("How vague each kind of point is, in shares of a thing's size; by default those of COCO's 17."),
            None,
        ),
    },
    roles=(("keypoints", "scores"), ("keypoints",), ("tensor",), ("boxes", "scores")),
    steps=_steps,
    truth=("keypoints",),
    columns=(*COLUMNS[:-1], Column("keypoints", "list<float64>"), COLUMNS[-1]),
    values=_values,
    plain=_answer,
    shapes=_shapes,
    glance=_glance,
    quality="Quality is the F-measure of a picture's things, each weighted by its score, the mean of all similarities.",
    sentence=sentence_of("oks-ap"),
)
add(TASKS.things, NAME, task, TASKS.code)

_MEASURES: dict[str, tuple[str, str, tuple[str, ...]]] = {}
for _short, _what in (("ap", "Average precision"), ("ar", "Average recall")):
    _upper = _short.upper()
    _MEASURES |= {
        f"oks-{_short}": (
            f"OKS {_upper}",
            f"{_what} of keypoints: mean over ten similarities from 0.50 to 0.95.",
            (f"keypoint-{_short}", f"kp-{_short}", f"pose-{_short}"),
        ),
        f"oks-{_short}50": (f"OKS {_upper}50", f"{_what} of keypoints at a similarity of 0.50.", ()),
        f"oks-{_short}75": (f"OKS {_upper}75", f"{_what} of keypoints at a similarity of 0.75.", ()),
        **{
            f"oks-{_short}-{size}": (f"OKS {_upper} {size}", f"{_what} of keypoints of things of {SIZES[size]}.", ())
            for size in ("medium", "large")
        },
    }
for _name, (_title, _about, _aliases) in _MEASURES.items():
    _measure = RuledMeasure(_name, _title, (NAME,), aliases=_aliases, about=_about, is_stable=False)
    add(MEASURES.things, _name, _measure, MEASURES.code)
