"""Answers on their way to the host: quick ones travel together, slow ones at once.

A message costs both ends about as much as everything else they do for an answer.
"""

from .clock import nanoseconds
from .messages import Answered, fields_of

_MOST_TOGETHER = 16
_LONGEST_WAIT_NS = 50000000


class Outbox(object):
    """Called with each answer in turn, and whether it is the last of all that is under way."""

    def __init__(self, say):
        self._say = say
        self._held = []
        self._sent_ns = nanoseconds()

    def __call__(self, answer, buffers, is_last):
        self._held.append((answer, buffers))
        now = nanoseconds()
        # After a slow call the next answer may be just as long in coming: this one must not wait for it.
        waited_ns = max(now - self._sent_ns, answer.run_ns)
        if is_last or len(self._held) >= _MOST_TOGETHER or waited_ns > _LONGEST_WAIT_NS:
            answers = [fields_of(each) for each, _ in self._held]
            content = [part for _, parts in self._held for part in parts]
            message = Answered(answers, [len(parts) for _, parts in self._held])
            self._held, self._sent_ns = [], now
            self._say(message, content)
