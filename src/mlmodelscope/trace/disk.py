"""What a model reads and writes, and what was downloaded for it: spans of the hardware level, and both in words."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from mlmodelscope.provision.progress import Transfer
from mlmodelscope.trace.merge import LeveledRun, Taken
from mlmodelscope.trace.span import Span, Trace
from mlmodelscope.trace.text import spell
from mlmodelscope_worker.disk import disk_use, files_of


def opening_run(pid: int, root: str = "/") -> LeveledRun | None:
    """What a worker read until its model was open; asked right behind that. None where the kernel does not tell."""
    used = disk_use(pid, root)
    if used is None:
        return None
    now = time.monotonic_ns()
    said = {"kind": "disk", "lane": "disk", **used, "files": files_of(pid, root)}
    spans = (
        Taken("application", "application", now, now + 1, None),
        Taken("open", "application", now, now + 1, 0),
        Taken("disk", "hardware", now, now + 1, 1, said),
    )
    return LeveledRun("hardware", spans)


def with_transfers(spans: list[Taken], transfers: Sequence[Transfer]) -> list[Taken]:
    """The timeline with what was downloaded before it, each as long as it took, one behind the other."""
    if not transfers or not spans:
        return spans
    whole = sum(each.end_ns - each.start_ns for each in transfers)
    moved = [replace(span, start_ns=span.start_ns + whole, end_ns=span.end_ns + whole) for span in spans]
    moved[0] = replace(moved[0], start_ns=moved[0].start_ns - whole)
    moment = moved[0].start_ns
    for each in transfers:
        end = moment + each.end_ns - each.start_ns
        said = {"kind": "download", "lane": "network", "received_bytes": each.size_bytes}
        moved.append(Taken(f"download {each.name}", "hardware", moment, end, 0, said))
        moment = end
    return moved


def disk_lines(trace: Trace) -> list[tuple[str, str]]:
    """Rows for a person: opening the model, a batch at the median, downloads."""
    rows = []
    names = {span.id: span.name for span in trace.at("application")}
    used: dict[str, list[Span]] = {}
    for span in trace.named("disk", "hardware"):
        used.setdefault(names.get(span.parent or "", ""), []).append(span)
    if opened := used.get("open"):
        files = int(opened[0].attributes.get("files", 0))
        rows.append(("disk", f"{_used(opened)} until the model is open, {files} files open or mapped"))
    if batches := used.get("batch"):
        rows.append(("  a batch", f"{_used(batches)}, at the median"))
    for span in trace.at("hardware"):
        if span.attributes.get("kind") == "download":
            received = _size(span.attributes["received_bytes"])
            rows.append(("network", f"{span.name}: {received} in {spell(span.duration_ns)}"))
    return rows


def _used(spans: Sequence[Span]) -> str:
    found = {
        name: median(float(span.attributes.get(name, 0)) for span in spans)
        for name in ("asked_bytes", "read_bytes", "passed_bytes", "written_bytes", "reads")
    }
    said = f"{_size(found['asked_bytes'])} read in {found['reads']:,.0f} calls"
    if found["read_bytes"]:  # which may be more: what is mapped is read without a call
        said += f", {_size(found['read_bytes'])} from a disk"
    if found["written_bytes"]:
        said += f", {_size(found['written_bytes'])} written to a disk"
    return said


def _size(number: float) -> str:
    for unit, size in (("MiB", 2**20), ("KiB", 2**10)):
        if number >= size:
            return f"{number / size:.1f} {unit}"
    return f"{number:.0f} bytes"
