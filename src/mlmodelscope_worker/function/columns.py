"""What a `postprocess` function returns as `return scores, classes, boxes`: a column for each output, a row a sample.

Manifests of the original system write detections so. Which column is which follows from their number and order, as that
system's pages had it. A tuple is always columns, also where a batch has as many samples as there are outputs.
"""

from ..failure import describe_failure
from ..functions import FunctionError
from ..pipeline.frame import Frame
from ..task import reader_of
from ..task.reader import arrays_read, refuse_not_a_number
from .placing import original_of

ROLES = {
    "object_detection": ("scores", "classes", "boxes"),
    "instance_segmentation": ("scores", "classes", "boxes", "masks"),
}


class ColumnReader(object):
    """Reads columns sample by sample, as the outputs of a model would be."""

    def __init__(self, task):
        self._reader = reader_of(task.task, [], task.answer)
        self._roles = ROLES[task.task]

    def takes(self, answers, work):
        """Whether this is such an answer: a tuple, as `return a, b, c` makes one. A list holds answers of samples."""
        return isinstance(answers, tuple) and len(answers) == len(self._roles)

    def settle(self, work, answers):
        """(content, buffers); a sample whose rows cannot be read fails."""
        count = len(work.good)
        for role, column in zip(self._roles, answers):
            refuse_other_length(role, column, count)
        return settle_each(work, lambda place, frame: self._answer(place, frame, answers))

    def _answer(self, place, frame, answers):
        import numpy as np

        values = {role: np.asarray(column[place]) for role, column in zip(self._roles, answers)}
        refuse_not_a_number(values)
        return self._reader.answer_of(self._reader.stepped(values, frame), frame)


def refuse_other_length(role, column, count):
    """A column has a row for each sample."""
    if not hasattr(column, "__len__") or len(column) != count:
        found = len(column) if hasattr(column, "__len__") else "no"
        raise FunctionError("postprocess returned %s rows of %s for %d samples" % (found, role, count))


def settle_each(work, answer_of):
    """(content, buffers) of `answer_of(row, frame)` for each good sample; one that it raises for fails."""
    rows = []
    for place, slot in enumerate(list(work.good)):
        try:
            rows.append(answer_of(place, Frame(original_of(work.batch.samples[slot], work.batch.tensors[slot]))))
        except Exception as error:
            work.fail(describe_failure(error), slot)
    found = arrays_read(rows, {})
    return found.content, found.buffers
