"""Traces for tests: small ones written by hand, and large ones made by rule."""

from mlmodelscope.provision.usage import Sample
from mlmodelscope.trace.merge import LeveledRun, Taken, merge, number
from mlmodelscope.trace.perf import Seen, symbol_spans
from mlmodelscope.trace.span import Trace, trace_id_of
from mlmodelscope.trace.watch import counter_spans

IDENTITY = trace_id_of("20260101-000000-abcdef", 0)
RESOURCE = {"model.name": "toy", "model.version": "1.0.0", "record": "20260101-000000-abcdef", "stack": "fake 1"}


def runs() -> list[LeveledRun]:
    """Two batches: undisturbed, with steps, with layers, with what these call; each level slower than the one above."""
    application = LeveledRun(
        "application",
        (
            Taken("application", "application", 0, 2100, None),
            Taken("open", "application", 0, 100, 0),
            Taken("batch", "application", 100, 1100, 0),
            Taken("batch", "application", 1100, 2100, 0),
        ),
    )
    steps, layers, calls = ([Taken("application", "application", 0, 9000, None)] for _ in range(3))
    for batch in range(2):
        at, place = 5000 * batch, len(steps)
        steps += [
            Taken("batch", "application", at, at + 1100, 0),
            Taken("decode", "model", at, at + 330, place),
            Taken("run", "model", at + 330, at + 1100, place),
        ]
        for taken, slower in ((layers, 1500), (calls, 3000)):
            place = len(taken)
            taken += [
                Taken("batch", "application", at, at + slower, 0),
                Taken("run", "model", at, at + slower, place),
                Taken("conv", "framework", at, at + slower // 2, place + 1, {"kind": "Conv", "index": 0}),
                Taken("fc", "framework", at + slower // 2, at + slower, place + 1, {"kind": "Gemm", "index": 1}),
            ]
        calls.append(Taken("gemm", "library", at + 100, at + 1400, len(calls) - 2, {"kind": "operator"}))
    return [
        application,
        LeveledRun("model", tuple(steps), "batch"),
        LeveledRun("framework", tuple(layers), "run", (700, 710)),
        LeveledRun("library", tuple(calls), "run"),
    ]


def toy() -> Trace:
    spans, overheads = merge(runs())
    return Trace(IDENTITY, 1_700_000_000_000_000_000, number(spans, IDENTITY), tuple(overheads), RESOURCE)


def watched() -> Trace:
    """The toy with counters, functions, and samples of memory and power."""
    samples = [
        Sample("memory", "bytes", 0, 40, 100 << 20),
        Sample("memory", "bytes", 40, 300, 200 << 20),
        Sample("power", "W", 0, 300, 12.5),
    ]
    counted = [[10, 110, {"instructions": 3000, "cycles": 1500, "cache_misses": 6}], [200, 260, {"page_faults": 2}]]
    seen = [Seen(at, "gemm", "libx.so") for at in (1, 2, 3)] + [Seen(14, "copy", "libc.so.6")]
    more = [
        LeveledRun("library", tuple(symbol_spans([(0, 10), (10, 20)], seen, 2)), "run"),
        LeveledRun("hardware", tuple(counter_spans(counted, samples)), "run", (100, 60)),
    ]
    spans, overheads = merge([*runs()[:3], *more])
    return Trace(IDENTITY, 1_700_000_000_000_000_000, number(spans, IDENTITY), tuple(overheads), RESOURCE)


def large(count: int) -> Trace:
    """So many spans: batches of a hundred layers with nine calls each."""
    spans = [Taken("application", "application", 0, 0, None)]
    moment = 0
    while len(spans) < count:
        batch = len(spans)
        spans += [Taken("batch", "application", moment, moment, 0), Taken("run", "model", moment, moment, batch)]
        begin = moment
        for layer in range(100):
            above, length = len(spans), 2000 + 37 * (layer % 13)
            kind = ("Conv", "Relu", "MaxPool", "Gemm")[layer % 4]
            spans.append(
                Taken(
                    f"block{layer // 10}.{kind.lower()}{layer}",
                    "framework",
                    moment,
                    moment + length,
                    batch + 1,
                    {"kind": kind, "index": layer},
                )
            )
            for call in range(9):
                at = moment + call * length // 9
                spans.append(Taken(f"aten::call{call}", "library", at, at + length // 12, above))
            moment += length
        for place, name in ((batch, "batch"), (batch + 1, "run")):
            spans[place] = Taken(name, spans[place].level, begin, moment, spans[place].parent)
    spans[0] = Taken("application", "application", 0, moment, None)
    return Trace(IDENTITY, 1_700_000_000_000_000_000, number(spans, IDENTITY), (), RESOURCE)
