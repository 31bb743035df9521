"""What the analyses cost: all of them over a trace of 100,000 spans, beside a bare loop over the same spans."""

from __future__ import annotations

import time
from typing import Any

import harness

from mlmodelscope.analysis.analyse import analyse
from mlmodelscope.analysis.analyses_page import write_page
from mlmodelscope.analysis.measured import Subject
from mlmodelscope.analysis.peak import Peak
from mlmodelscope.trace.merge import Taken, number
from mlmodelscope.trace.span import Trace

GOAL_S = 5.0
CALLS = 9
PEAK = Peak(15.7e12, 900e9, 1, "cuda:0", "made up")


def make_trace(count: int) -> Trace:
    """Runs of a hundred layers with nine kernels each, all with shapes and counters."""
    spans = [Taken("application", "application", 0, 0, None)]
    moment = 0
    while len(spans) < count:
        batch = len(spans)
        spans += [Taken("batch", "application", moment, moment, 0), Taken("run", "model", moment, moment, batch)]
        for layer in range(100):
            above, length = len(spans), 2000 + 37 * (layer % 13)
            shapes = {"inputs": [[1, 64, 56, 56], [64, 64, 3, 3]], "outputs": [[1, 64, 56, 56]], "memory_bytes": 802816}
            about = {"kind": "Conv", "index": layer, "element_type": "float32", **shapes}
            spans.append(Taken(f"conv{layer}", "framework", moment, moment + length, batch + 1, about))
            for call in range(CALLS):
                at = moment + call * length // CALLS
                counted: dict[str, Any] = {"flops": 10_000 + call, "dram_read_bytes": 4096, "dram_write_bytes": 2048}
                counted |= {"kind": "kernel", "lane": "stream 7", "occupancy": 0.5}
                spans.append(Taken(f"kernel{call}", "library", at, at + length // 12, above, counted))
            moment += length
    identity = "1" * 32
    return Trace(identity, 0, number(spans, identity), (), {"batch_size": "1", **PEAK.to_resource()})


def bare_loop(trace: Trace) -> float:
    """What a script of five lines does: the time of each name, added up."""
    started = time.process_time()
    sums: dict[str, int] = {}
    for span in trace.spans:
        if span.level == "library":
            sums[span.name] = sums.get(span.name, 0) + span.measured_ns
    assert len(sums) == CALLS
    return time.process_time() - started


def all_analyses(trace: Trace) -> tuple[float, float, list[str]]:
    """(CPU seconds of the analyses, and of the page, faults)."""
    started = time.process_time()
    subject = Subject(None, trace)
    found = analyse([subject])
    analysed = time.process_time()
    write_page(found, [subject])
    written = time.process_time()
    faults = [f"{each.id} is missing: {each.why}" for each in found.missing if each.id != "A1"]
    kernels = next(each for each in found.analyses if each.id == "A10")
    if kernels.table.column("calls") != [100] * CALLS:
        faults.append("kernels by name do not add up")
    return analysed - started, written - analysed, faults


def main() -> None:
    arguments = harness.options(__doc__ or "").parse_args()
    count, rounds = (10_000, 2) if arguments.quick else (100_000, 5)
    trace = make_trace(count)
    seen = harness.interleave({"loop": lambda: bare_loop(trace), "analyses": lambda: all_analyses(trace)}, rounds)
    loops, analyses, pages = (
        seen["loop"],
        [each[0] for each in seen["analyses"]],
        [each[1] for each in seen["analyses"]],
    )
    harness.print_table(
        ("CPU seconds", "median (lowest … highest)"),
        [
            ("a bare loop", harness.spread(loops, 4)),
            ("14 analyses with their plots", harness.spread(analyses, 3)),
            ("the page", harness.spread(pages, 3)),
        ],
    )
    print()
    ratio = min(analyses) / min(loops)
    meaning = (
        f"CPU time of 14 analyses of {len(trace.spans):,} spans / a bare loop over them; "
        f"goal: <= {GOAL_S} s in all, seen {min(analyses) + min(pages):.2f} s"
    )
    results = {"spans": len(trace.spans), "loop_s": loops, "analyses_s": analyses, "page_s": pages}
    faults = [fault for each in seen["analyses"] for fault in each[2]]
    harness.finish("analyses", ratio, meaning, arguments.quick, results, faults)


if __name__ == "__main__":
    main()
