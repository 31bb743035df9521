"""Server: queries arrive when they are due, whether or not the last ones are answered.

Arrivals stand in a schedule that is made before the run. Lanes take them in order: one that is free waits for the next
arrival, and one that comes late takes what has been due for the longest. This is a queue with as many servers as there
are lanes, without a thread that fills it: nothing but the model's own work lies between an arrival and its answer.

Latency counts from the moment a query was *due*. A load generator that waits for answers before it asks again, or that
counts from when it got round to asking, leaves out just the queries that a busy server keeps waiting
("coordinated omission").
"""

import time

from .crew import Crew
from .kept import Kept, zeros


def server(calls, lanes, warm_up, due_ns, patience_ns, clock, sleep=time.sleep):
    """Answer every arrival of a schedule, or give up `patience_ns` after the last was due."""
    count = len(due_ns)
    places = len(calls)
    started, ended = zeros(count), zeros(count)
    limit = due_ns[count - 1] + patience_ns

    def work(take, origin):
        while True:
            query = take()
            if query >= count:
                return
            due = due_ns[query]
            call, inputs = calls[query % places]
            start = clock() - origin
            while start < due:
                sleep((due - start) / 1e9)
                start = clock() - origin
            if start > limit:
                return
            call(inputs)
            end = clock() - origin
            started[query] = start
            ended[query] = end

    used = Crew(lanes, warm_up, work, clock).finish()
    return Kept(due_ns, started, ended, used)


def queue_depths(due_ns, started_ns):
    """How many queries were due and not yet begun when each one was begun, itself not counted."""
    depths = zeros(len(started_ns))
    arrived = 0
    for begun, query in enumerate(sorted(range(len(started_ns)), key=started_ns.__getitem__)):
        while arrived < len(due_ns) and due_ns[arrived] <= started_ns[query]:
            arrived += 1
        depths[query] = max(0, arrived - begun - 1)
    return depths
