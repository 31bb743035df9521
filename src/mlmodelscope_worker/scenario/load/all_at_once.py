"""Offline: everything is there at the start; lanes take one batch after the other until all are answered."""

import time

from .crew import Crew
from .kept import Kept, zeros


def offline(calls, lanes, warm_up, batches, budget_ns, clock, sleep=time.sleep):
    """So many batches, or as many as the time allows; at least one on every lane."""
    due, started, ended = zeros(batches), zeros(batches), zeros(batches)
    places = len(calls)

    def work(take, origin):
        early = origin - clock()
        while early > 0:
            sleep(early / 1e9)
            early = origin - clock()
        while True:
            batch = take()
            if batch >= batches:
                return
            call, inputs = calls[batch % places]
            start = clock() - origin
            call(inputs)
            end = clock() - origin
            started[batch] = start
            ended[batch] = end
            if end > budget_ns:
                return

    used = Crew(lanes, warm_up, work, clock).finish()
    return Kept(due, started, ended, used)
