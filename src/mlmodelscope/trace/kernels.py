"""The kernels of a trace in a line: how many a run starts, how long the device computes, what was counted of them."""

from __future__ import annotations

from statistics import median

from mlmodelscope.trace.span import Span, Trace
from mlmodelscope.trace.text import spell


def kernels_by_run(trace: Trace) -> list[list[Span]]:
    """The kernels of each run that has some, in the order of their starts."""
    runs: dict[str, list[Span]] = {}
    above = {span.id: span for span in trace.spans}
    for span in trace.at("library"):
        if span.attributes.get("kind") == "kernel":
            owner: Span | None = span
            while owner is not None and not (owner.name == "run" and owner.level == "model"):
                owner = above.get(owner.parent) if owner.parent else None
            runs.setdefault(owner.id if owner else "", []).append(span)
    return list(runs.values())


def kernel_lines(trace: Trace) -> list[tuple[str, str]]:
    """Rows for a person; none where no kernels were seen."""
    runs = kernels_by_run(trace)
    if not runs:
        return []
    count = median(len(kernels) for kernels in runs)
    busy = median(sum(span.measured_ns for span in kernels) for kernels in runs)
    rows = [("kernels", f"{count:,.0f} a run, {spell(busy)} on the device")]
    counted = [span for span in runs[0] if "flops" in span.attributes]
    if counted:
        flops = sum(int(span.attributes["flops"]) for span in counted)
        read, written = (
            sum(int(span.attributes.get(name, 0)) for span in counted)
            for name in ("dram_read_bytes", "dram_write_bytes")
        )
        told = f"{flops / 1e9:,.4g} GFLOP, {read / 1e6:,.4g} MB read from DRAM, {written / 1e6:,.4g} MB written to it"
        rows.append(("  counted", told if len(counted) == len(runs[0]) else f"{told}, in {len(counted)} of them"))
    return rows
