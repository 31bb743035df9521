"""Where two models begin to differ beyond rounding, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlmodelscope.diff.pairing import BAD, LayerPair
from mlmodelscope.diff.reading import Held


@dataclass(frozen=True)
class FirstDifference:
    """The first layer that differs beyond rounding."""

    place: int
    """Among the pairs."""
    pair: LayerPair
    last_agreeing: LayerPair | None
    """The layer before it that still agrees."""
    first_group: tuple[Held, ...]
    """Layers of the first side that are between those two, the one that differs last: what the second side fuses into
    one layer cannot be told apart."""
    second_group: tuple[Held, ...]

    @property
    def words(self) -> str:
        apart = self.pair.apart
        assert apart is not None
        if self.pair.verdict == "shapes differ":
            mine, theirs = (list(each.shape) if each else [] for each in (self.pair.first, self.pair.second))
            said = f"has the shape {mine} in A and {theirs} in B"
        elif self.pair.verdict == "not finite":
            side = "B" if apart.not_finite[1] >= apart.not_finite[0] else "A"
            count = max(apart.not_finite)
            said = f"has {count} numbers in {side} that are NaN or infinite, where the other side has finite ones"
        else:
            said = f"differs by up to {apart.largest:.3g}, {self.pair.off:.2g} of its {self.pair.measured_by}"
            said += f"; rounding explains {self.pair.tolerance:.2g}"
        return said


def first_difference(pairs: Sequence[LayerPair]) -> FirstDifference | None:
    """None where nothing differs beyond rounding."""
    place = next((at for at, pair in enumerate(pairs) if pair.verdict in BAD), None)
    if place is None:
        return None
    moved = _reordered_before(pairs, place)
    place = place if moved is None else moved
    good = [at for at in range(place) if pairs[at].verdict == "agrees"]
    start = good[-1] + 1 if good else 0
    between = [pair for pair in pairs[start : place + 1] if pair.verdict != "passed over"]
    return FirstDifference(
        place,
        pairs[place],
        pairs[good[-1]] if good else None,
        tuple(pair.first for pair in between if pair.first is not None),
        tuple(pair.second for pair in between if pair.second is not None),
    )


def _reordered_before(pairs: Sequence[LayerPair], place: int) -> int | None:
    """A tensor whose numbers are all there in another order is no harm by itself: two layouts flatten differently. It
    is the cause where nothing agrees between it and the first layer that differs."""
    found = None
    for at in range(place):
        if pairs[at].verdict == "reordered":
            found = at if found is None else found
        elif pairs[at].verdict == "agrees":
            found = None
    return found
