"""Watched: a model runs while somebody looks on from outside, such as a sampling profiler or a meter of power.

The worker says when each run began and ended, by the clock that the host has, too (CLOCK_MONOTONIC), so that what the
host saw meanwhile finds its run. On demand the runs are counted, each on its own; every run has a plain one before it.
"""

import gc

from ..clock import nanoseconds
from ..counters import Counters, forget_peak, memory_bytes
from ..messages import Watched
from ..predictor import NotSupported
from .traced import Bench


def watch(session, asked, buffers):
    """The answer to a request: runs [start_ns, end_ns, what was counted], nanoseconds of the plain ones, notes."""
    if session.predictor.server is not None:
        raise NotSupported("a server runs the model: what its processor does cannot be seen from here")
    bench = Bench(session, asked, buffers)
    bench.batches(True)
    if bench.tensors is None:
        raise NotSupported("the manifest's own functions run the model, so that it cannot be watched alone")
    run = bench.model.run
    notes = []
    collecting = gc.isenabled()
    gc.disable()
    try:
        if asked.counted:
            runs, without = count(run, bench.tensors, asked.runs, notes)
        else:
            runs, without = repeat(run, bench.tensors, asked.runs, int(asked.budget_s * 1e9)), []
    finally:
        if collecting:
            gc.enable()
    return Watched(runs, without, notes, session.batch_size)


def repeat(run, tensors, at_least, budget_ns):
    """So many runs, and more until the time is up: who samples needs many moments."""
    run(tensors)
    found, until = [], nanoseconds() + budget_ns
    while len(found) < at_least or nanoseconds() < until:
        start = nanoseconds()
        run(tensors)
        found.append([start, nanoseconds(), {}])
    return found


def count(run, tensors, runs, notes, open_counters=Counters):
    """Each run counted, in turns with a plain one; both have run once unseen."""
    found, without = [], []
    run(tensors)
    with open_counters() as counters:
        before = counters.read()
        for _ in range(runs):
            start = nanoseconds()
            run(tensors)
            without.append(nanoseconds() - start)
            anew = forget_peak()
            counters.start()
            start = nanoseconds()
            run(tensors)
            end = nanoseconds()
            counters.stop()
            now = counters.read()
            said = {name: value - before[name] for name, value in now.items() if name in before}
            before = now
            resident, peak = memory_bytes()
            if resident is not None:
                said["resident_bytes"] = resident
            if peak is not None and anew:
                said["peak_bytes"] = peak
            found.append([start, end, said])
        notes += told(counters)
    return found, without


def told(counters):
    """Counters that are missing, those with the same reason together; and what others leave out."""
    reasons = {}
    for name in sorted(counters.unavailable):
        reasons.setdefault(counters.unavailable[name], []).append(name.replace("_", " "))
    said = ["%s unavailable: %s" % (", ".join(names), reason) for reason, names in sorted(reasons.items())]
    if counters.user_only:
        names = ", ".join(name.replace("_", " ") for name in sorted(counters.user_only))
        said.append("%s: without what the kernel did for the model, which may not be counted here" % names)
    return said
