"""Traces with known numbers: three layers in two runs, on a processor and on a device with counters."""

from typing import Any

from mlmodelscope.analysis.measured import Subject
from mlmodelscope.analysis.peak import Peak
from mlmodelscope.trace.merge import Taken, number
from mlmodelscope.trace.span import Trace, trace_id_of

IDENTITY = trace_id_of("20260101-000000-abcdef", 0)
PEAK = Peak(100e9, 10e9, 1, "cpu", "made up")
CONV = {"inputs": [[1, 3, 8, 8], [4, 3, 3, 3]], "outputs": [[1, 4, 6, 6]], "element_type": "float32"}
LAYERS: tuple[tuple[str, str, int, dict[str, Any]], ...] = (
    ("conv", "Conv", 6000, {**CONV, "memory_bytes": 576}),
    ("relu", "Relu", 1000, {"inputs": [[1, 4, 6, 6]], "outputs": [[1, 4, 6, 6]], "element_type": "float32"}),
    ("odd", "Mystery", 3000, {"inputs": [[1, 4]], "outputs": [[1, 4]], "element_type": "float32"}),
)
# Of each layer: name, start after the layer's, duration, counters.
KERNELS = {
    "conv": (
        ("gemm", 1000, 3000, {"flops": 60_000, "dram_read_bytes": 2000, "dram_write_bytes": 1000, "occupancy": 0.5}),
        ("gemm", 4000, 1000, {"flops": 15_000, "dram_read_bytes": 500, "dram_write_bytes": 500, "occupancy": 0.25}),
    ),
    "relu": (("relu", 500, 2000, {"flops": 144, "dram_read_bytes": 576, "dram_write_bytes": 576, "occupancy": 1.0}),),
}


def subject(level: str = "framework", peak: Peak | None = PEAK, counters: bool = True, runs: int = 2) -> Subject:
    """Two runs; every second one takes a little longer, so that the median is between."""
    spans = [Taken("application", "application", 0, 100_000 * runs, None)]
    for run in range(runs):
        at = 100_000 * run
        batch = len(spans)
        spans += [
            Taken("batch", "application", at, at + 10_000, 0),
            Taken("run", "model", at, at + 10_000, batch),
        ]
        for index, (name, kind, length, said) in enumerate(LAYERS):
            layer, late = len(spans), 100 * run
            about = {"kind": kind, "index": index, **said}
            spans.append(Taken(name, "framework", at, at + length + late, batch + 1, about))
            for kernel, start, spent, counted in KERNELS.get(name, ()) if level != "framework" else ():
                seen = {"kind": "kernel", "lane": "stream 7", **(counted if counters else {})}
                spans.append(Taken(kernel, "library", at + start, at + start + spent, layer, seen))
            at += length + late
    resource = {"model.name": "toy", "model.version": "1.0.0", "batch_size": "1", "stack": "fake 1"}
    resource |= peak.to_resource() if peak else {}
    return Subject(None, Trace(IDENTITY, 1_700_000_000_000_000_000, number(spans, IDENTITY), (), resource))


def nested() -> Subject:
    """Operators inside operators, as PyTorch shows them on a processor."""
    spans = [
        Taken("application", "application", 0, 1000, None),
        Taken("batch", "application", 0, 1000, 0),
        Taken("run", "model", 0, 1000, 1),
        Taken("linear", "framework", 0, 900, 2, {"kind": "aten::linear", "index": 0}),
        Taken("addmm", "library", 100, 800, 3, {"kind": "operator"}),
        Taken("copy", "library", 200, 300, 4, {"kind": "operator"}),
    ]
    return Subject(None, Trace(IDENTITY, 0, number(spans, IDENTITY), (), {"batch_size": "1"}))
