"""Threads that begin together, warmed up, each with a model's call available."""

import ctypes
import itertools
import threading

from .usage import cpu_ns

_PR_SET_TIMERSLACK = 29
_START_NS = 20000000  # between the last thread's being ready and the first query


class Crew(object):
    """Runs `work(take, origin_ns)` on every lane; `take()` is the number of the next query, each given once."""

    def __init__(self, lanes, warm_up, work, clock):
        self._warm_up = warm_up
        self._work = work
        self._clock = clock
        self._take = itertools.count().__next__  # one instruction of the interpreter: no lock is needed
        self._ready = threading.Barrier(lanes, action=self._set_out)
        self._failure = None
        self._origin = self._used_ns = 0
        self._threads = [threading.Thread(target=self._run, daemon=True) for _ in range(lanes)]

    def _set_out(self):
        self._used_ns = cpu_ns()
        self._origin = self._clock() + _START_NS

    def _run(self):
        try:
            wake_punctually()
            self._warm_up()
            self._ready.wait()
            self._work(self._take, self._origin)
        except threading.BrokenBarrierError:
            pass  # another lane has failed before the start, and says why
        except BaseException as error:
            self._failure = self._failure or error
            self._ready.abort()

    def finish(self):
        """Start, wait for the end, and tell the processor time of the run; a lane's failure is the run's."""
        for thread in self._threads:
            thread.start()
        for thread in self._threads:
            thread.join()
        if self._failure is not None:
            raise self._failure
        return cpu_ns() - self._used_ns


def wake_punctually():
    """Linux lets a thread oversleep by 50 microseconds to save power, unless it asks not to; others are as they are."""
    try:
        ctypes.CDLL(None).prctl(_PR_SET_TIMERSLACK, ctypes.c_ulong(1), 0, 0, 0)
    except (OSError, AttributeError):
        pass
