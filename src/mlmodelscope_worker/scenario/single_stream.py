"""Single stream: one query after the other, nothing else running; the framework call alone is timed."""

import gc

from ..clock import nanoseconds


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
