"""What a `postprocess` function returns for tasks of texts and numbers: an answer for each sample, by role.

An answer is a dictionary such as {"spans": […]}, or the first of its roles alone: the spans, the text, the numbers.
"""

import json

from ..failure import describe_failure
from ..output.boxes import Refused
from ..pipeline.value import NOWHERE
from ..task import OURS, reader_of
from ..task.reader import arrays_read, refuse_not_a_number
from .answers import MOST_BYTES

_BY_READER = {"tokens": ("spans", "tokens"), "answering": ("text", "score"), "texts": ("text",), "values": ("values",)}
ROLES = {task: _BY_READER[reader] for task, reader in OURS.items() if reader in _BY_READER}
"""What an answer may have, by task; it must have the first."""


class RoleReader(object):
    """Reads each answer as what the steps of a model leave would be; one that cannot be read is a failed sample."""

    def __init__(self, task):
        self._reader = reader_of(task.task, [], task.answer)
        self._roles = ROLES[task.task]

    def takes(self, answers, work):
        """Whether there is one for each sample."""
        if isinstance(answers, (dict, str, bytes)) or not hasattr(answers, "__len__"):
            return False
        return len(answers) == len(work.good)

    def settle(self, work, answers):
        """(content, buffers)."""
        rows, size = [], 0
        for answer, slot in zip(list(answers), list(work.good)):
            try:
                arrays, fields = self._answer(answer)
                size += len(json.dumps(fields))
                if size > MOST_BYTES:
                    raise Refused("the answers of one batch are larger than %d MiB" % (MOST_BYTES >> 20))
                rows.append((arrays, fields))
            except Exception as error:
                work.fail("postprocess: %s" % describe_failure(error), slot)
        found = arrays_read(rows, {})
        return found.content, found.buffers

    def _answer(self, answer):
        values = dict(answer) if isinstance(answer, dict) else {self._roles[0]: answer}
        unknown = sorted(str(key) for key in values if key not in self._roles)
        if unknown or self._roles[0] not in values:
            words = (", ".join(self._roles), ", ".join(unknown or sorted(values)) or "nothing")
            raise Refused("an answer of this task is made of %s, this one has %s" % words)
        if self._roles[0] == "values":
            import numpy as np

            values = {"values": np.asarray(values["values"])}
        refuse_not_a_number(values)
        return self._reader.answer_of(self._reader.stepped(values, NOWHERE), NOWHERE)
