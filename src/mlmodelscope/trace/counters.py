"""The counters and samples of a trace in words: each at the median of the runs that were counted."""

from __future__ import annotations

from statistics import median

from mlmodelscope.trace.disk import disk_lines
from mlmodelscope.trace.span import Span, Trace
from mlmodelscope.trace.text import spell

_PLAIN = ("page_faults", "context_switches", "cpu_migrations")


def counter_values(trace: Trace) -> dict[str, float]:
    """{name: median over the counted runs}; what was not counted is not there."""
    found: dict[str, list[float]] = {}
    for span in trace.named("counters", "hardware"):
        for name, value in span.attributes.items():
            if name not in ("measured_ns",) and isinstance(value, (int, float)):
                found.setdefault(name, []).append(value)
    return {name: median(values) for name, values in found.items()}


def counter_lines(trace: Trace) -> list[tuple[str, str]]:
    """Rows for a person: what a run did to the processor, to memory, and what it drew."""
    known = counter_values(trace)
    rows = []
    if processor := [*_processor(known)]:
        rows.append(("processor", ", ".join(processor)))
    if kernel := [f"{name.replace('_', ' ')} {known[name]:,.0f}" for name in _PLAIN if name in known]:
        clock = [f"processor time {spell(known['task_clock_ns'])}"] if "task_clock_ns" in known else []
        rows.append(("a run", ", ".join([*clock, *kernel])))
    if "resident_bytes" in known:
        most = f", {_mib(known['peak_bytes'])} at most within a run" if "peak_bytes" in known else ""
        rows.append(("memory", f"{_mib(known['resident_bytes'])} of the worker{most}"))
    rows += disk_lines(trace)
    for lane, spans in sample_lanes(trace).items():
        if spans[0].attributes["unit"] == "W":
            whole = sum(span.measured_ns for span in spans) or 1
            mean = sum(float(span.attributes["value"]) * span.measured_ns for span in spans) / whole
            rows.append((lane, f"{mean:.1f} W in the runs, of the whole device and not of the model alone"))
    return rows


def sample_lanes(trace: Trace) -> dict[str, list[Span]]:
    """Samples by what was sampled, in order."""
    lanes: dict[str, list[Span]] = {}
    for span in trace.at("hardware"):
        if span.attributes.get("kind") == "sample":
            lanes.setdefault(span.name, []).append(span)
    return lanes


def spell_sample(span: Span) -> str:
    value, unit = float(span.attributes["value"]), str(span.attributes["unit"])
    return _mib(value) if unit == "bytes" else f"{value:.1f} {unit}"


def _processor(known: dict[str, float]) -> list[str]:
    said = []
    instructions = known.get("instructions")
    if instructions:
        said.append(f"{instructions:,.0f} instructions")
        if known.get("cycles"):
            said.append(f"{instructions / known['cycles']:.2f} a cycle")
        for name in ("cache_misses", "branch_misses"):
            if name in known:
                said.append(f"{1000 * known[name] / instructions:.2f} {name.replace('_', ' ')} per thousand of them")
    elif "cycles" in known:
        said.append(f"{known['cycles']:,.0f} cycles")
    return said


def _mib(size: float) -> str:
    return f"{size / 2**20:.0f} MiB"
