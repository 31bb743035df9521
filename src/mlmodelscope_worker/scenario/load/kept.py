"""What is kept of each query: nanoseconds in arrays that are there before the first query."""

from array import array


def zeros(count):
    """So many 64-bit integers, already in memory: touching a page for the first time takes a microsecond."""
    return array("q", bytes(8 * count))


class Kept(object):
    """Times of queries since the run began, in the order in which they were issued.

    `due_ns` is when a query should have been issued, `started_ns` when it was, `ended_ns` when its answer was there.
    Those that were due and got no answer are at the end, and are counted only.
    """

    def __init__(self, due_ns, started_ns, ended_ns, cpu_ns):
        count = len(ended_ns)
        done = next((place for place in range(count) if not ended_ns[place]), count)
        self.due_ns = due_ns[:done]
        self.started_ns = started_ns[:done]
        self.ended_ns = ended_ns[:done]
        self.unanswered = count - done
        self.cpu_ns = cpu_ns

    def __len__(self):
        return len(self.ended_ns)
