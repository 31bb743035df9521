"""What a `postprocess` function returns as a list of arrays, one for each sample: maps of classes, or pictures."""

from ..task import reader_of
from ..task.reader import refuse_not_a_number
from .columns import settle_each
from .placing import is_placeable

ROLES = {"semantic_segmentation": "masks", "image_enhancement": "image"}


class RowReader(object):
    """Reads each array as the output of a model would be: a map on the original, a picture of 0 to 255."""

    def __init__(self, task):
        self._reader = reader_of(task.task, [], task.answer)
        self._role = ROLES[task.task]

    def takes(self, answers, work):
        """Whether these are arrays of numbers for pictures; anything else is kept as JSON."""
        if isinstance(answers, (dict, str, bytes, tuple)) or not hasattr(answers, "__len__"):
            return False
        if len(answers) != len(work.good) or not _is_array(answers[0]):
            return False
        return any(is_placeable(work.batch.samples[slot], work.batch.tensors[slot]) for slot in work.good)

    def settle(self, work, answers):
        """(content, buffers); a sample whose array cannot be read fails."""
        return settle_each(work, lambda place, frame: self._answer(answers[place], frame))

    def _answer(self, answer, frame):
        import numpy as np

        values = {self._role: np.asarray(answer)}
        refuse_not_a_number(values)
        return self._reader.answer_of(self._reader.stepped(values, frame), frame)


def _is_array(answer):
    """Whether something is numbers in rows."""
    import numpy as np

    try:
        found = np.asarray(answer)
    except ValueError:  # rows of different lengths
        return False
    return found.ndim in (2, 3) and found.dtype.kind in "iufb"
