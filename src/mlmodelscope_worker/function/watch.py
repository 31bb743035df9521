"""The time of the run stage alone."""

from ..clock import nanoseconds

_END = object()


class Watch(object):
    """Adds up the time of the run stage, also where it comes in pieces; what it waits for is not its own."""

    def __init__(self):
        self.spent_ns = 0
        self._start = None

    def __enter__(self):
        self._start = nanoseconds()

    def __exit__(self, *exception):
        self.spent_ns += nanoseconds() - self._start
        self._start = None

    def around(self, stream):
        """The items of the run stage."""
        while True:
            with self:
                try:
                    item = next(stream)
                except StopIteration:
                    return
            yield item

    def outside(self, stream):
        """The items that the run stage reads: making them is the work of the stage before."""
        while True:
            item = self._waited(stream)
            if item is _END:
                return
            yield item

    def _waited(self, stream):
        if self._start is None:  # a later stage reads what `run` handed on
            return next(stream, _END)
        self.__exit__()
        try:
            return next(stream, _END)
        finally:
            self.__enter__()
