"""A9 and A14: kernels and layers under the machine's roof, which is its arithmetic or its memory."""

from __future__ import annotations

from mlmodelscope.analysis.above_roof import above_roof_notes
from mlmodelscope.analysis.columns import TIME, WORK, worked
from mlmodelscope.analysis.kernels import layers_with_calls, plural_of, whole
from mlmodelscope.analysis.measured import Subject, Work
from mlmodelscope.analysis.pictures import roof
from mlmodelscope.analysis.table import Analysis, Column, Table
from mlmodelscope.report import words

_COLUMNS = (TIME, *WORK)
_MOST_MARKS = 2000


def call_roofline(subject: Subject) -> Analysis:
    """A9: kernels whose operations and bytes were counted."""
    found = [
        (call.name, call.name, call.work) for call in subject.calls if call.work.intensity and call.work.flops_per_s
    ]
    what = plural_of(subject).lower()
    return _roofline("A9", f"Roofline of {what}", subject, found, what.removesuffix("s"))


def layer_roofline(subject: Subject) -> Analysis:
    """A14: by what their kernels counted, where they did; else by the shapes of their tensors. And the whole model."""
    counted = [
        (f"{layer.index}. {layer.name}", layer.kind, work)
        for layer, _, work in layers_with_calls(subject)
        if work.intensity and work.flops_per_s
    ]
    found = counted or [
        (f"{layer.index}. {layer.name}", layer.kind, layer.work)
        for layer in subject.layers
        if layer.work.intensity and layer.work.flops_per_s
    ]
    title = "Roofline of layers" + ("" if counted else ", by their shapes")
    total, _, _ = whole(subject)
    if total.intensity:
        found = [*found, ("all of the model", "the model", total)]
    return _roofline("A14", title, subject, found, "layer")


def _roofline(identity: str, title: str, subject: Subject, found: list[tuple[str, str, Work]], what: str) -> Analysis:
    rows = [(name, group, work.time_ns, *worked(work)) for name, group, work in found]
    table = Table("roofline", title, (Column("name", "name"), Column("group", "type"), *_COLUMNS), rows).without_empty()
    peak, plots, notes = subject.peak, {}, []
    if peak is not None:
        shown = sorted(found, key=lambda each: -each[2].time_ns)[:_MOST_MARKS]
        plots["roofline"] = roof(title, shown, peak)
        notes.append(
            f"the ridge is at {words.significant(peak.intensity)} operations for each byte; what is left of it waits "
            f"for memory, what is right of it for arithmetic ({peak.how})"
        )
        bound = [work for name, group, work in found if work.bound == "memory" and group != "the model"]
        every = [work for _, group, work in found if group != "the model"]
        time_ns = sum(work.time_ns for work in every)
        if time_ns:
            notes.append(
                f"{len(bound)} of {len(every)} are bound by memory, with "
                f"{words.percent(sum(work.time_ns for work in bound) / time_ns)} of the time"
            )
        notes += above_roof_notes(every, what)
    return Analysis(identity, title, table, plots, tuple(notes))
