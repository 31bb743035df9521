"""A13: how much of a layer's time its kernels account for, and how much is around them."""

from __future__ import annotations

from mlmodelscope.analysis.kernels import layers_with_calls, plural_of
from mlmodelscope.analysis.measured import Subject
from mlmodelscope.analysis.pictures import MOST_BARS, unit_of
from mlmodelscope.analysis.table import Analysis, Column, Table
from mlmodelscope.report import words
from mlmodelscope.report.plot import Axis, stacked_bars


def device_time(subject: Subject) -> Analysis:
    found = [
        (layer, own.time_ns, max(layer.work.time_ns - own.time_ns, 0.0), layer.work.time_ns - own.time_ns)
        for layer, _, own in layers_with_calls(subject)
    ]
    with_calls = {layer.index for layer, _, _, _ in found}
    found += [
        (layer, 0.0, layer.work.time_ns, layer.work.time_ns)
        for layer in subject.layers
        if layer.index not in with_calls
    ]
    found.sort(key=lambda each: each[0].index)
    on_device = subject.call_kind == "kernel"
    inside = "on the device" if on_device else f"in {plural_of(subject).lower()}"
    outside = "not on the device" if on_device else "in the layer itself"
    rows = [
        (
            *(layer.index, layer.name, layer.kind, layer.work.time_ns, spent, rest),
            spent / layer.work.time_ns if layer.work.time_ns else None,
        )
        for layer, spent, rest, _ in found
    ]
    columns = (
        *(Column("index", "#", kind="count"), Column("layer", "layer"), Column("type", "type")),
        Column("layer_ns", "layer's time", kind="time_ns"),
        Column("inside_ns", inside, kind="time_ns"),
        Column("outside_ns", outside, kind="time_ns"),
        Column("inside_share", f"share {inside}", kind="share"),
    )
    title = "Time on the device and beside it" if on_device else f"Time in {plural_of(subject).lower()} and beside them"
    shown = sorted(sorted(found, key=lambda each: -(each[1] + each[2]))[:MOST_BARS], key=lambda each: each[0].index)
    scale, unit = unit_of(max((spent + rest for _, spent, rest, _ in shown), default=1.0), "ns")
    plot = stacked_bars(
        title,
        [layer.name for layer, _, _, _ in shown],
        {inside: [spent / scale for _, spent, _, _ in shown], outside: [rest / scale for _, _, rest, _ in shown]},
        Axis("time", unit),
    )
    total, spent = sum(each[0].work.time_ns for each in found), sum(each[1] for each in found)
    notes = [f"{words.percent(spent / total) if total else 'nothing'} of the layers' time is {inside}"]
    late = [each for each in found if each[3] < 0]
    if late:
        notes.append(
            f"in {words.plural(len(late), 'layer')} the parts took longer than the layer: each level was measured in "
            "runs of its own, and what runs side by side, or while the next layer has begun, adds up to more"
        )
    table = Table("device_time", title, columns, rows)
    return Analysis("A13", title, table, {"time": plot}, tuple(notes))
