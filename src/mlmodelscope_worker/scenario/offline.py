"""Offline: all samples are at hand; decode and steps run on several threads ahead of the predictor.

    batches in -> [preparing threads: load, steps] -> [lanes: stack, predict, answer] -> answers out, in order

A batch always holds the same samples, so an answer never depends on how many threads there are. Nothing queues up
without bound: the host sends a new batch only when an answer has come back.
"""

import queue
import threading

from ..pipeline.header import ImageError
from ..predictor import ModelError

_STOP = object()


class Batch(object):
    def __init__(self, index, samples, buffers):
        self.index = index
        self.turn = 0
        self.samples = samples
        self.buffers = buffers
        self.tensors = [None] * len(samples)
        self.errors = {}
        self.preparing = len(samples)
        self.lock = threading.Lock()


class Offline(object):
    """Runs batches through prepare (sample -> array), infer (arrays -> answer) and hands answers to `emit` in order."""

    def __init__(self, prepare, infer, emit, preparing_threads, lanes):
        self._prepare = prepare
        self._infer = infer
        self._emit = emit
        self._to_prepare = queue.Queue()
        self._to_infer = queue.Queue()
        self._submitted = 0
        self._waiting = {}
        self._next = 0
        self._emit_lock = threading.Lock()
        self._preparers = self._start(self._prepare_loop, preparing_threads)
        self._lanes = self._start(self._infer_loop, lanes)

    def _start(self, target, count):
        threads = [threading.Thread(target=target, daemon=True) for _ in range(count)]
        for thread in threads:
            thread.start()
        return threads

    def submit(self, batch):
        batch.turn = self._submitted
        self._submitted += 1
        if not batch.samples:
            self._to_infer.put(batch)
        for slot in range(len(batch.samples)):
            self._to_prepare.put((batch, slot))

    def finish(self):
        """Let everything submitted come out, then stop the threads."""
        for stage, threads in ((self._to_prepare, self._preparers), (self._to_infer, self._lanes)):
            for _ in threads:
                stage.put(_STOP)
            for thread in threads:
                thread.join()

    def _prepare_loop(self):
        for batch, slot in iter(self._to_prepare.get, _STOP):
            try:
                batch.tensors[slot] = self._prepare(batch.samples[slot], batch.buffers)
            except BaseException as error:  # even an exit: without this thread the host would wait for ever
                batch.errors[slot] = describe_failure(error)
            with batch.lock:
                batch.preparing -= 1
                ready = batch.preparing == 0
            if ready:
                self._to_infer.put(batch)

    def _infer_loop(self):
        for batch in iter(self._to_infer.get, _STOP):
            answer = self._infer(batch)
            with self._emit_lock:
                self._waiting[batch.turn] = answer
                while self._next in self._waiting:
                    self._emit(*self._waiting.pop(self._next))
                    self._next += 1


def describe_failure(error):
    """One line on why a sample failed. Foreseen reasons speak for themselves, others name their exception."""
    if isinstance(error, (ImageError, ModelError)):
        return str(error)
    return "%s: %s" % (type(error).__name__, str(error).split("\n")[0])
