"""The layers of the very first call in a fresh process: nothing is warmed up, and nothing was called before."""

from ..failure import describe_failure
from ..messages import Traced
from ..predictor import Lost, ModelError, NotSupported
from .spans import Spans, add_layers


def first_call(session, asked, buffers):
    """The answer to a request for a trace that is cold: opening the model, and one call."""
    if not hasattr(session, "stack"):
        raise ModelError("the manifest's own functions run the model, so that its layers cannot be asked for")
    sample = _first_that_goes(session, asked.samples, buffers)
    tensors = session.stack([sample] * session.batch_size)
    session.predictor.check(tensors)
    try:
        profile = session.predictor.first_profile(tensors)
    except NotSupported as error:
        raise ModelError(str(error))
    spans = Spans()
    spans.add("open", "application", 0, session.load_ns, 0)
    add_layers(spans, profile)
    run = {"level": "framework", "compared": None, "spans": spans.finish(), "without_ns": []}
    return Traced([run], [], session.batch_size)


def _first_that_goes(session, samples, buffers):
    reason = "there are none"
    for sample in samples:
        try:
            return session.prepare(sample, buffers)
        except Lost:
            raise
        except Exception as error:
            reason = describe_failure(error)
    raise ModelError("none of the samples can be traced: %s" % reason)
