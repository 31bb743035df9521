"""A batch on its way through the functions of a manifest."""

from ..stacking import alike_tensors, spell_tensor
from .watch import Watch


class Work(object):
    """A batch on its way through the stages: which samples are still good, and what must be let go."""

    def __init__(self, batch):
        self.batch = batch
        self.good = [slot for slot in range(len(batch.samples)) if slot not in batch.errors]
        self.watch = Watch()
        self._rows = {}
        self._streams = []

    def values(self):
        return [self.batch.tensors[slot] for slot in self.good]

    def fail(self, reason, slot=None):
        """One sample, or all that are left."""
        for each in list(self.good) if slot is None else [slot]:
            self.batch.errors[each] = reason
            self.good.remove(each)

    def join(self, slot, row, strict):
        """A sample's tensors join the batch; the first sample sets how many there are, their shapes and types.

        Without a framework that insists on one (`strict`), numbers of different types go together.
        """
        first = self._rows.get(self.good[0], row)
        if len(row) != len(first):
            self.fail("preprocess returned %d tensors, for others of the batch %d" % (len(row), len(first)), slot)
            return
        for have, want in zip(row, first):
            if not (alike_tensors(have, want) if strict else have.shape == want.shape):
                spelled = (spell_tensor(have), spell_tensor(want))
                self.fail("its tensor is %s, the batch has %s" % spelled, slot)
                return
        self._rows[slot] = row

    def stacked(self, ranks):
        """The batch of each input."""
        columns = zip(*(self._rows[slot] for slot in self.good))
        return [_stack(column, ranks[index] if index < len(ranks) else None) for index, column in enumerate(columns)]

    def open(self, stream):
        self._streams.append(stream)
        return stream

    def close(self):
        """Let go of what was not read to its end, the last stage first, so that its own clean-up runs now."""
        failure = None
        while self._streams:
            try:
                self._streams.pop().close()
            except Exception as error:
                failure = failure or error
        if failure is not None:
            raise failure


class Loaded(object):
    """The samples of a batch between a dataset's `load` and `unload`, which runs whatever happens in between."""

    def __init__(self, functions, numbers, work):
        self._functions, self._numbers, self._work = functions, numbers, work

    def __enter__(self):
        if self._numbers is not None and "load" in self._functions:
            self._functions.call("load", self._numbers)

    def __exit__(self, kind, error, trace):
        failures = []
        for let_go in (self._work.close, self._unload):
            try:
                let_go()
            except Exception as failure:
                failures.append(failure)
        if failures and error is None:  # else what failed first is what the user must know
            raise failures[0]

    def _unload(self):
        if self._numbers is not None and "unload" in self._functions:
            self._functions.call("unload", self._numbers)


class Prepared(object):
    """A batch that was never sent: what is measured with."""

    def __init__(self, samples, tensors):
        self.samples, self.tensors, self.errors = samples, tensors, {}


def _stack(arrays, rank=None):
    """The batch of one input. A function may give a sample with its batch axis of 1 already there."""
    import numpy as np

    has_batch_axis = rank is not None and arrays[0].ndim == rank and arrays[0].shape[0] == 1
    return np.concatenate(arrays) if has_batch_axis else np.stack(arrays)
