"""Asked: some samples that somebody waits for, with the time that each stage of them took.

The stages of a sample are its own (load, each step) and those of the batch that it is in (collate, run, post). The
clock is read once at the end of each, so the answers are those of any other batch.
"""

from contextlib import contextmanager

from ..clock import nanoseconds
from ..failure import describe_failure
from ..messages import AskedFor
from .offline import Batch


def answer(session, samples, buffers):
    """(AskedFor, buffers): the answer to a batch, with what each of its samples took."""
    batch = Batch(0, samples, buffers)
    own = [_prepare(session, batch, slot) for slot in range(len(batch.samples))]
    watch, predictor = _Stages(), session.predictor
    is_declared = hasattr(session, "prepare_in_steps")
    run = predictor.run if hasattr(predictor, "run") else None

    def watched(tensors):
        watch.mark("collate" if is_declared else "preprocess")
        outputs = run(tensors)
        watch.mark("run")
        return outputs

    if run is not None:
        predictor.run = watched
    try:
        with _decoding(session, watch):
            found, content = session.infer(batch)
    finally:
        if run is not None:
            del predictor.run
    watch.mark(("post" if is_declared else "postprocess") if watch.rows else "answer")
    stages = [each if slot in batch.errors else each + watch.rows for slot, each in enumerate(own)]
    return AskedFor(found, stages), content


def _prepare(session, batch, slot):
    """The stages of one sample; one that fails is a failed sample, with the stages that it got through."""
    watch = _Stages()
    try:
        if hasattr(session, "prepare_in_steps"):
            tensor = session.prepare_in_steps(batch.samples[slot], batch.buffers, watch.mark)
        else:
            tensor = session.prepare(batch.samples[slot], batch.buffers)
            watch.mark("load")
        batch.tensors[slot] = tensor
    except Exception as error:
        batch.errors[slot] = describe_failure(error)
    return watch.rows


@contextmanager
def _decoding(session, watch):
    """A decoder is a stage of its own, however often it is called; it may be the model itself."""
    generator, predictor = getattr(session, "generator", None), session.predictor
    if generator is None:
        yield
        return
    decode, watched = generator.decode, predictor.run

    def as_one(*given):
        del predictor.run
        try:
            return decode(*given)
        finally:
            predictor.run = watched
            watch.mark("generate")

    generator.decode = as_one
    try:
        yield
    finally:
        del generator.decode


class _Stages(object):
    def __init__(self):
        self.rows = []
        self._last = nanoseconds()

    def mark(self, name):
        now = nanoseconds()
        self.rows.append([name, now - self._last])
        self._last = now
