"""What is true of a picture with things in it: boxes with their classes, checked before anything runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from mlmodelscope.errors import DatasetError

_MOST = 10_000
"""Things in one picture; real ones have a few hundred at most."""


def is_finite(value: Any) -> bool:
    """Whether it is a number that arithmetic can use: neither text nor a truth value, and not beyond all floats."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # JSON has whole numbers of any length
        return False


@dataclass
class Boxes:
    """The things of one picture, as they are found one by one."""

    sample: str
    size: tuple[int, int] | None
    """Height and width, where they are known."""
    boxes: list[list[float]] = field(default_factory=list)
    classes: list[int] = field(default_factory=list)
    areas: list[float] = field(default_factory=list)
    crowd: list[bool] = field(default_factory=list)
    difficult: list[bool] = field(default_factory=list)
    more: dict[str, list[Any]] = field(default_factory=dict)
    """What else is known of each: masks, keypoints."""
    shared: dict[str, Any] = field(default_factory=dict)
    """What is true of all things of a class: which keypoints are connected."""

    def add(
        self,
        what: str,
        box: Sequence[float],
        number: int,
        area: float | None = None,
        crowd: bool = False,
        difficult: bool = False,
        **more: Any,
    ) -> None:
        """One thing: [left, top, right, bottom] in pixels; `what` is how an error calls it."""
        numbers = [float(each) for each in box]
        if len(numbers) != 4 or not all(map(math.isfinite, numbers)):
            raise DatasetError(f"{what} in `{self.sample}` is not four finite numbers: {str(list(box))[:80]}")
        left, top, right, bottom = numbers
        if right < left or bottom < top:
            raise DatasetError(f"{what} in `{self.sample}` ends before it begins: {_spell(numbers)}")
        if self.size is not None and (left > self.size[1] or top > self.size[0] or right < 0 or bottom < 0):
            raise DatasetError(
                f"{what} in `{self.sample}` lies outside the picture of {self.size[1]} x {self.size[0]} pixels: "
                f"{_spell(numbers)}"
            )
        if len(self.boxes) >= _MOST:
            raise DatasetError(f"`{self.sample}` has more than {_MOST:,} boxes")
        self.boxes.append(numbers)
        self.classes.append(number)
        self.areas.append((right - left) * (bottom - top) if area is None else float(area))
        self.crowd.append(crowd)
        self.difficult.append(difficult)
        for name, value in more.items():
            self.more.setdefault(name, []).append(value)

    @property
    def target(self) -> dict[str, Any]:
        """As a sample has it; what is the same for all is left out."""
        found: dict[str, Any] = {"boxes": self.boxes, "classes": self.classes, "areas": self.areas}
        if any(self.crowd):
            found["crowd"] = self.crowd
        if any(self.difficult):
            found["difficult"] = self.difficult
        if self.size is not None:
            found["size"] = list(self.size)
        return {**found, **self.more, **self.shared}


def _spell(numbers: Sequence[float]) -> str:
    return "[" + ", ".join(f"{each:g}" for each in numbers) + "]"
