"""Single stream and multi-stream: the next query is issued when the last one is answered, so nothing ever waits.

A query of the single stream is one call. One of the multi-stream is several samples that arrive together: it takes
as many calls as the batch size makes of them, and is answered when the last of them is.
"""

from itertools import cycle, islice

from .kept import Kept, zeros
from .usage import cpu_ns


def single_stream(calls, queries, budget_ns, clock):
    """Call after call, until there are so many or the time is over; at least one.

    A model leaves nothing of ours in the processor's caches, so every instruction around it is a slow one: there are
    as few as can be. Both times go onto the end of one list, which takes less than two indexed arrays and a counter;
    they are made relative to the start when all is over.
    """
    times = []
    keep = times.append
    turns = islice(cycle(calls), queries)
    used = cpu_ns()
    origin = clock()
    deadline = origin + budget_ns
    for call, inputs in turns:
        start = clock()
        call(inputs)
        end = clock()
        keep(start)
        keep(end)
        if end > deadline:
            break
    used = cpu_ns() - used
    return _kept(times[::2], times[1::2], len(times) // 2, origin, used)


def multi_stream(calls, queries, calls_per_query, budget_ns, clock):
    """The same with several calls in a query."""
    started, ended = zeros(queries), zeros(queries)
    turns = cycle(calls)
    done = 0
    used = cpu_ns()
    origin = clock()
    deadline = origin + budget_ns
    while done < queries:
        together = islice(turns, calls_per_query)
        start = clock()
        for call, inputs in together:
            call(inputs)
        end = clock()
        started[done] = start
        ended[done] = end
        done += 1
        if end > deadline:
            break
    return _kept(started, ended, done, origin, cpu_ns() - used)


def _kept(started, ended, done, origin, used_ns):
    begins, ends = zeros(done), zeros(done)
    for place in range(done):
        begins[place] = started[place] - origin
        ends[place] = ended[place] - origin
    return Kept(begins, begins, ends, used_ns)
