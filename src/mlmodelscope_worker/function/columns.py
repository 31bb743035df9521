"""What a `postprocess` function returns as `return scores, classes, boxes`: a column for each output, a row a sample.

Manifests of the original system write detections so. Which column is which follows from their number and order, as that
system's pages had it.
"""

from ..failure import describe_failure
from ..functions import FunctionError
from ..pipeline.frame import Frame
from ..pipeline.header import ImageError, size
from ..task import reader_of
from ..task.reader import arrays_read

ROLES = {
    "object_detection": ("scores", "classes", "boxes"),
    "instance_segmentation": ("scores", "classes", "boxes", "masks"),
}


def columns_reader(task):
    """A reader for such answers, where the task has one; else none."""
    if task.task not in ROLES:
        return None
    return ColumnReader(reader_of(task.task, [], task.answer), ROLES[task.task])


class ColumnReader(object):
    """Reads columns sample by sample, as the outputs of a model would be."""

    def __init__(self, reader, roles):
        self._reader, self._roles = reader, roles

    def takes(self, answers):
        """Whether this is such an answer: a tuple, as `return a, b, c` makes one. A list holds answers of samples."""
        return isinstance(answers, tuple) and len(answers) == len(self._roles)

    def settle(self, work, answers):
        """(content, buffers); a sample whose rows cannot be read fails."""
        import numpy as np

        count = len(work.good)
        for role, column in zip(self._roles, answers):
            if not hasattr(column, "__len__") or len(column) != count:
                found = len(column) if hasattr(column, "__len__") else "no"
                raise FunctionError("postprocess returned %s rows of %s for %d samples" % (found, role, count))
        rows = []
        for place, slot in enumerate(list(work.good)):
            values = {role: np.asarray(column[place]) for role, column in zip(self._roles, answers)}
            try:
                frame = Frame(_original(work.batch.samples[slot]))
                rows.append(self._reader.answer_of(self._reader.stepped(values, frame), frame))
            except Exception as error:
                work.fail(describe_failure(error), slot)
        found = arrays_read(rows, {})
        return found.content, found.buffers


def _original(sample):
    """(height, width) of a sample's picture, from its file."""
    if "file" not in sample:
        raise ImageError("its size is not known, so that boxes cannot be placed on it")
    with open(sample["file"], "rb") as file:
        found = size(file.read())
    if found is None:
        raise ImageError("its size cannot be read, so that boxes cannot be placed on it")
    return found
