"""Two profiles side by side: which layers make the difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mlmodelscope.errors import UsageError
from mlmodelscope.layer.alignment import Seen, align
from mlmodelscope.layer.kind import plain_kind
from mlmodelscope.trace.layers import LayerRow, kind_rows, layer_rows
from mlmodelscope.trace.span import Span, Trace

_NAMES_AGREE = 0.5
"""Share of the names that must be the same before names are gone by: two frameworks have hardly one in common."""


@dataclass(frozen=True)
class Pair:
    """A layer in both, or in one of them."""

    first: LayerRow | None
    second: LayerRow | None

    @property
    def first_ns(self) -> float:
        return self.first.time_ns if self.first else 0.0

    @property
    def second_ns(self) -> float:
        return self.second.time_ns if self.second else 0.0

    @property
    def difference_ns(self) -> float:
        return self.second_ns - self.first_ns

    @property
    def name(self) -> str:
        known = [layer.name for layer in (self.first, self.second) if layer is not None]
        return known[0] if len(set(known)) == 1 else " / ".join(known)

    @property
    def kind(self) -> str:
        known = [layer.kind for layer in (self.first, self.second) if layer is not None]
        return known[0] if len(set(known)) == 1 else " / ".join(known)


@dataclass(frozen=True)
class SideBySide:
    first_ns: float
    """Sum of the layers."""
    second_ns: float
    by: str
    """What the layers were paired by: `name`, or `name, shape, kind and order`."""
    pairs: tuple[Pair, ...]
    """In the order of execution."""
    kinds: tuple[tuple[str, float, float], ...]
    """Kind of layer, its time in the first and in the second; the largest difference first."""

    @property
    def most(self) -> list[Pair]:
        """The layers that make the difference, the largest first."""
        return sorted(self.pairs, key=lambda pair: -abs(pair.difference_ns))

    def to_json(self) -> dict[str, Any]:
        return {
            "first_ns": self.first_ns,
            "second_ns": self.second_ns,
            "paired_by": self.by,
            "kinds": [{"kind": kind, "first_ns": one, "second_ns": other} for kind, one, other in self.kinds],
            "layers": [
                {
                    "first": pair.first.name if pair.first else None,
                    "second": pair.second.name if pair.second else None,
                    "kind": pair.kind,
                    "first_ns": pair.first.time_ns if pair.first else None,
                    "second_ns": pair.second.time_ns if pair.second else None,
                    "difference_ns": pair.difference_ns,
                }
                for pair in self.pairs
            ],
        }


def compare_layers(first: Trace, second: Trace) -> SideBySide:
    """Pair the layers of two profiles and set their times side by side."""
    one, other = layer_rows(first), layer_rows(second)
    for trace, rows in ((first, one), (second, other)):
        if not rows:
            record = trace.resource.get("record", trace.id)
            raise UsageError(
                f"profile {record} has no layers", hint="mlmodelscope profile --level framework takes them"
            )
    by, pairs = pair_layers(one, other)
    spent: dict[str, list[float]] = {}
    for place, rows in enumerate((one, other)):
        for kind in kind_rows(rows):
            spent.setdefault(plain_kind(kind.kind), [0.0, 0.0])[place] += kind.time_ns
    kinds = [(name, one_ns, other_ns) for name, (one_ns, other_ns) in spent.items()]
    kinds.sort(key=lambda each: (-abs(each[2] - each[1]), each[0]))
    return SideBySide(
        sum(row.time_ns for row in one),
        sum(row.time_ns for row in other),
        by,
        tuple(pairs),
        tuple(kinds),
    )


def pair_layers(first: Sequence[LayerRow], second: Sequence[LayerRow]) -> tuple[str, list[Pair]]:
    """As `diff` pairs them, but without values; what has no counterpart, or none that is certain, stands alone."""
    ones, others = {row.name for row in first}, {row.name for row in second}
    by_name = len(ones & others) >= _NAMES_AGREE * min(len(ones), len(others))
    matches = align(list(map(_seen, first)), list(map(_seen, second)))
    pairs = [
        Pair(first[one] if one is not None else None, second[other] if other is not None else None)
        for one, other in matches
    ]
    return "name" if by_name else "name, shape, kind and order", pairs


def _seen(row: LayerRow) -> Seen:
    shapes = row.shapes if isinstance(row.shapes, list | tuple) else ()
    shape = shapes[0] if shapes and isinstance(shapes[0], list | tuple) else None
    return Seen((row.name,), row.kind, tuple(map(int, shape)) if shape is not None else None)


def layer_spans(trace: Trace) -> list[Span]:
    """The layers of the one run that is nearest to what all runs took at the median, from its start on."""
    spans = {span.id: span for span in trace.spans}
    runs: dict[str | None, list[Span]] = {}
    for span in trace.at("framework"):
        runs.setdefault(_run_of(span, spans), []).append(span)
    whole = {parent: sum(span.measured_ns for span in spans) for parent, spans in runs.items()}
    middle = sorted(whole.values())[len(whole) // 2]
    chosen = min(whole, key=lambda parent: abs(whole[parent] - middle))
    return sorted(runs[chosen], key=lambda span: span.start_ns)


def _run_of(layer: Span, spans: Mapping[str, Span]) -> str | None:
    """Where a device is used a run has parts, and copying is not below the same span as computing."""
    found = parent = layer.parent
    while parent is not None and parent in spans and spans[parent].level == "model":
        found, parent = parent, spans[parent].parent
    return found
