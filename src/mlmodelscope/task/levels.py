"""A number for each pixel, such as its class, in the standard library: one byte for each, and what the bytes stand for.

Pictures of more than 256 numbers have few of them at a time. Where there are more than bytes can tell apart, the rarest
are one.
"""

from __future__ import annotations

import sys
from array import array
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

_MOST = 255
"""Numbers that are told apart: a byte is left for lines and for what is not drawn."""
OTHERS = -2
"""The number of all that are not told apart."""


@dataclass(frozen=True, slots=True)
class Levels:
    plane: bytes
    """For each pixel, row by row, the place of its number in `numbers`."""
    width: int
    height: int
    numbers: tuple[int, ...] = tuple(range(256))

    def renumbered(self, number_of: Callable[[int], int]) -> Levels:
        """The same pixels, each with another number; those that get the same one are one then."""
        places: dict[int, int] = {}
        table = bytearray(256)
        for place in sorted(set(self.plane)):
            table[place] = places.setdefault(number_of(self.numbers[place]), len(places))
        return Levels(self.plane.translate(bytes(table)), self.width, self.height, tuple(places))

    def counts(self) -> dict[int, int]:
        """How many pixels have each number, in the order of the numbers."""
        found = {self.numbers[place]: self.plane.count(place) for place in set(self.plane)}
        return dict(sorted(found.items()))


def levels_of_pairs(content: bytes, width: int, height: int) -> Levels:
    """Of two bytes for each pixel, the greater first."""
    values = array("H", content)
    if sys.byteorder == "little":
        values.byteswap()
    common = [value for value, _ in Counter(values).most_common()]
    told, others = sorted(common[: _MOST - (len(common) > _MOST)]), len(common) > _MOST
    places = {value: place for place, value in enumerate(told)}
    plane = (
        bytes(places.get(value, len(told)) for value in values) if others else bytes(map(places.__getitem__, values))
    )
    return Levels(plane, width, height, (*told, OTHERS) if others else tuple(told))
