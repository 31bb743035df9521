"""What the queries of a run are made of, ready before it begins."""

from ...failure import describe_failure
from ...predictor import Lost, ModelError
from ...stacking import aligned, alike
from ..offline import Batch
from .random_tensors import random_batches

_MOST_BYTES = 64 << 20
_MOST_BATCHES = 64


class Inputs(object):
    """Calls that take turns, each (function, its argument): a framework's call on tensors, or a whole pipeline's."""

    def __init__(self, session, samples, buffers, end_to_end, random=None):
        self.notes = []
        self._session = session
        self._buffers = buffers
        if not end_to_end and not hasattr(session, "stack"):
            self.notes.append("the manifest's own functions run the model: each query goes through all of them")
            end_to_end = True
        self.end_to_end = end_to_end
        if random is not None:
            if end_to_end:
                raise ModelError("random tensors go to the model itself: no pipeline takes them")
            batches = random_batches(session.predictor.inputs, session.batch_size, random)
            self.calls = [(session.predictor.run, batch) for batch in batches]
            session.predictor.check(self.calls[0][1])
            return
        usable, tensors = self._prepare(samples)
        size = session.batch_size
        most = max(1, min(_MOST_BATCHES, len(usable) // size))
        if end_to_end:
            answer = session.answer if hasattr(session, "answer") else self._answer
            batches = [[usable[(turn * size + slot) % len(usable)] for slot in range(size)] for turn in range(most)]
            self.calls = [(_with(answer, buffers), batch) for batch in batches]
        else:
            self.calls = []
            for turn in range(most):
                chosen = [tensors[(turn * size + slot) % len(tensors)] for slot in range(size)]
                stacked, timed = session.stack(chosen), session.timed(chosen)
                size_bytes = sum(each.nbytes for each in stacked)
                if size_bytes > _MOST_BYTES // 2:  # so large that there is only one, and no need for a copy
                    self.calls.append((timed.run, stacked))
                    break
                self.calls.append((timed.run, [_copy(each) for each in stacked]))
                if (turn + 2) * size_bytes > _MOST_BYTES:
                    break
            session.predictor.check(self.calls[0][1])

    @property
    def numbered(self):
        """What scenarios of our own call; the number of a query does not matter here."""
        return self.calls

    def lanes(self, asked, scenario):
        """How many queries may be under way."""
        return max(1, asked) if self._session.predictor.concurrent else 1

    def begin(self):
        pass

    def told(self, queries, calls_per_query=1):
        """What came of some queries beyond how long they took: nothing. (arrays, notes)"""
        return (), []

    def _prepare(self, samples):
        """The samples that go through and go together, with their tensors."""
        usable, tensors, reason = [], [], "there are none"
        for sample in samples:
            try:
                tensor = self._session.prepare(sample, self._buffers)
                if tensors and hasattr(tensor, "tensors") and not alike(tensor, tensors[0]):
                    raise ModelError("its tensor has another shape than the first sample's")
            except Lost:
                raise
            except Exception as error:
                reason = describe_failure(error)
                continue
            usable.append(sample)
            tensors.append(tensor)
        if not usable:
            raise ModelError("none of the samples can be used: %s" % reason)
        if len(usable) < len(samples):
            self.notes.append("%d samples that fail are left out: %s" % (len(samples) - len(usable), reason))
        return usable, tensors

    def _answer(self, samples, buffers):
        """A batch through a manifest's own functions."""
        batch = Batch(0, samples, buffers)
        batch.tensors = [self._session.prepare(sample, buffers) for sample in samples]
        self._session.infer(batch)
        if batch.errors:
            raise ModelError(sorted(batch.errors.items())[0][1])


def _with(answer, buffers):
    return lambda samples: answer(samples, buffers)


def _copy(tensor):
    """Memory of its own: the session's is written anew for the next batch."""
    own = aligned(tensor.shape, tensor.dtype)
    own[...] = tensor
    return own
