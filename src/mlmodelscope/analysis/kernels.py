"""A8, A10, A11, A12 and A15: what layers call, one by one, by name, by layer, and all together.

On a device these are its kernels. Where there is none, symbols of libraries or operators inside layers take their
place, and the titles say so.
"""

from __future__ import annotations

from collections.abc import Sequence

from mlmodelscope.analysis.above_roof import above_roof_notes
from mlmodelscope.analysis.columns import FLOPS, MOVED, READ, SHARE, TIME, WORK, WRITE, worked
from mlmodelscope.analysis.measured import Call, Layer, Subject, Work, added, known_share
from mlmodelscope.analysis.pictures import bars_in_ways, unit_of
from mlmodelscope.analysis.table import Analysis, Column, Table, spelled
from mlmodelscope.report import words
from mlmodelscope.report.plot import Axis, Line, grouped_bars, scatter, shares

_OCCUPANCY = Column("occupancy", "occupancy", kind="share")
_LAYER = Column("layer", "layer")
_INDEX = Column("index", "#", kind="count")
_CALLS = Column("calls", "calls", kind="count")
_NAMES = {"kernel": "Kernels", "symbol": "Symbols of libraries", "operator": "Operators"}


def plural_of(subject: Subject) -> str:
    """`Kernels`, or what stands in their place."""
    return _NAMES[subject.call_kind or "kernel"]


def call_information(subject: Subject) -> Analysis:
    """A8."""
    names = {layer.index: layer.name for layer in subject.layers}
    total = sum(call.work.time_ns for call in subject.calls)
    rows = [
        (
            *(call.name, call.library, None if call.layer is None else names.get(call.layer)),
            *(call.work.time_ns, _share(call.work.time_ns, total), call.grid, call.block, call.occupancy),
            *worked(call.work),
        )
        for call in subject.calls
    ]
    columns = (
        *(_called(subject), Column("library", "library"), _LAYER, TIME, SHARE),
        *(Column("grid", "grid"), Column("block", "block"), _OCCUPANCY, *WORK),
    )
    title = f"{plural_of(subject)} in the order of their layers"
    return Analysis(
        "A8", plural_of(subject), Table("calls", title, columns, rows).without_empty(), notes=_notes(subject)
    )


def _called(subject: Subject) -> Column:
    return Column("name", subject.call_kind or "kernel")


def _notes(subject: Subject) -> tuple[str, ...]:
    notes = []
    if subject.call_kind != "kernel":
        notes.append(
            f"no device's kernels are in this trace: the {plural_of(subject).lower()} that layers call are in their "
            "place" + (", each without what it calls itself" if subject.call_kind == "operator" else "")
        )
    known = known_share([call.work for call in subject.calls])
    if known < 1:
        notes.append(
            f"operations and bytes were counted for {words.percent(known)} of the time; they need counters of the "
            "hardware (`--level hardware`)"
        )
    return tuple(notes)


def calls_by_name(subject: Subject) -> Analysis:
    """A10: sums; the occupancy is weighted by time."""
    found: dict[str, list[Call]] = {}
    for call in subject.calls:
        found.setdefault(call.name, []).append(call)
    total = sum(call.work.time_ns for call in subject.calls)
    sums = [(name, own, added([call.work for call in own])) for name, own in found.items()]
    sums.sort(key=lambda each: (-each[2].time_ns, each[0]))
    rows = [
        (name, _count(own), work.time_ns, _share(work.time_ns, total), occupancy(own), *worked(work))
        for name, own, work in sums
    ]
    title = f"{plural_of(subject)} by name"
    table = Table("calls_by_name", title, (_called(subject), _CALLS, TIME, SHARE, _OCCUPANCY, *WORK), rows)
    scale, unit = unit_of(max((work.time_ns for _, _, work in sums), default=1.0), "ns")
    plot = shares(title, [(_short(name), work.time_ns / scale) for name, _, work in sums], unit)
    return Analysis("A10", title, table.without_empty(), {"time": plot})


def calls_by_layer(subject: Subject) -> Analysis:
    """A11."""
    rows = [
        (
            layer.index,
            layer.name,
            layer.kind,
            _count(own),
            work.time_ns,
            layer.work.time_ns,
            occupancy(own),
            *worked(work),
        )
        for layer, own, work in layers_with_calls(subject)
    ]
    columns = (
        *(_INDEX, _LAYER, Column("type", "type"), _CALLS, TIME, Column("layer_ns", "layer's time", kind="time_ns")),
        *(_OCCUPANCY, *WORK),
    )
    title = f"{plural_of(subject)} by layer"
    found = [
        (layer.name, work.time_ns, f"{layer.index}. {layer.name}: {spelled(TIME, work.time_ns)}", layer.kind)
        for layer, _, work in layers_with_calls(subject)
    ]
    plots = bars_in_ways(title, "time", found, "ns")
    return Analysis("A11", title, Table("calls_by_layer", title, columns, rows).without_empty(), plots)


def layers_with_calls(subject: Subject) -> list[tuple[Layer, list[Call], Work]]:
    """Layers that started something, with all of it and its sum."""
    return [
        (layer, own, added([call.work for call in own]))
        for layer in subject.layers
        if (own := subject.calls_of.get(layer.index, []))
    ]


def layer_traffic(subject: Subject) -> Analysis:
    """A12: operations, reads and writes of each layer, counted where there are counters and else from its shapes."""
    counted = [
        (layer, work)
        for layer, _, work in layers_with_calls(subject)
        if work.flops is not None and work.read_bytes is not None
    ]
    found = counted or [(layer, layer.work) for layer in subject.layers if layer.work.flops is not None]
    rows = [
        (layer.index, layer.name, layer.kind, work.flops, work.read_bytes, work.write_bytes, work.moved_bytes)
        for layer, work in found
    ]
    columns = (_INDEX, _LAYER, Column("type", "type"), FLOPS, READ, WRITE, MOVED)
    title = "Operations and bytes of each layer" + ("" if counted else ", from their shapes")
    plots = {}
    for name, unit, values in (
        ("operations", "flop", [float(work.flops or 0) for _, work in found]),
        ("reads", "byte", [float(work.read_bytes or 0) for _, work in found if work.read_bytes is not None]),
        ("writes", "byte", [float(work.write_bytes or 0) for _, work in found if work.write_bytes is not None]),
        ("bytes moved", "byte", [float(work.moved_bytes or 0) for _, work in found if work.moved_bytes is not None]),
    ):
        if len(values) == len(found) and values and any(values):
            column = FLOPS if unit == "flop" else MOVED
            marks = [
                (layer.name, value, f"{layer.index}. {layer.name} ({layer.kind}): {spelled(column, value)}", layer.kind)
                for (layer, _), value in zip(found, values, strict=True)
            ]
            ways = bars_in_ways(f"{name.capitalize()} of each layer", name, marks, unit)
            plots[name] = ways["in order"]
    left_out = len(subject.layers) - len(found)
    notes = []
    if not counted:
        notes.append("nothing was counted: these are the operations and tensors that each layer has by its shapes")
    if left_out:
        verb = "is" if left_out == 1 else "are"
        notes.append(f"{words.plural(left_out, 'layer')} of which this is not known {verb} left out")
    return Analysis("A12", title, Table("layer_traffic", title, columns, rows).without_empty(), plots, tuple(notes))


def model_aggregate(subjects: Sequence[Subject]) -> Analysis:
    """A15: all kernels of a model together, where they were counted; else all layers by their shapes."""
    rows, marks, notes = [], [], []
    for subject in subjects:
        work, what, share = whole(subject)
        calls = _count(subject.calls) if subject.calls else None
        facts = (subject.name, subject.batch_size, subject.latency_ns, calls)
        rows.append((*facts, what, work.time_ns, occupancy(subject.calls), *worked(work)))
        if share < 1:
            notes.append(
                f"{subject.name}, batch {subject.batch_size}: operations and bytes are known for "
                f"{words.percent(share)} of the time, and only that part is shown"
            )
        notes += above_roof_notes([work], "model")
        if subject.batch_size and work.flops_per_s:
            marks.append((subject.batch_size, work))
    columns = (
        Column("model", "model"),
        Column("batch_size", "batch size", kind="count"),
        Column("latency_ns", "latency, unprofiled", kind="time_ns"),
        *(_CALLS, Column("of", "of"), TIME, _OCCUPANCY, *WORK),
    )
    table = Table("model", "The model as a whole", columns, rows).without_empty()
    return Analysis("A15", "The model as a whole", table, _aggregate_plots(marks), tuple(notes))


def _aggregate_plots(marks: list[tuple[int, Work]]) -> dict[str, str]:
    """Speed over batch sizes, where there are several; else beside the machine's best."""
    if len({size for size, _ in marks}) > 1:
        marks = sorted(marks, key=lambda each: each[0])
        known = [(float(size), float(work.flops_per_s or 0)) for size, work in marks]
        scale, unit = unit_of(max(y for _, y in known), "flop/s")
        points = [(x, y / scale) for x, y in known]
        axes = Axis("batch size", log=True), Axis("speed", unit)
        return {"speed": scatter("Speed over batch size", [], *axes, [Line(points, "speed", "speed")])}
    if marks and marks[0][1].peak is not None:
        work, peak = marks[0][1], marks[0][1].peak
        reached = [
            (work.flops_per_s or 0) / peak.flops_per_s * 100,
            (work.bytes_per_s or 0) / peak.bytes_per_s * 100,
        ]
        names = ["operations in a second", "bytes in a second"]
        axis = Axis("of the machine's best", "%")
        below = [(name, share) for name, share in zip(names, reached, strict=True) if share <= 100]
        if below:  # bytes from a cache are no part of what memory gives
            bars = {"reached": [share for _, share in below]}
            return {"of the best": grouped_bars("The model and the machine's best", [n for n, _ in below], bars, axis)}
    return {}


def whole(subject: Subject) -> tuple[Work, str, float]:
    """(all that is known, of what, the share of the time that this is of)."""
    calls = [call.work for call in subject.calls]
    counted = [work for work in calls if work.flops is not None and work.moved_bytes is not None]
    if counted:
        return added(counted), plural_of(subject).lower(), known_share(calls)
    layers = [layer.work for layer in subject.layers]
    known = [work for work in layers if work.flops is not None and work.moved_bytes is not None]
    if known:
        return added(known), "layers", known_share(layers)
    works = calls or layers
    return added(works), plural_of(subject).lower() if calls else "layers", 1.0


def occupancy(calls: Sequence[Call]) -> float | None:
    """Weighted by time, over those of which it is known."""
    known = [(call.occupancy, call.work.time_ns) for call in calls if call.occupancy is not None]
    total = sum(time_ns for _, time_ns in known)
    return sum(value * time_ns for value, time_ns in known) / total if total else None


def _count(calls: Sequence[Call]) -> float:
    return sum(call.count for call in calls)


def _share(part: float, total: float) -> float:
    return part / total if total else 0.0


def _short(name: str, most: int = 60) -> str:
    """Kernels of templates have names of hundreds of letters."""
    return name if len(name) <= most else f"{name[: most - 1]}…"
