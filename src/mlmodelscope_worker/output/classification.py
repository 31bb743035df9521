"""Scores become answers: the k best classes of each sample."""

from .step import OUTPUT_STEPS


class Classification(object):
    """Turns one output tensor into top-k classes and scores, the same for every batch size."""

    def __init__(self, output):
        self._calls = [(OUTPUT_STEPS[step["name"]].function, step["parameters"]) for step in output["steps"]]
        self.top_k = output["top_k"]
        self.label_offset = output["label_offset"]
        self.probabilities = output["probabilities"]

    def __call__(self, tensor, samples):
        """(classes int32 [samples, k], scores float32 [samples, k], samples whose scores are no probabilities).

        One score that is not a number spoils its sample: nobody knows what would have been best.
        """
        import numpy as np

        rows = tensor.shape[0] if tensor.ndim else 0
        if rows != samples:
            raise ValueError("the model answered with %d rows for %d samples" % (rows, samples))
        scores = tensor.reshape(samples, -1)
        for function, parameters in self._calls:
            scores = function(scores, **parameters)
        scores = np.ascontiguousarray(scores, dtype=np.float32)
        odd = self._count_improbable(scores) if self.probabilities else 0
        k = min(self.top_k, scores.shape[1])
        classes = np.empty((samples, k), np.int32)
        best = np.empty((samples, k), np.float32)
        for row in range(samples):
            if np.isnan(scores[row]).any():
                classes[row], best[row] = 0, np.nan
            else:
                classes[row] = top_classes(scores[row], k)
                best[row] = scores[row, classes[row]]
        return classes - np.int32(self.label_offset), best, odd

    def _count_improbable(self, scores):
        # float16 and quantised models round, so their sums miss 1 by a little; logits miss it by far
        sums = scores.sum(axis=1)
        return int(((abs(sums - 1) > 0.02) | (scores.min(axis=1) < -1e-6)).sum())


def top_classes(scores, k):
    """Indices of the k largest scores, largest first; of equal scores the lower index comes first, always."""
    import numpy as np

    if scores.size > 64:
        threshold = np.partition(scores, scores.size - k)[scores.size - k]
        candidates = np.flatnonzero(scores >= threshold)
    else:
        candidates = np.arange(scores.size)
    return candidates[np.argsort(-scores[candidates], kind="mergesort")[:k]]
