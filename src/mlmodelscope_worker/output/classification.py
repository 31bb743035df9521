"""Scores become answers: the k best classes of each sample.

Somebody must choose an order for equal scores. Ours is the same for every framework: of equal scores the class with the
lowest number comes first. What another choice would have answered is told beside the answer.
"""

from typing import Any, Dict, List, NamedTuple

from .step import OUTPUT_STEPS


class Classified(NamedTuple):
    """A batch's answers."""

    classes: Any
    """int32, samples x k."""
    scores: Any
    """float32, samples x k."""
    improbable: int
    """Samples whose scores were declared probabilities and are none."""
    ties: Dict[int, List[List[int]]]
    """By row: the further classes with exactly the score of the last one that is kept, as [first, last] runs."""


class Classification(object):
    """Turns one output tensor into top-k classes and scores, the same for every batch size."""

    def __init__(self, output):
        self._calls = [(OUTPUT_STEPS[step["name"]].function, step["parameters"]) for step in output["steps"]]
        self.top_k = output["top_k"]
        self.label_offset = output["label_offset"]
        self.probabilities = output["probabilities"]
        self._highest_first = output.get("tie_breaking") == "highest"

    def __call__(self, tensor, samples):
        """The Classified answers to so many samples.

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
        ties = {}
        for row in range(samples):
            if np.isnan(scores[row]).any():
                classes[row], best[row] = 0, np.nan
                continue
            classes[row] = top_classes(scores[row], k, self._highest_first)
            best[row] = scores[row, classes[row]]
            further = tied_classes(scores[row], classes[row])
            if further.size:
                ties[row] = runs_of(further - self.label_offset)
        return Classified(classes - np.int32(self.label_offset), best, odd, ties)

    def _count_improbable(self, scores):
        # float16 and quantised models round, so their sums miss 1 by a little; logits miss it by far
        sums = scores.sum(axis=1)
        return int(((abs(sums - 1) > 0.02) | (scores.min(axis=1) < -1e-6)).sum())


def top_classes(scores, k, highest_first=False):
    """Indices of the k largest scores, largest first; of equal scores the lower index comes first, always.

    `highest_first` is the other way round, as sorting in ascending order and reading from the end has it.
    """
    import numpy as np

    if highest_first:
        return scores.size - 1 - top_classes(scores[::-1], k)
    if scores.size > 64:
        # Not argpartition: which of several equal scores it takes is nobody's promise.
        threshold = np.partition(scores, scores.size - k)[scores.size - k]
        candidates = np.flatnonzero(scores >= threshold)
    else:
        candidates = np.arange(scores.size)
    return candidates[np.argsort(-scores[candidates], kind="mergesort")[:k]]


def tied_classes(scores, kept):
    """The classes that are not kept and have exactly the score of the last one that is."""
    import numpy as np

    if not kept.size:
        return kept
    last = scores[kept[-1]]
    if np.count_nonzero(scores >= last) == kept.size:  # nearly always, and quick to know
        return kept[:0]
    equal = np.flatnonzero(scores == last)
    return equal[~np.isin(equal, kept)]


def runs_of(numbers):
    """Ascending numbers as [first, last] runs: saturated scores tie hundreds of neighbours."""
    import numpy as np

    cuts = np.flatnonzero(np.diff(numbers) != 1) + 1
    return [[int(part[0]), int(part[-1])] for part in np.split(numbers, cuts)]
