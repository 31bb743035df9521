"""What a trace says of each layer and of each call below it, once: the median over the runs that saw it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import median
from typing import Any

from mlmodelscope.analysis.cost import layer_cost
from mlmodelscope.analysis.peak import Peak
from mlmodelscope.record.record import Record
from mlmodelscope.trace.layers import layer_times, run_ns
from mlmodelscope.trace.span import Span, Trace

CACHE = "cache"
"""Bound by nothing that was measured but arithmetic: the bytes came faster than memory gives them."""

ABOVE = "above the roof"
"""Faster than the best that was measured, whose limit therefore is not known."""

CALLS = ("kernel", "symbol", "operator")
"""What layers call, the most telling kind first; a trace's own is the first that it has."""

_COUNTED = frozenset(["flops", "dram_read_bytes", "dram_write_bytes", "occupancy"])


@dataclass(frozen=True)
class Work:
    """Time, and what was done in it. Bytes are those of the memory where they were counted, else of the tensors."""

    time_ns: float
    flops: int | None = None
    read_bytes: int | None = None
    write_bytes: int | None = None
    moved: int | None = None
    """Of tensors, where nothing was counted."""
    peak: Peak | None = None

    @property
    def moved_bytes(self) -> int | None:
        if self.read_bytes is not None and self.write_bytes is not None:
            return self.read_bytes + self.write_bytes
        return self.moved

    @property
    def intensity(self) -> float | None:
        """Operations for each byte."""
        return self.flops / self.moved_bytes if self.flops is not None and self.moved_bytes else None

    @property
    def flops_per_s(self) -> float | None:
        return 1e9 * self.flops / self.time_ns if self.flops is not None and self.time_ns > 0 else None

    @property
    def bytes_per_s(self) -> float | None:
        return 1e9 * self.moved_bytes / self.time_ns if self.moved_bytes is not None and self.time_ns > 0 else None

    @property
    def ideal_ns(self) -> float | None:
        """The shortest time that the machine's best allows. Bytes that come from a cache do not count in it."""
        if self.peak is None or self.flops is None or self.moved_bytes is None:
            return None
        if self.bound == ABOVE:
            return None
        return self.peak.ideal_ns(self.flops, 0 if self.bound == CACHE else self.moved_bytes)

    @property
    def of_ideal(self) -> float | None:
        """How much of the machine's best it reaches: 1 is as fast as can be."""
        return self.ideal_ns / self.time_ns if self.ideal_ns and self.time_ns > 0 else None

    @property
    def bound(self) -> str | None:
        """What holds it up: compute or memory; or what lets it be faster than those."""
        if self.peak is None or self.flops is None or not self.moved_bytes:
            return None
        if self.time_ns > 0 and self.peak.ideal_ns(self.flops, 0) > self.time_ns:
            return ABOVE
        if self.time_ns > 0 and self.peak.ideal_ns(self.flops, self.moved_bytes) > self.time_ns:
            return CACHE
        return self.peak.bound(self.flops, self.moved_bytes)


@dataclass(frozen=True)
class Layer:
    index: int
    name: str
    kind: str
    shape: Sequence[int] | None
    memory_bytes: int | None
    work: Work
    share: float


@dataclass(frozen=True)
class Call:
    """A kernel of a device, or where there is none a symbol of a library, or an operator inside a layer."""

    name: str
    layer: int | None
    """Index of the layer that started it."""
    work: Work
    count: float = 1
    """How often in a run; a symbol counts as often as it was sampled."""
    occupancy: float | None = None
    library: str | None = None
    grid: Sequence[int] | None = None
    block: Sequence[int] | None = None


@dataclass(frozen=True)
class Subject:
    """A record with its trace, where it has one. What several analyses need is worked out once."""

    record: Record | None
    trace: Trace | None

    @cached_property
    def peak(self) -> Peak | None:
        return Peak.from_resource(self.trace.resource) if self.trace else None

    @cached_property
    def layers(self) -> list[Layer]:
        told = self.record.plan.input if self.record is not None else None
        return measure_layers(self.trace, self.peak, told.element_type if told else None) if self.trace else []

    @cached_property
    def call_kind(self) -> str | None:
        """Which kind of call the trace has, if any."""
        seen = (
            {str(span.attributes.get("kind")) for span in self.trace.spans if span.level == "library"}
            if self.trace
            else ()
        )
        return next((kind for kind in CALLS if kind in seen), None)

    @cached_property
    def calls(self) -> list[Call]:
        return measure_calls(self.trace, self.call_kind, self.peak) if self.trace and self.call_kind else []

    @cached_property
    def calls_of(self) -> Mapping[int | None, list[Call]]:
        """Calls by the layer that started them."""
        found: dict[int | None, list[Call]] = {}
        for call in self.calls:
            found.setdefault(call.layer, []).append(call)
        return found

    @property
    def batch_size(self) -> int | None:
        if self.record is not None and self.record.latency is not None:
            return self.record.latency.batch_size
        said = self.trace.resource.get("batch_size") if self.trace else None
        return int(said) if said else None

    @property
    def latency_ns(self) -> float | None:
        """With nothing looking on."""
        if self.record is not None and self.record.latency is not None:
            return self.record.latency.p50_s.value * 1e9
        return run_ns(self.trace) if self.trace else None

    @property
    def name(self) -> str:
        said = self.trace.resource if self.trace else {}
        if self.record is not None:
            return f"{self.record.plan.model.name} {self.record.plan.model.version}"
        return f"{said.get('model.name', 'trace')} {said.get('model.version', '')}".strip()


def measure_layers(trace: Trace, peak: Peak | None, element_type: str | None = None) -> list[Layer]:
    """In the order of execution; `element_type` is that of tensors of which the framework does not tell it."""
    times = layer_times(trace.spans)
    total = sum(time_ns for _, time_ns in times.values())
    found = []
    for index, (span, time_ns) in times.items():
        said = span.attributes
        kind = str(said.get("kind", "?"))
        cost = layer_cost(kind, said if "element_type" in said else {**said, "element_type": element_type})
        shapes = said.get("outputs") or said.get("shapes")
        found.append(
            Layer(
                index,
                span.name,
                kind,
                tuple(shapes[0]) if shapes else None,
                said.get("memory_bytes"),
                Work(time_ns, cost.flops, moved=cost.moved_bytes, peak=peak),
                time_ns / total if total else 0.0,
            )
        )
    return found


def measure_calls(trace: Trace, kind: str, peak: Peak | None) -> list[Call]:
    """Calls of one kind in the order of the layers that started them.

    Runs repeat one another, so that the second call of a name in a layer is the second one in every run. Of what calls
    others only its own part counts, or the sum would have some parts twice.
    """
    own, inside = _owners(trace), _inside(trace) if kind != "kernel" else {}
    seen: dict[tuple[int, str, int], list[Span]] = {}
    counts: dict[tuple[str | None, str], int] = {}
    runs: dict[int, set[str | None]] = {}
    for span in trace.spans:
        if span.level != "library" or span.attributes.get("kind") != kind:
            continue
        index, owner = own.get(span.id, (-1, None))
        again = counts.get((owner, span.name), 0)
        counts[owner, span.name] = again + 1
        runs.setdefault(index, set()).add(owner)
        seen.setdefault((index, span.name, again), []).append(span)
    found = []
    for (index, name, _), spans in sorted(seen.items(), key=lambda each: each[0][0]):  # the order in a layer is kept
        times = [max(0, span.measured_ns - inside.get(span.id, 0)) for span in spans]
        # What is sampled is not seen in every run; what is traced is.
        time_ns = sum(times) / len(runs[index]) if kind == "symbol" else float(median(times))
        # Counters slow a kernel down so much that often only one run of several has them.
        said = next(
            (span.attributes for span in spans if not _COUNTED.isdisjoint(span.attributes)), spans[0].attributes
        )
        work = Work(time_ns, said.get("flops"), said.get("dram_read_bytes"), said.get("dram_write_bytes"), None, peak)
        found.append(
            Call(
                name,
                None if index < 0 else index,
                work,
                1,
                said.get("occupancy"),
                said.get("library"),
                said.get("grid"),
                said.get("block"),
            )
        )
    return found if kind != "symbol" else _by_symbol(found, trace, own)


def _by_symbol(calls: Sequence[Call], trace: Trace, own: Mapping[str, tuple[int, str | None]]) -> list[Call]:
    """A symbol of a layer is one row, however often it was sampled; `count` is how often."""
    samples: dict[tuple[int | None, str], float] = {}
    for span in trace.spans:
        if span.level == "library" and span.attributes.get("kind") == "symbol":
            index = own.get(span.id, (-1, None))[0]
            key = (None if index < 0 else index, span.name)
            samples[key] = samples.get(key, 0) + float(span.attributes.get("samples", 1))
    together: dict[tuple[int | None, str], Call] = {}
    for call in calls:
        key = (call.layer, call.name)
        before = together.get(key)
        spent = call.work.time_ns + (before.work.time_ns if before else 0.0)
        together[key] = replace(call, work=replace(call.work, time_ns=spent), count=samples.get(key, 1))
    return list(together.values())


def _owners(trace: Trace) -> dict[str, tuple[int, str | None]]:
    """(index, id) of the layer that each span below a layer is of; parents stand before their children."""
    found: dict[str, tuple[int, str | None]] = {}
    for span in trace.spans:
        if span.level == "framework":
            found[span.id] = int(span.attributes.get("index", 0)), span.id
        elif span.parent is not None:
            above = found.get(span.parent)
            if above is not None:
                found[span.id] = above
            elif span.level == "library":
                found[span.id] = -1, span.parent
    return found


def _inside(trace: Trace) -> dict[str, int]:
    """How long the calls inside a call took."""
    found: dict[str, int] = {}
    for span in trace.spans:
        if span.level == "library" and span.parent is not None and not span.lane:
            found[span.parent] = found.get(span.parent, 0) + span.measured_ns
    return found


def added(works: Sequence[Work]) -> Work:
    """Several as one; what is not known of one of them is not known of all."""

    def total(values: Sequence[Any]) -> Any:
        return None if not values or any(value is None for value in values) else sum(values)

    return Work(
        sum(each.time_ns for each in works),
        total([each.flops for each in works]),
        total([each.read_bytes for each in works]),
        total([each.write_bytes for each in works]),
        total([each.moved for each in works]),
        works[0].peak if works else None,
    )


def known_share(works: Sequence[Work]) -> float:
    """The share of the time that is of things whose operations and bytes are known."""
    total = sum(each.time_ns for each in works)
    known = sum(each.time_ns for each in works if each.flops is not None and each.moved_bytes is not None)
    return known / total if total else 0.0
