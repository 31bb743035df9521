"""Multi-label classification: how probable each class is, by itself."""

from .reader import Read, Reader, describe, task_reader


@task_reader("multilabel_classification")
class Multilabel(Reader):
    """Reads one output: a probability for each class."""

    def read(self, values, prepared):
        import numpy as np

        (scores,) = values.values()
        scores = np.asarray(scores).reshape(len(prepared), -1)
        offset = self.answer["label_offset"]
        told, buffers, failed = [], [], {}
        for row in range(len(scores)):
            own = np.ascontiguousarray(scores[row, max(0, offset) :], np.float32)
            if not np.isfinite(own).all():
                failed[row] = "the model answered with not-a-number"
            elif own.size and (own.min() < -1e-6 or own.max() > 1 + 1e-6):
                failed[row] = "the scores are not probabilities: add `sigmoid` to the output's processing"
            else:
                told.append({"arrays": [describe("scores", own)], "fields": {}})
                buffers.append(own)
        return Read({"form": "arrays", "answers": told}, tuple(buffers), failed)
