"""Tasks whose answers are numbers: one or several values of each sample."""

from ..output.boxes import Refused
from .reader import StepReader, task_reader

_MOST_VALUES = 1 << 24


@task_reader("recommendation")
@task_reader("time_series_forecasting")
@task_reader("tabular_regression")
@task_reader("regression")
class Values(StepReader):
    """Reads one output as the answer steps leave it: all of a sample's numbers, one behind the other."""

    element_type = "<f8"

    def answer_of(self, values, frame):
        import numpy as np

        arrays = [each for value in values.values() for each in (value if isinstance(value, list) else [value])]
        if len(arrays) != 1:
            known = ", ".join(sorted(values)) or "nothing"
            raise Refused("an answer is made of one output, there are %d (%s)" % (len(arrays), known))
        found = np.asarray(arrays[0])
        if found.dtype.kind not in "fiub":
            raise Refused("the model answered with %s, which are not numbers" % found.dtype)
        if not 0 < found.size <= _MOST_VALUES:
            raise Refused("the model answered with %d numbers, 1 to %d are allowed" % (found.size, _MOST_VALUES))
        self.check(found.size)
        with np.errstate(over="ignore"):
            found = np.ascontiguousarray(found.reshape(-1), self.element_type)
        if not np.isfinite(found).all():
            raise Refused("the model answered with not-a-number")
        return [("values", found)], {}

    def check(self, count):
        """Refuse an answer of so many numbers, where a task wants others."""


@task_reader("anomaly_detection")
@task_reader("text_similarity")
class Value(Values):
    """Reads one number of each sample."""

    def check(self, count):
        if count != 1:
            raise Refused("an answer is one number, the model gave %d: choose with a step" % count)


@task_reader("embedding")
class Vector(Values):
    """Reads a vector, which needs no more digits than the models have."""

    element_type = "<f4"
