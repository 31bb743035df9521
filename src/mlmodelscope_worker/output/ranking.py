"""The best of some scores, in one order for every framework."""


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
