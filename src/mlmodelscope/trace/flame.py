"""Folded stacks, one line each with its own nanoseconds: what flamegraph.pl, inferno and speedscope read."""

from __future__ import annotations

from mlmodelscope.trace.span import Trace


def write_folded(trace: Trace) -> str:
    """A span's own time is what its children leave of it; nothing where they run side by side and leave less."""
    own: dict[str, int] = {}
    path: list[str] = []
    for span, depth in trace.walk():
        path[depth:] = [span.name.replace(";", ":").replace("\n", " ")]
        below = sum(child.duration_ns for child in trace.children.get(span.id, ()) if child.lane == span.lane)
        stack = ";".join(path)
        own[stack] = own.get(stack, 0) + max(0, span.duration_ns - below)
    return "".join(f"{stack} {spent}\n" for stack, spent in own.items() if spent)
