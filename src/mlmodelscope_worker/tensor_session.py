"""A model without anything around it: whoever asks brings the tensors that it takes and gets those that it gives."""

from .clock import nanoseconds
from .messages import Inferred
from .predictor import ModelError
from .predictor.predictor import spell_shape
from .session import open_predictor
from .stacking import aligned


class TensorSession(object):
    """A predictor that is open. One thread asks it at a time."""

    output = None

    def __init__(self, task):
        start = nanoseconds()
        self.predictor = open_predictor(task.predictor)
        self.load_ns = nanoseconds() - start
        self._held = {}

    def take(self, described, buffer):
        """A tensor that came as bytes, in aligned memory that the next one of its kind will reuse.

        The bytes themselves may not be written to, and begin anywhere: some frameworks refuse that, others copy.
        """
        import numpy as np

        name, element_type, shape = described["name"], described["element_type"], described["shape"]
        try:
            values = np.frombuffer(buffer, element_type).reshape(shape)
        except (TypeError, ValueError):
            words = (name, spell_shape(shape), element_type, len(buffer))
            raise ModelError("input `%s` would be %s of %s, and has %d bytes" % words)
        held = self._held.get(name)
        if held is None or held.shape != values.shape or held.dtype != values.dtype:
            held = self._held[name] = aligned(values.shape, values.dtype)
        held[...] = values
        return held

    def close(self):
        self.predictor.close()


def _by_name(described, buffers):
    given = {}
    for each, buffer in zip(described, buffers):
        if each["name"] in given:
            raise ModelError("input `%s` is there twice" % each["name"])
        given[each["name"]] = (each, buffer)
    return given


def infer(session, asked, buffers):
    """Tensors in, tensors out, as (Inferred, their values)."""
    import numpy as np

    predictor = session.predictor
    given = _by_name(asked.tensors, buffers)
    names = [tensor.name for tensor in predictor.inputs]
    missing = [name for name in names if name not in given]
    unknown = [name for name in given if name not in names]
    if missing or unknown:
        wrong = "input `%s` is missing" % missing[0] if missing else "the model has no input `%s`" % unknown[0]
        raise ModelError("%s; it takes %s" % (wrong, ", ".join(names)))
    tensors = [session.take(*given[name]) for name in names]
    predictor.check(tensors)
    start = nanoseconds()
    answers = predictor.run(tensors)
    run_ns = nanoseconds() - start
    told, content = [], []
    for tensor, answer in zip(predictor.outputs, answers):
        if asked.outputs and tensor.name not in asked.outputs:
            continue
        answer = np.ascontiguousarray(answer)
        if answer.dtype.kind not in "biuf":
            continue  # words and objects, which no tensor of numbers can carry
        told.append({"name": tensor.name, "element_type": answer.dtype.name, "shape": list(answer.shape)})
        content.append(answer.reshape(-1).view(np.uint8))
    return Inferred(told, run_ns), content
