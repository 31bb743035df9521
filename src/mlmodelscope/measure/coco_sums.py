"""The numbers that COCO publishes, each as a sum over a table: which answers, which overlaps, which sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from mlmodelscope.measure.coco_table import Table, Weights


class Sum(NamedTuple):
    """One published number."""

    part: str
    """What is matched: boxes, masks or keypoints."""
    kind: Literal["precision", "recall"]
    iou: int | None = None
    """One of the ten overlaps; all of them by default."""
    area: int = 0
    """One of the four ranges."""
    most: int | None = None
    """Answers of a class in a picture that count; by default all that were matched."""

    def of(self, table: Table, weights: Weights) -> float | None:
        if self.kind == "precision":
            return table.precision(self.iou, self.area, weights)
        return table.recall(self.iou, self.area, self.most, weights)


def _twelve(part: str) -> dict[str, Sum]:
    sizes = {"small": 1, "medium": 2, "large": 3}
    return {
        "ap": Sum(part, "precision"),
        "ap50": Sum(part, "precision", iou=0),
        "ap75": Sum(part, "precision", iou=5),
        **{f"ap-{size}": Sum(part, "precision", area=area) for size, area in sizes.items()},
        **{f"ar{most}": Sum(part, "recall", most=most) for most in (1, 10, 100)},
        **{f"ar-{size}": Sum(part, "recall", area=area) for size, area in sizes.items()},
    }


def _ten(part: str) -> dict[str, Sum]:
    found: dict[str, Sum] = {}
    for short, base in (("ap", Sum(part, "precision")), ("ar", Sum(part, "recall"))):
        found |= {
            short: base,
            f"{short}50": base._replace(iou=0),
            f"{short}75": base._replace(iou=5),
            f"{short}-medium": base._replace(area=2),
            f"{short}-large": base._replace(area=3),
        }
    return found


SUMS: dict[str, Sum] = {
    **_twelve("box"),
    **{f"mask-{name}": each for name, each in _twelve("mask").items()},
    **{f"oks-{name}": each for name, each in _ten("oks").items()},
}


def names_of(part: str) -> Sequence[str]:
    """In the order in which COCO prints them."""
    return [name for name, each in SUMS.items() if each.part == part]
