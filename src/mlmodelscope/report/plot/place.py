"""Names beside their marks: one that would cover another is shifted, or left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mlmodelscope.report.plot.ink import SMALL, cut, text, wide

_MOST = 60
"""More names than this make no picture; the pointer shows them."""
_TRIED = 150


@dataclass(frozen=True)
class Box:
    left: float
    top: float
    right: float
    base: float

    def meets(self, other: Box) -> bool:
        return self.left < other.right and other.left < self.right and self.top < other.base and other.top < self.base

    def inside(self, other: Box) -> bool:
        return (
            self.left >= other.left and self.right <= other.right and self.top >= other.top and self.base <= other.base
        )


def place_names(marks: Sequence[tuple[str, Box]], field: Box, taken: Sequence[Box] = ()) -> list[str]:
    """The names that fit; those of small marks are placed first, as they have the least room of their own."""
    used = [*(around for _, around in marks), *taken]
    parts: list[str] = []
    for name, around in marks[:_TRIED]:
        if not name or len(parts) >= _MOST:
            continue
        short = cut(name, 200, SMALL)
        for spot in _spots(around, wide(short, SMALL)):
            if spot.inside(field) and not any(spot.meets(other) for other in used if other is not around):
                is_left = spot.right <= around.left + 4  # its end is what must be where it should
                at, anchor = (spot.right, "end") if is_left else (spot.left, "start")
                parts.append(text(at, spot.base - 3, short, "faint name", anchor))
                used.append(spot)
                break
    return parts


def _spots(around: Box, width: float) -> Iterator[Box]:
    """Right of the mark, left, above, below, and the corners."""
    high = SMALL + 2
    middle, across = (around.top + around.base) / 2, (around.left + around.right) / 2
    right, left, above, below = around.right + 4, around.left - 4 - width, around.top - 2 - high, around.base + 2
    for x, y in (
        (right, middle - high / 2),
        (left, middle - high / 2),
        (across - width / 2, above),
        (across - width / 2, below),
        (right - 4, above + 4),
        (left + 4, above + 4),
        (right - 4, below - 4),
        (left + 4, below - 4),
    ):
        yield Box(x, y, x + width, y + high)
