"""A2 to A7: the layers one by one, and by their type."""

from __future__ import annotations

from collections.abc import Sequence

from mlmodelscope.analysis.above_roof import above_roof_notes
from mlmodelscope.analysis.columns import BANDWIDTH, IDEAL, OF_IDEAL, SHARE, SPEED, TIME, WORK, worked
from mlmodelscope.analysis.measured import Layer, Subject, added, known_share
from mlmodelscope.analysis.pictures import Bar, bars_in_ways, unit_of
from mlmodelscope.analysis.table import Analysis, Column, Table, spelled
from mlmodelscope.report import words
from mlmodelscope.report.plot import shares

_INDEX = Column("index", "#", kind="count")
_NAME = Column("name", "layer")
_KIND = Column("type", "type")
_SHAPE = Column("shape", "shape")
_MEMORY = Column("memory_bytes", "memory", kind="bytes")
_LAYERS = Column("layers", "layers", kind="count")


def layer_information(subject: Subject) -> Analysis:
    """A2: as executed, which may differ from the graph in the file."""
    layers = subject.layers
    table = Table(
        "layers",
        "Layers in the order of their execution",
        (_INDEX, _NAME, _KIND, _SHAPE, TIME, SHARE, *WORK, _MEMORY),
        [
            (
                *(layer.index, layer.name, layer.kind, layer.shape, layer.work.time_ns, layer.share),
                *worked(layer.work),
                layer.memory_bytes,
            )
            for layer in layers
        ],
    )
    return Analysis("A2", "Layers", table.without_empty(), notes=_notes(subject))


def _notes(subject: Subject) -> tuple[str, ...]:
    works = [layer.work for layer in subject.layers]
    known, peak = known_share(works), subject.peak
    unknown = sorted(
        {layer.kind for layer in subject.layers if layer.work.flops is None or layer.work.moved_bytes is None}
    )
    notes = [
        f"operations and bytes are known of layers that take {words.percent(known)} of the time"
        + (f"; not of {', '.join(unknown[:8])}{' …' if len(unknown) > 8 else ''}" if unknown else "")
    ]
    if peak is None:
        notes.append("the machine's peak was not measured with this profile, so that no layer's best time is known")
        return tuple(notes)
    notes.append(
        f"the machine's best, {words.plural(peak.threads, 'thread')} on {peak.device}: "
        f"{spelled(SPEED, peak.flops_per_s)} and {spelled(BANDWIDTH, peak.bytes_per_s)} ({peak.how}); "
        f"above {words.significant(peak.intensity)} operations for each byte arithmetic is the limit, below it memory"
    )
    return (*notes, *above_roof_notes(works, "layer"))


def layer_latency(subject: Subject) -> Analysis:
    """A3."""
    rows = [
        (layer.index, layer.name, layer.kind, layer.work.time_ns, layer.share, layer.work.ideal_ns, layer.work.of_ideal)
        for layer in subject.layers
    ]
    table = Table("layer_latency", "Time of each layer", (_INDEX, _NAME, _KIND, TIME, SHARE, IDEAL, OF_IDEAL), rows)
    found = [_bar(layer, layer.work.time_ns, TIME) for layer in subject.layers]
    return Analysis(
        "A3", "Time of each layer", table.without_empty(), bars_in_ways("Time of each layer", "time", found, "ns")
    )


def layer_memory(subject: Subject) -> Analysis:
    """A4."""
    known = [layer for layer in subject.layers if layer.memory_bytes is not None]
    rows = [(layer.index, layer.name, layer.kind, layer.shape, layer.memory_bytes) for layer in known]
    table = Table("layer_memory", "Memory of each layer", (_INDEX, _NAME, _KIND, _SHAPE, _MEMORY), rows)
    found = [_bar(layer, float(layer.memory_bytes or 0), _MEMORY) for layer in known]
    plots = bars_in_ways("Memory of each layer", "memory", found, "byte")
    missing = len(subject.layers) - len(known)
    notes = (f"of {words.plural(missing, 'layer')} nothing is known",) if missing else ()
    return Analysis("A4", "Memory of each layer", table.without_empty(), plots, notes)


def _bar(layer: Layer, value: float, column: Column) -> Bar:
    shape = f", {spelled(_SHAPE, layer.shape)}" if layer.shape else ""
    return layer.name, value, f"{layer.index}. {layer.name} ({layer.kind}{shape}): {spelled(column, value)}", layer.kind


def type_count(subject: Subject) -> Analysis:
    """A5."""
    found = by_kind(subject.layers)
    total = len(subject.layers)
    rows = [(kind, len(own), len(own) / total) for kind, own in found]
    rows.sort(key=lambda row: (-row[1], row[0]))
    table = Table("type_count", "Layers of each type", (_KIND, _LAYERS, SHARE), rows)
    plot = shares("Layers of each type", [(kind, count) for kind, count, _ in rows], "layers")
    return Analysis("A5", "Layers of each type", table, {"count": plot})


def type_latency(subject: Subject) -> Analysis:
    """A6: also what a type of layer computes, moves and reaches."""
    found = [(kind, own, added([layer.work for layer in own])) for kind, own in by_kind(subject.layers)]
    rows = [(kind, len(own), work.time_ns, sum(each.share for each in own), *worked(work)) for kind, own, work in found]
    table = Table("type_latency", "Time of each type of layer", (_KIND, _LAYERS, TIME, SHARE, *WORK), rows)
    scale, unit = unit_of(max((work.time_ns for _, _, work in found), default=1.0), "ns")
    plot = shares("Time of each type of layer", [(kind, work.time_ns / scale) for kind, _, work in found], unit)
    return Analysis("A6", "Time of each type of layer", table.without_empty(), {"time": plot})


def type_memory(subject: Subject) -> Analysis:
    """A7."""
    rows = []
    for kind, own in by_kind(subject.layers):
        known = [layer.memory_bytes for layer in own if layer.memory_bytes is not None]
        if known:
            rows.append((kind, len(own), sum(known)))
    total = sum(row[2] for row in rows)
    rows.sort(key=lambda row: (-row[2], row[0]))
    table = Table(
        "type_memory",
        "Memory of each type of layer",
        (_KIND, _LAYERS, _MEMORY, SHARE),
        [(*row, row[2] / total if total else 0.0) for row in rows],
    )
    scale, unit = unit_of(max((row[2] for row in rows), default=1), "byte")
    plot = shares("Memory of each type of layer", [(kind, size / scale) for kind, _, size in rows], unit)
    return Analysis("A7", "Memory of each type of layer", table, {"memory": plot})


def by_kind(layers: Sequence[Layer]) -> list[tuple[str, list[Layer]]]:
    """Types with their layers, the most time first."""
    found: dict[str, list[Layer]] = {}
    for layer in layers:
        found.setdefault(layer.kind, []).append(layer)
    return sorted(found.items(), key=lambda each: (-sum(layer.work.time_ns for layer in each[1]), each[0]))
