"""How far two layers may be apart: what rounding explains, or what the user says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from mlmodelscope.errors import UsageError
from mlmodelscope.layer.rounding import PRECISIONS, allowed, coarser


@dataclass(frozen=True)
class Tolerance:
    """For a whole comparison. A difference is relative to the largest number of the tensor."""

    given: float | None = None
    """One for all layers, instead of those that are derived."""
    layers: Mapping[str, float] = field(default_factory=dict)
    """For single layers, by name."""
    precision: str | None = None
    """The type that is computed in, where tensors do not tell it, such as `bfloat16` inside of a float32 model."""

    def with_precision(self, precision: str | None) -> Tolerance:
        """The same for a side that computes in a type of its own."""
        if precision is None:
            return self
        return replace(self, precision=coarser(precision, self.precision))

    def at(self, names: Iterable[str], depth: int, precision: str, before: float) -> float:
        """Of a layer with so many layers in front of it, which are apart by `before` at most."""
        for name in names:
            if name in self.layers:
                return self.layers[name]
        if self.given is not None:
            return self.given
        return allowed(coarser(precision, self.precision), depth, before)


def parse_tolerances(texts: Iterable[str], precision: str | None) -> Tolerance:
    """`1e-3` for all layers, `NAME=1e-3` for one of them."""
    given, layers = None, {}
    for text in texts:
        name, _, value = text.rpartition("=")
        try:
            number = float(value)
        except ValueError:
            number = -1.0
        if not 0 <= number < float("inf"):
            raise UsageError(f"`{text}` is not a tolerance", hint="write --tolerance 1e-3 or --tolerance LAYER=1e-3")
        if name:
            layers[name] = number
        else:
            given = number
    if precision is not None and precision not in PRECISIONS:
        raise UsageError(f"unknown precision `{precision}`\nknown: {', '.join(PRECISIONS)}")
    return Tolerance(given, layers, precision)
