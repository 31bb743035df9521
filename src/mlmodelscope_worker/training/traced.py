"""Where the time of a training step goes: some steps with nothing inside them, and some with a mark behind each part.

Both are steps of one training, in turn, so that both see the same machine. Batches are made when they are wanted: what
`prefetch` hides is visible here.
"""

import gc

from ..clock import nanoseconds
from ..messages import Traced
from ..scenario.spans import Spans


def trace_steps(loop, runs, warm_up_runs, batch_size):
    """The answer to a request: `application` has whole steps, `model` their parts."""
    loop.begin()
    batches = loop.asked_again()
    warm_up = [_whole(loop, next(batches)) for _ in range(warm_up_runs)]
    plain, spans = [], Spans()
    collecting = gc.isenabled()
    gc.disable()
    try:
        for place in range(runs):
            first_plain = place % 2 == 0  # whoever comes second finds warmer caches
            if first_plain:
                plain.append(_whole(loop, next(batches)))
            _in_parts(loop, next(batches), spans)
            if not first_plain:
                plain.append(_whole(loop, next(batches)))
    finally:
        if collecting:
            gc.enable()
    whole, cursor = Spans(), 0
    for name, durations in (("warm up", warm_up), ("batch", plain)):
        for duration in durations:
            whole.add(name, "application", cursor, cursor + duration, 0)
            cursor += duration
    levels = [
        {"level": "application", "compared": None, "spans": whole.finish()},
        {"level": "model", "compared": "batch", "spans": spans.finish()},
    ]
    return Traced(levels, ["each batch is a training step: `run` is the step itself"], batch_size)


def _whole(loop, asked):
    start = nanoseconds()
    loop.train(*loop.prepare(asked))
    return nanoseconds() - start


def _in_parts(loop, asked, spans):
    marks = [(None, nanoseconds())]
    inputs, targets, rows = loop.prepare(asked, lambda name: marks.append((name, nanoseconds())))
    loop.train(inputs, targets, rows)
    marks.append(("run", nanoseconds()))
    batch = spans.add("batch", "application", marks[0][1], marks[-1][1], 0)
    for (_, start), (name, end) in zip(marks, marks[1:]):
        spans.add(name, "model", start, end, batch)
