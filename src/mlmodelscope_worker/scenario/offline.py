"""Offline: all samples are available; a crew of threads does what is next, from the file to the answer.

    batches in -> [crew: load and prepare a sample | stack and predict a batch that is ready] -> answers out, in order

A thread that prepares the last sample of a batch predicts it at once, while the tensors are still in its caches:
nothing is handed over, and no thread wakes another for it. `lanes` limits how many predict side by side; the others
prepare ahead of them. A batch always holds the same samples, so an answer never depends on how many threads there
are. Nothing queues up without bound: the host sends a new batch only when an answer has come back.
"""

import collections
import threading

from ..failure import describe_failure
from ..pipeline.together import Failed, Together

_AHEAD_PER_LANE = 2  # prepared batches that may wait for a lane


class Batch(object):
    def __init__(self, index, samples, buffers):
        self.index = index
        self.turn = 0
        self.samples = samples
        self.buffers = buffers
        self.tensors = [None] * len(samples)
        self.errors = {}
        self.preparing = len(samples)


class Offline(object):
    """Runs batches through prepare (sample -> array) and infer (batch -> an answer and its buffers).

    `emit` gets the answers in order, each with whether it is the last of all that is under way. Where `prepare_all`
    takes many samples for less work, a thread prepares up to `together` of a batch in one go.
    """

    def __init__(self, prepare, infer, emit, threads, lanes, prepare_all=None, together=1):
        self._prepare = prepare
        self._prepare_all = prepare_all
        self._together = together
        self._infer = infer
        self._emit = emit
        self._to_prepare = collections.deque()
        self._to_infer = collections.deque()
        self._free_lanes = lanes
        self._ahead = _AHEAD_PER_LANE * lanes
        self._closing = False
        self._change = threading.Condition(threading.Lock())
        self._submitted = 0
        self._waiting = {}
        self._next = 0
        self._emitting = threading.Lock()
        self._crew = [threading.Thread(target=self._work, daemon=True) for _ in range(threads)]
        for thread in self._crew:
            thread.start()

    def submit(self, batches):
        with self._change:
            for batch in batches:
                batch.turn = self._submitted
                self._submitted += 1
                slots = range(len(batch.samples))
                pieces = range(0, len(slots), self._together)
                self._to_prepare.extend((batch, slots[start : start + self._together]) for start in pieces)
                if not batch.samples:
                    self._to_infer.append(batch)
            self._change.notify_all()

    def finish(self):
        """Let everything submitted come out, then stop the threads."""
        with self._change:
            self._closing = True
            self._change.notify_all()
        for thread in self._crew:
            thread.join()

    def _work(self):
        for batch, slots in iter(self._take, None):
            if slots is None or self._is_ready_after(batch, slots):
                self._answer(batch)

    def _take(self):
        """What is next: (batch, None) to predict, (batch, slots) to prepare, or None when all is done."""
        with self._change:
            while True:
                if self._to_infer and self._free_lanes:
                    self._free_lanes -= 1
                    self._change.notify()  # there is room to prepare again
                    return self._to_infer.popleft(), None
                if self._to_prepare and len(self._to_infer) <= self._ahead:
                    return self._to_prepare.popleft()
                if self._closing and not self._to_prepare and not self._to_infer:
                    return None
                self._change.wait()

    def _is_ready_after(self, batch, slots):
        """Prepare samples; whether their batch is complete now and this thread may predict it at once."""
        for slot, found in zip(slots, self._prepared([batch.samples[slot] for slot in slots], batch.buffers)):
            if isinstance(found, Failed):
                batch.errors[slot] = describe_failure(found.error)
            else:
                batch.tensors[slot] = found
        with self._change:
            batch.preparing -= len(slots)
            if batch.preparing:
                return False
            if not self._free_lanes:
                self._to_infer.append(batch)
                return False
            self._free_lanes -= 1
            return True

    def _prepared(self, samples, buffers):
        """Each prepared, or a Failed in its place: without this thread the host would wait for ever."""
        if self._prepare_all is not None:
            try:
                return self._prepare_all(samples, buffers)
            except BaseException as error:
                return [Failed(error)] * len(samples)
        return Together(samples).each(lambda sample: self._prepare(sample, buffers)).listed()

    def _answer(self, batch):
        answer = self._infer(batch)
        with self._change:
            self._free_lanes += 1
            if self._to_infer or self._closing:
                self._change.notify_all()
        with self._emitting:
            self._waiting[batch.turn] = answer
            while self._next in self._waiting:
                answer, buffers = self._waiting.pop(self._next)
                self._next += 1
                self._emit(answer, buffers, self._next == self._submitted)
