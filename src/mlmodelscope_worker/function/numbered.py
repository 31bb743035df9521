"""What a `postprocess` function returns as `return masks, labels`: maps on which each thing has a number.

The original system's pages drew instances so: a map for each picture, and one list of classes for all numbers of the
batch, number 0 being the background. There are no scores; each thing has 1. What covers another is lost beneath it.
"""

from ..output.boxes import Refused
from ..task import reader_of
from .columns import refuse_other_length, settle_each

_MOST_THINGS = 10000


class NumberedReader(object):
    """Reads such maps as instances with masks."""

    def __init__(self, task):
        # Boxes and masks lie on the original already: of the steps, only class numbers are left to do.
        steps = [step for step in task.answer["steps"] if step["name"] == "class_ids"]
        self._reader = reader_of(task.task, [], dict(task.answer, steps=steps))

    def takes(self, answers, work):
        return isinstance(answers, tuple) and len(answers) == 2

    def settle(self, work, answers):
        """(content, buffers); a sample whose map cannot be read fails."""
        import numpy as np

        maps, labels = answers
        refuse_other_length("masks", maps, len(work.good))
        classes = np.asarray(labels)
        if classes.ndim != 1 or classes.dtype.kind not in "iuf":
            raise Refused("the labels are not a list of class numbers")
        return settle_each(work, lambda place, frame: self._answer(np.asarray(maps[place]), classes, frame))

    def _answer(self, found, classes, frame):
        values = things_of(found, classes, frame)
        return self._reader.answer_of(self._reader.stepped(values, frame), frame)


def things_of(found, classes, frame):
    """Boxes, scores, classes and masks of the numbers on a map, in pixels of the original."""
    import numpy as np

    if found.shape != tuple(frame.original):
        known = ("x".join(map(str, found.shape)), "x".join(map(str, frame.original)))
        raise Refused("the map of masks is %s, the picture %s" % known)
    numbers = [int(each) for each in np.unique(found) if each != 0]
    if len(numbers) > _MOST_THINGS:
        raise Refused("%d things are more than the %d allowed" % (len(numbers), _MOST_THINGS))
    if numbers and not 0 < min(numbers) <= max(numbers) < len(classes):
        raise Refused("the map has the number %d; there are %d labels" % (max(numbers), len(classes)))
    boxes, pasted = np.zeros((len(numbers), 4)), np.empty(len(numbers), object)
    for row, number in enumerate(numbers):
        own = found == number
        down, across = np.flatnonzero(own.any(axis=1)), np.flatnonzero(own.any(axis=0))
        top, bottom, left, right = down[0], down[-1] + 1, across[0], across[-1] + 1
        boxes[row] = left, top, right, bottom
        pasted[row] = int(top), int(left), own[top:bottom, left:right]
    return {"boxes": boxes, "scores": np.ones(len(numbers)), "classes": classes[numbers], "pasted": pasted}
