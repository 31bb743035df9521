"""Answers on their way to the host: quick ones travel together, slow ones at once.

A message costs both ends about as much as everything else they do for an answer.
"""

from .clock import nanoseconds

_MOST_TOGETHER = 16
_LONGEST_WAIT_NS = 50000000


class Outbox(object):
    """Called with each answer in turn, and whether it is the last of all that is under way."""

    def __init__(self, channel):
        self._channel = channel
        self._held = []
        self._sent_ns = nanoseconds()

    def __call__(self, header, buffers, is_last):
        self._held.append((header, buffers))
        now = nanoseconds()
        # After a slow call the next answer may be just as long in coming: this one must not wait for it.
        waited_ns = max(now - self._sent_ns, header["run_ns"])
        if is_last or len(self._held) >= _MOST_TOGETHER or waited_ns > _LONGEST_WAIT_NS:
            answers = [dict(each, parts=len(parts)) for each, parts in self._held]
            content = [part for _, parts in self._held for part in parts]
            self._held, self._sent_ns = [], now
            self._channel.send({"do": "answers", "answers": answers}, content)
