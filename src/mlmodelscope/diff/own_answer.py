"""Whether the layers of one side end in what that side answers.

A framework may read its layers from another engine than the one that answers, or from a graph that is not optimized.
Where the two compute different things, layers that agree acquit nothing, and layers that differ convict nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mlmodelscope.diff.pairing import BAD, Compare, LayerPair, judge_end
from mlmodelscope.diff.reading import Held, Reading
from mlmodelscope.diff.tolerance import Tolerance
from mlmodelscope.layer.alignment import same_name


@dataclass(frozen=True)
class OtherEngine:
    """A side whose layers were read from something else than what answers."""

    side: str
    end: LayerPair
    """The layer that makes the answer, and the answer."""

    @property
    def words(self) -> str:
        apart = self.end.apart
        assert apart is not None
        how = f"up to {apart.largest:.3g}" if self.end.verdict == "differs" else "numbers that are not finite"
        if self.end.verdict == "shapes differ":
            how = "another shape"
        return (
            f"{self.side}'s layers were read from another engine or graph than the one that answers: they end in "
            f"{self.end.name}, which is {how} from {self.side}'s own answer"
        )


def other_engines(readings: Sequence[Reading], tolerance: Tolerance, compare: Compare) -> list[OtherEngine]:
    """Of the sides whose layers have the name of what they answer."""
    found = []
    for side, reading in zip("AB", readings, strict=True):
        ends = list(_ends(reading))
        told = compare([{"one": layer.described(), "other": answer.described()} for layer, answer in ends])
        for (layer, answer), each in zip(ends, told, strict=True):
            pair = judge_end(layer, answer, each, reading, tolerance)
            if pair.verdict in BAD:
                found.append(OtherEngine(side, pair))
                break
    return found


def _ends(reading: Reading) -> Iterator[tuple[Held, Held]]:
    """Each answer with the layer that makes it, which has its name; the last one that has."""
    for answer in reading.outputs:
        made_by = answer.layer or answer.name
        named = [each for each in reading.layers if same_name(made_by, (each.name, each.layer))]
        exact = [each for each in named if each.name == made_by]
        if named:
            yield (exact or named)[-1], answer
