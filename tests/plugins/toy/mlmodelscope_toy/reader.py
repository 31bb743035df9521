"""A reader: the output of a model becomes an answer, inside the stack."""

from mlmodelscope_worker.predictor import ModelError
from mlmodelscope_worker.task.reader import StepReader, task_reader


@task_reader("toy_counting")
class Counting(StepReader):
    def answer_of(self, values, frame):
        """([(name, array)], fields) of one sample."""
        import numpy as np

        count = np.asarray(values["count"], np.float64).reshape(-1)
        if len(count) != 1:
            raise ModelError("a count is one number, the model gave %d" % len(count))
        return [("count", count)], {}
