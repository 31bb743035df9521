"""Semantic segmentation: which class each pixel of a picture belongs to.

The truth is a mask of class numbers, an answer a map of the same size. Both stay pictures: a mask is a file of the
dataset, a map travels and is kept as PNG.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from mlmodelscope.task.array_answer import ArrayAnswer
from mlmodelscope.task.measure import MEASURES
from mlmodelscope.task.png import read_levels
from mlmodelscope.task.ruled import RuledMeasure, RuledTally, shown_of
from mlmodelscope.task.shape import MaskShape, Named, class_map, class_names
from mlmodelscope.task.task import TASKS, Column, Number, Option, Task
from mlmodelscope_worker.parameters import Choice, Integer
from mlmodelscope_worker.registry import add

NAME = "semantic_segmentation"
OPTIONS = {
    "absent": Option(
        Choice("A class that no mask has: left out of the mean, or counted as 0.", "skip", "zero"), "skip"
    ),
    "void": Option(Integer("Class number in the masks whose pixels do not count; -1 for none.", at_least=-1), 255),
    "classes": Option(
        Integer("How many classes there are; by default as many as `classes_url` lists.", at_least=1, at_most=65535),
        None,
    ),
    "uncovered": Option(
        Choice(
            "Pixels that the model did not see, such as those that a crop cut off: wrong, or left out.", "wrong", "skip"
        ),
        "wrong",
    ),
}


def _values(target: Any, answer: ArrayAnswer | None, score: bytes | None) -> dict[str, Any]:
    """Where a mask lies is a matter of this machine; what it is called is not."""
    found: dict[str, Any] = {"target": json.dumps({"mask": target["name"]}) if isinstance(target, Mapping) else None}
    if answer is not None:
        found |= {"map": answer.arrays["map"].content, "size": list(answer.fields["size"])}
        found["no_class"] = answer.fields["none"]
    shown = shown_of(score)
    return {**found, "accuracy": shown.get("pixel_accuracy"), "miou": shown.get("miou"), "score": score}


def _plain(row: Mapping[str, Any]) -> Any:
    """A map as a program reads it: a PNG file whose levels are class numbers, `no_class` where there is none."""
    if row["map"] is None:
        return None
    height, width = row["size"]
    png = b64encode(row["map"]).decode("ascii")
    return {"height": height, "width": width, "no_class": row["no_class"], "png": png}


def _shapes(row: Mapping[str, Any], target: Any, named: Named) -> list[MaskShape]:
    """The mask, where it is available, and the map."""
    found = list(_true_shapes(target, named))
    answer = read_levels(row["map"]) if row.get("map") is not None else None
    if answer is not None:
        found.append(class_map(answer, named, void=(row["no_class"],)))
    return found


def _glance(row: Mapping[str, Any], named: Named) -> list[MaskShape]:
    answer = read_levels(row["map"]) if row.get("map") is not None else None
    return [class_names(answer, named, void=(row["no_class"],))] if answer is not None else []


def _true_shapes(target: Any, named: Named) -> Iterator[MaskShape]:
    if not isinstance(target, Mapping) or "segments" in target:
        return
    try:
        mask = read_levels(Path(target["mask"]["file"]).read_bytes())
    except (OSError, KeyError, TypeError):  # another machine's
        return
    if mask is not None:
        levels = mask.renumbered(_class_of(target.get("labels") or {}))
        most = max(levels.numbers, default=0)
        yield class_map(levels, named, void=(_VOID, most) if most in _MARKS else (_VOID,), side="truth")


def _class_of(labels: Mapping[str, Any]) -> Callable[[int], int]:
    """The class that a value in a mask stands for; what counts as nothing is void."""
    known, other = {value: number for value, number in labels.get("map") or ()}, labels.get("other")
    offset, void = labels.get("offset") or 0, set(labels.get("void") or ())

    def class_of(value: int) -> int:
        number = known.get(value, other) if known else value - offset
        return _VOID if number is None or value < 0 or value in void or number < 0 else number

    return class_of


_VOID = -1
_MARKS = (255, 65535)
"""The greatest number of one or two bytes marks pixels of no class, where it is the greatest in a mask."""


def _steps(roles: Sequence[str]) -> list[dict[str, Any]]:
    """Scores need a class for each pixel; a map of classes stays as it is."""
    return [{"argmax_map": {}}]


def _sentence(samples: int, numbers: Mapping[str, Number]) -> str:
    if "miou" not in numbers:
        return ""
    return f"mean IoU {100 * numbers['miou'].value:.1f} % on {samples:,} sample{'' if samples == 1 else 's'}"


task = Task(
    NAME,
    "Semantic segmentation",
    partial(RuledTally, NAME),
    headline=("miou", "pixel-accuracy"),
    is_ruled=True,
    options=OPTIONS,
    roles=(("masks",), ("tensor",), ("logits",), ("probability",), ("classes",)),
    is_single=True,
    steps=_steps,
    columns=(
        Column("target", "string"),
        Column("map", "binary"),
        Column("size", "list<int32>"),
        Column("no_class", "int32"),
        Column("accuracy", "float64"),
        Column("miou", "float64"),
        Column("score", "binary"),
    ),
    values=_values,
    plain=_plain,
    shapes=_shapes,
    glance=_glance,
    quality="Quality is the mean IoU of the classes in a picture's mask.",
    sentence=_sentence,
)
add(TASKS.things, NAME, task, TASKS.code)

for _each in (
    RuledMeasure(
        "miou",
        "mean IoU",
        (NAME,),
        about="Intersection over union of each class over all pixels together, the mean of the classes.",
        aliases=("mean-iou", "m-iou", "iou", "jaccard"),
        is_stable=False,
    ),
    RuledMeasure(
        "pixel-accuracy",
        "pixel accuracy",
        (NAME,),
        about="Share of all pixels that have the right class.",
        aliases=("pixel-acc", "pixacc", "aacc", "overall-accuracy"),
    ),
    RuledMeasure(
        "mean-accuracy",
        "mean accuracy of the classes",
        (NAME,),
        about="Share of each class's pixels that were found, the mean of the classes.",
        aliases=("macc", "mean-acc"),
        is_stable=False,
    ),
    RuledMeasure(
        "fw-iou",
        "frequency-weighted IoU",
        (NAME,),
        about="Intersection over union of each class, weighted by its share of the pixels.",
        aliases=("fwiou", "fw-iu"),
        is_stable=False,
    ),
    RuledMeasure(
        "dice",
        "mean Dice",
        (NAME,),
        about="Twice the intersection over the sum of both areas, over all pixels together, the mean of the classes.",
        aliases=("mdice", "mean-dice", "f1-pixel"),
        is_stable=False,
    ),
):
    add(MEASURES.things, _each.name, _each, MEASURES.code)
