"""A reader: the outputs of a batch become the answers to its samples, in the form in which they travel.

Reading belongs to what is measured, so it runs in the stack: softmax, decoding of boxes, suppression, argmax. A reader
is made of a plan's outputs, each with steps of its own, and of steps over all of them together (`answer`).
"""

import importlib
import json
from typing import Any, Dict, NamedTuple, Tuple

from ..failure import describe_failure
from ..generation import refuse_failed
from ..output import ANSWER_STEPS, OUTPUT_STEPS
from ..output.step import Share
from ..predictor import ModelError
from ..registry import add
from ..stacking import prepared_rows

TASKS = {}
"""Readers by the name of their task; ours are imported when they are asked for."""
OURS = {
    "classification": "classification",
    "text_classification": "classification",
    "audio_classification": "classification",
    "tabular_classification": "classification",
    "object_detection": "detection",
    "semantic_segmentation": "segmentation",
    "image_enhancement": "enhancement",
    "instance_segmentation": "instances",
    "keypoint_detection": "keypoints",
    "multilabel_classification": "multilabel",
    "regression": "values",
    "tabular_regression": "values",
    "time_series_forecasting": "values",
    "text_similarity": "values",
    "anomaly_detection": "values",
    "embedding": "values",
    "recommendation": "values",
    "token_classification": "tokens",
    "question_answering": "answering",
    "translation": "texts",
    "summarization": "texts",
    "speech_recognition": "texts",
    "multiple_choice": "language",
    "language_modeling": "language",
    "text_generation": "language",
}
"""Modules by the names of their tasks."""
_ELEMENT_TYPES = ("<f8", "<f4", "<i8", "<i4", "<u2", "|u1", "|i1")
"""Those that the host can list."""


class Read(NamedTuple):
    """The answers to a batch's samples, those of failed ones left out."""

    content: Dict[str, Any]
    """What travels in the header; `form` says how to read it and the buffers."""
    buffers: Tuple[Any, ...] = ()
    failed: Dict[int, str] = {}
    """Why a sample has no answer, by its row."""


class Reader(object):
    """What every task's reader is made of. Subclasses implement `read`."""

    def __init__(self, outputs, answer):
        self.answer = answer
        self._outputs = [
            (each["role"], [(OUTPUT_STEPS[step["name"]].function, step["parameters"]) for step in each["steps"]])
            for each in outputs
        ]

    takes_rows = False
    """Whether a sample may have several rows, such as two texts that are compared."""

    def __call__(self, tensors, prepared):
        """The Read of one batch: a tensor for each declared output, and the samples as the model got them."""
        rows = sum(prepared_rows(each) for each in prepared)
        if rows != len(prepared) and not self.takes_rows:
            raise ModelError("a sample of this task is one row of the model's input, and these have several")
        values = {}
        for (role, steps), tensor in zip(self._outputs, tensors):
            tensor = self.by_sample(role, tensor, rows)
            for function, parameters in steps:
                tensor = function(tensor, **parameters)
            values.setdefault(role, []).append(tensor)
        return self._found(values, prepared)

    def seen(self, tensors, prepared, see):
        """The same; `see` gets an output's role, a step's name, and what the step made."""
        rows, values = sum(prepared_rows(each) for each in prepared), {}
        for (role, steps), tensor in zip(self._outputs, tensors):
            tensor = self.by_sample(role, tensor, rows)
            see(role, "output", tensor)
            for function, parameters in steps:
                tensor = function(tensor, **parameters)
                see(role, function.__name__, tensor)
            values.setdefault(role, []).append(tensor)
        return self._found(values, prepared)

    def _found(self, values, prepared):
        found = self.read({role: each[0] if len(each) == 1 else each for role, each in values.items()}, prepared)
        if not type(self).__module__.startswith(__package__ + "."):
            refuse_garbage(found, len(prepared))
        return found

    def by_sample(self, role, tensor, rows):
        """A tensor whose first axis is that of the samples."""
        got = tensor.shape[0] if tensor.ndim else 0
        if got != rows:
            raise ValueError("the model answered with %d rows for %d samples" % (got, rows))
        return tensor

    def read(self, values, prepared):
        """The Read of tensors by their roles, samples first."""
        raise NotImplementedError


class StepReader(Reader):
    """A reader that carries out answer steps, sample by sample. Subclasses implement `answer_of`.

    The values of a sample with several rows have an axis of them in front.
    """

    takes_rows = True

    def __init__(self, outputs, answer):
        Reader.__init__(self, outputs, answer)
        known = [ANSWER_STEPS[each["name"]] for each in answer["steps"]]
        self._calls = [(each.function, step["parameters"], each.share) for each, step in zip(known, answer["steps"])]
        self._needs_share = any(each.share for each in known)
        for each in answer["steps"]:  # a vocabulary that is garbage must be known before the first sample
            ready = getattr(ANSWER_STEPS[each["name"]], "ready", None)
            if ready is not None:
                ready(each["parameters"])

    def read(self, values, prepared):
        rows, failed, start = [], {}, 0
        whole = longest_of(prepared) if self._needs_share else None
        for row, sample in enumerate(prepared):
            count = prepared_rows(sample)
            place = slice(start, start + count) if getattr(sample, "several", False) else start
            start += count
            own = {
                role: [part[place] for part in value] if isinstance(value, list) else value[place]
                for role, value in values.items()
            }
            try:
                if "tokens" in own:
                    refuse_failed(own["tokens"])
                refuse_not_a_number(own)  # a step that drops what is not above a threshold would hide it
                share = share_of(sample, whole) if self._needs_share else None
                rows.append(self.answer_of(self.stepped(own, sample.frame, share), sample.frame))
            except Exception as error:
                failed[row] = describe_failure(error)
        return arrays_read(rows, failed)

    def stepped(self, values, frame, share=None):
        """The values of one sample when all answer steps are done; `share` is how much of its row is its own."""
        for function, parameters, needs_share in self._calls:
            values = function(values, (share or WHOLE) if needs_share else frame, **parameters)
        return values

    def answer_of(self, values, frame):
        """([(name, array)], fields) of one sample; arrays travel as they are, fields as JSON."""
        raise NotImplementedError


WHOLE = Share(1, 1)


def longest_of(prepared):
    """To which length the first input's rows are filled up in a batch; None where they are not."""
    filled = [each for each in prepared if getattr(each, "fill", None) is not None]
    return max(len(row) for each in filled for row in each.first_rows) if filled else None


def share_of(sample, whole):
    """How much of the row of a sample is its own. Of several rows nobody knows which is meant."""
    fill = getattr(sample, "fill", None)
    if fill is None or whole is None or sample.several:
        return WHOLE
    return Share(len(sample.first_rows[0]), whole, fill[1])


def refuse_not_a_number(values):
    """One score that is not a number spoils its sample: nobody knows what would have been best."""
    import numpy as np

    for value in values.values():
        for array in value if isinstance(value, list) else [value]:
            if getattr(array, "dtype", np.dtype(object)).kind == "f" and np.isnan(array).any():
                raise ModelError("the model answered with not-a-number")


def arrays_read(rows, failed):
    """The Read of answers that are made of arrays: ([(name, array)], fields) each."""
    told = [{"arrays": [describe(name, array) for name, array in arrays], "fields": fields} for arrays, fields in rows]
    content = {"form": "arrays", "answers": told} if rows else {}
    return Read(content, tuple(array for arrays, _ in rows for _, array in arrays), failed)


def refuse_garbage(found, rows):
    """What a stranger's reader gives must be what the host can read: its journal keeps it for good."""
    if not isinstance(found, Read):
        raise ModelError("the reader gave %.60r, where a Read is due" % (found,))
    if any(row not in range(rows) or not isinstance(reason, str) for row, reason in found.failed.items()):
        raise ModelError("the reader says of samples that are not in the batch that they failed")
    due = rows - len(found.failed)
    answers = found.content.get("answers", []) if isinstance(found.content, dict) else None
    if not isinstance(answers, list) or (due and found.content.get("form") != "arrays"):
        raise ModelError("the reader's answers were not made by arrays_read")
    if len(answers) != due:
        raise ModelError("the reader gave %d answers for %d samples" % (len(answers), due))
    try:
        json.dumps(found.content, allow_nan=False)
        told = [tuple(each) for answer in answers for each in answer["arrays"]]
        given = [(array.dtype.str, list(array.shape)) for array in found.buffers]
        are_told = all(isinstance(answer["fields"], dict) for answer in answers)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ModelError("the reader's answers cannot be told to the host: %s" % error)
    if not are_told or [(kind, shape) for _, kind, shape in told] != given:
        raise ModelError("the reader's answers do not describe their arrays")
    if any(kind not in _ELEMENT_TYPES for kind, _ in given):
        raise ModelError("the reader's arrays must be of %s" % ", ".join(sorted(_ELEMENT_TYPES)))


def describe(name, array):
    """Name, element type and shape of an array that travels."""
    return [name, array.dtype.str, list(array.shape)]


def task_reader(name):
    """Register a Reader as that of a task."""

    def register(reader):
        if not isinstance(reader, type) or not issubclass(reader, Reader):
            raise TypeError("%r is registered as a reader and is not a subclass of Reader" % (reader,))
        add(TASKS, name, reader)
        return reader

    return register


def reader_of(task, outputs, answer):
    """The reader that a plan's task needs."""
    if task in OURS:
        importlib.import_module("." + OURS[task], __package__)
    if task not in TASKS:
        raise ModelError("this worker cannot read the outputs of the task `%s`" % task)
    return TASKS[task](outputs, answer)
