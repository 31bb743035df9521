"""Single stream: one query after the other, nothing else running; the framework call alone is timed."""

import gc

from ..clock import nanoseconds

_PARTED_RUNS = 20


def measure_latency(predictor, tensors, warm_up_runs, max_runs, budget_s):
    """Raw nanoseconds of each call, after warm-up; ends at `max_runs` or when the budget is spent (at least one)."""
    run = predictor.run
    warm_up = []
    for _ in range(warm_up_runs):
        start = nanoseconds()
        run(tensors)
        warm_up.append(nanoseconds() - start)
    raw = [0] * max_runs  # allocated before, so that nothing grows inside the timed part
    done = 0
    collecting = gc.isenabled()
    gc.disable()
    try:
        deadline = nanoseconds() + int(budget_s * 1e9)
        while done < max_runs:
            start = nanoseconds()
            run(tensors)
            end = nanoseconds()
            raw[done] = end - start
            done += 1
            if end > deadline:
                break
    finally:
        if collecting:
            gc.enable()
    return warm_up, raw[:done]


def measure_parts(predictor, tensors, budget_s):
    """{part: raw nanoseconds} where a call has several parts, such as copies to a device; nothing where it has one.

    In calls of their own, after those whose latency counts: they wait between the parts, and `run` does not.
    """
    if len(predictor.parts()) < 2:
        return {}
    predictor.run_in_parts(tensors)  # the first time may take memory of its own
    raw = {}
    collecting = gc.isenabled()
    gc.disable()
    try:
        deadline = nanoseconds() + int(budget_s * 1e9)
        for _ in range(_PARTED_RUNS):
            for name, start, end in predictor.run_in_parts(tensors)[1]:
                raw.setdefault(name, []).append(end - start)
            if nanoseconds() > deadline:
                break
    finally:
        if collecting:
            gc.enable()
    return raw
