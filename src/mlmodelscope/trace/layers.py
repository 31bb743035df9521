"""The layers of a trace, each once: its time at the median of the runs that were profiled."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

from mlmodelscope.layer.kind import plain_kind
from mlmodelscope.trace.span import Span, Trace


@dataclass(frozen=True)
class LayerRow:
    index: int
    """Place in the order of execution."""
    name: str
    kind: str
    time_ns: float
    """Median of what it took in the profiled runs."""
    share: float
    """Of the sum of all layers."""
    shapes: Any = None
    memory_bytes: int | None = None


@dataclass(frozen=True)
class KindRow:
    kind: str
    count: int
    time_ns: float
    share: float
    memory_bytes: int | None


@dataclass(frozen=True)
class Agreement:
    """Whether the layers add up to the run that they are of; medians over the runs."""

    layers_ns: float
    """Sum of the layers of a run."""
    unprofiled_ns: float
    """The run with nothing looking on, in turns with the profiled one."""
    of_unprofiled: float
    of_profiled: float | None
    """Of the run that was profiled itself, where the framework says how long that took."""


def layer_times(spans: Iterable[Span]) -> dict[int, tuple[Span, float]]:
    """By index, in the order of execution: the first span of a layer, and its median over the runs.

    Whatever shows how long a layer takes has it from here, so that no two pages differ.
    """
    seen: dict[int, list[Span]] = {}
    for span in spans:
        if span.level == "framework":
            seen.setdefault(int(span.attributes.get("index", 0)), []).append(span)
    return {index: (seen[index][0], float(median(span.measured_ns for span in seen[index]))) for index in sorted(seen)}


def layer_rows(trace: Trace) -> list[LayerRow]:
    """In the order of execution."""
    times = layer_times(trace.spans)
    total = sum(time_ns for _, time_ns in times.values())
    rows = []
    for index, (span, time_ns) in times.items():
        said = span.attributes
        rows.append(
            LayerRow(
                index,
                span.name,
                str(said.get("kind", "?")),
                time_ns,
                time_ns / total if total else 0.0,
                said.get("shapes"),
                said.get("memory_bytes"),
            )
        )
    return rows


def with_plain_kinds(layers: Iterable[LayerRow]) -> list[LayerRow]:
    """The same with one word for each kind, whatever the framework calls it: so that frameworks can be compared."""
    return [replace(layer, kind=plain_kind(layer.kind)) for layer in layers]


def kind_rows(layers: Sequence[LayerRow]) -> list[KindRow]:
    """By type, the most time first."""
    rows = []
    for kind in {layer.kind for layer in layers}:
        own = [layer for layer in layers if layer.kind == kind]
        memory = [layer.memory_bytes for layer in own if layer.memory_bytes is not None]
        rows.append(
            KindRow(
                kind,
                len(own),
                sum(layer.time_ns for layer in own),
                sum(layer.share for layer in own),
                sum(memory) if memory else None,
            )
        )
    return sorted(rows, key=lambda row: (-row.time_ns, row.kind))


def agreement(trace: Trace) -> Agreement | None:
    """None where no layers were profiled."""
    sums, plain, profiled = [], [], []
    for run in trace.named("run", "model"):
        layers = [span.measured_ns for span in _below(trace, run) if span.level == "framework"]
        if layers:
            sums.append(sum(layers))
            plain.append(int(run.attributes.get("without_framework_ns", run.measured_ns)))
            profiled.append(int(run.attributes.get("with_framework_ns", 0)))
    if not sums:
        return None
    return Agreement(
        median(sums),
        median(plain),
        median(own / each for own, each in zip(sums, plain, strict=True)),
        median(own / each for own, each in zip(sums, profiled, strict=True)) if all(profiled) else None,
    )


def run_ns(trace: Trace) -> float | None:
    """The model's latency with nothing looking on: the framework call of each batch, at the median."""
    runs = trace.named("run", "model")
    return median(span.measured_ns for span in runs) if runs else None


def _below(trace: Trace, span: Span) -> list[Span]:
    """The spans inside, down to the layers: what they call is not of interest here."""
    found = []
    for child in trace.children.get(span.id, ()):
        found.append(child)
        if child.level == "model":
            found += _below(trace, child)
    return found
