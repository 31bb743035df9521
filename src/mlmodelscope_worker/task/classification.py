"""Scores become answers: the k best classes of each sample.

Somebody must choose an order for equal scores. Ours is the same for every framework: of equal scores the class with the
lowest number comes first. What another choice would have answered is told beside the answer.
"""

from ..output.ranking import runs_of, tied_classes, top_classes
from .reader import Read, Reader, task_reader

FORM = "classes"
"""Buffers: classes (int32) and scores (float32), samples x k. Content: k; `improbable`, how many samples have scores
that were declared probabilities and are none; `ties`, by row the further classes with exactly the score of the last,
as [first, last] runs."""


@task_reader("tabular_classification")
@task_reader("audio_classification")
@task_reader("text_classification")
@task_reader("classification")
class Classification(Reader):
    """Turns one output tensor into top-k classes and scores, the same for every batch size."""

    def __init__(self, outputs, answer):
        Reader.__init__(self, outputs, answer)
        self.top_k = answer["top_k"]
        self.label_offset = answer["label_offset"]
        self.probabilities = answer["probabilities"]
        self._highest_first = answer.get("tie_breaking") == "highest"

    def __call__(self, tensors, prepared):
        """Scores have one axis of classes, whatever shape the model gives them."""
        return Reader.__call__(self, _flat(tensors), prepared)

    def seen(self, tensors, prepared, see):
        return Reader.seen(self, _flat(tensors), prepared, see)

    def read(self, values, prepared):
        """One score that is not a number spoils its sample: nobody knows what would have been best."""
        import numpy as np

        (scores,) = values.values()
        scores = np.ascontiguousarray(scores, dtype=np.float32)
        samples = scores.shape[0]
        odd = self._count_improbable(scores) if self.probabilities else 0
        k = min(self.top_k, scores.shape[1])
        classes = np.empty((samples, k), np.int32)
        best = np.empty((samples, k), np.float32)
        ties, failed = {}, {}
        for row in range(samples):
            if np.isnan(scores[row]).any():
                failed[row] = "the model answered with not-a-number"
                continue
            classes[row] = top_classes(scores[row], k, self._highest_first)
            best[row] = scores[row, classes[row]]
            further = tied_classes(scores[row], classes[row])
            if further.size:
                ties[str(row - len(failed))] = runs_of(further - self.label_offset)
        if failed:
            kept = [row for row in range(samples) if row not in failed]
            classes, best = classes[kept], best[kept]
        content = {"form": FORM, "k": k, "improbable": odd, "ties": ties}
        return Read(content, (classes - np.int32(self.label_offset), best), failed)

    def _count_improbable(self, scores):
        # float16 and quantised models round, so their sums miss 1 by a little; logits miss it by far
        sums = scores.sum(axis=1)
        return int(((abs(sums - 1) > 0.02) | (scores.min(axis=1) < -1e-6)).sum())


def _flat(tensors):
    return [tensor.reshape(tensor.shape[0], -1) if tensor.ndim else tensor for tensor in tensors]
