"""A session without a model: the answers were recorded, and only have to be read."""

import os

from .clock import nanoseconds
from .failure import describe_failure
from .messages import BatchAnswer, VariantAnswer
from .output.boxes import Refused
from .pipeline.value import NOWHERE
from .predictor import ModelError
from .session import errors_of, open_predictor
from .task import reader_of
from .task.reader import StepReader, arrays_read


def _text(recorded):
    """A text, or a number as it was written; what has parts is no text, however Python would print it."""
    if isinstance(recorded, (list, dict, bool)):
        raise Refused("the recorded answer %.40r is not a text" % (recorded,))
    return "" if recorded is None else str(recorded)


def _number(recorded):
    """Python reads `1_000` as 1000; nobody else does."""
    if isinstance(recorded, str) and "_" in recorded:
        raise ValueError(recorded)
    return float(recorded)


class RecordedSession(object):
    """Looks answers up by the names of samples."""

    output = None

    def __init__(self, task):
        start = nanoseconds()
        self.batch_size = task.batch_size
        self.predictor = open_predictor(task.predictor)
        self._reader = reader_of(task.task, [], task.answer)
        if not isinstance(self._reader, StepReader):
            raise ModelError("recorded answers of the task `%s` cannot be read" % task.task)
        names = task.inputs[0]["layer_name"] if task.inputs else 0
        answers = task.outputs[0]["layer_name"]
        self._role = task.outputs[0]["role"]
        self._known = self.predictor.by_sample(0 if names is None else names, 1 if answers is None else answers)
        own = (task.outputs, task.answer)
        self.missing = {
            each["id"]: "what was recorded cannot be read otherwise"
            for each in task.variants
            if (each["outputs"], each["answer"]) != own
        }
        self.active = {each["id"] for each in task.variants} - set(self.missing)
        self.load_ns = nanoseconds() - start

    def prepare(self, sample, buffers):
        """The recorded answer: by the sample's whole name, or that of its file."""
        name = sample["id"]
        for each in (name, name.rpartition("/")[2], os.path.splitext(name.rpartition("/")[2])[0]):
            if each in self._known:
                return self._known[each]
        raise Refused("there is no recorded answer for it")

    def infer(self, batch):
        """A batch's answer; variants of a plan, which score it otherwise, have the same one."""
        rows = []
        for slot, recorded in enumerate(batch.tensors):
            if slot in batch.errors:
                continue
            try:
                values = self._reader.stepped(self._values(recorded), NOWHERE)
                rows.append(self._reader.answer_of(values, NOWHERE))
            except Exception as error:
                batch.errors[slot] = describe_failure(error)
        read, errors = arrays_read(rows, {}), errors_of(batch)
        if not self.active:
            return BatchAnswer(batch.index, errors, 0, read.content), read.buffers
        told = [{"content": read.content, "buffers": len(read.buffers)}] if rows else []
        each = {"group": 0 if rows else None, "errors": errors}
        return VariantAnswer(batch.index, 0, told, 0, dict.fromkeys(sorted(self.active), each)), read.buffers

    def _values(self, recorded):
        """What the task's reader takes: a text, spans, or numbers."""
        import numpy as np

        if self._role == "text":
            return {"text": _text(recorded)}
        if self._role in ("general", "spans") and isinstance(recorded, list):
            return {"spans": recorded}
        numbers = recorded if isinstance(recorded, list) else [recorded]
        try:
            return {self._role: np.array([_number(each) for each in numbers])}
        except (TypeError, ValueError, OverflowError):
            raise Refused("the recorded answer %.40r is not a number" % (recorded,))

    def measure(self, samples, warm_up_runs, most, budget_s):
        """Nothing ran, so nothing took any time."""
        return [], []

    def close(self):
        self.predictor.close()
