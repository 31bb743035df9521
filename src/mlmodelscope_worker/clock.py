"""The clock that everything is timed with: monotonic nanoseconds."""

import time


def _from_seconds():
    return int(time.perf_counter() * 1e9)


nanoseconds = getattr(time, "perf_counter_ns", _from_seconds)  # Python 3.6 has no nanosecond clock
