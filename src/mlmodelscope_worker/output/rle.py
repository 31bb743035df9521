"""Masks as COCO's compressed run lengths, in which they travel: a million pixels take a few hundred bytes."""


def encode(top, left, part, height, width):
    """The bytes of a mask that is `part` (rows x columns of truth values) at (top, left) of a picture, else empty."""
    import numpy as np

    columns = np.zeros((part.shape[1], part.shape[0] + 2), np.int8)
    columns[:, 1:-1] = part.T
    turns = np.diff(columns, axis=1)
    column, row = np.nonzero(turns == 1)
    starts = (column + left).astype(np.int64) * height + row + top
    column, row = np.nonzero(turns == -1)
    ends = (column + left).astype(np.int64) * height + row + top
    if starts.size:  # a run that reaches the bottom goes on at the top of the next column
        apart = np.concatenate([[True], starts[1:] != ends[:-1]])
        starts, ends = starts[apart], ends[np.concatenate([apart[1:], [True]])]
    edges = np.stack([starts, ends], axis=1).ravel()
    counts = np.diff(np.concatenate([[0], edges, [height * width]]))
    return compress(counts[:-1] if counts.size > 1 and counts[-1] == 0 else counts)


def compress(counts):
    """Lengths of runs, empty ones and full ones in turn, as COCO writes them: five bits a letter, differences."""
    import numpy as np

    values = np.array(counts, np.int64)
    values[3:] -= np.asarray(counts, np.int64)[1:-2]
    letters = np.zeros((len(values), 13), np.uint8)
    is_used = np.zeros(letters.shape, bool)
    active = np.ones(len(values), bool)
    for place in range(letters.shape[1]):
        low = values & 31
        values = values >> 5
        more = np.where(low & 16, values != -1, values != 0)
        letters[:, place] = low + np.where(more, 32, 0) + 48
        is_used[:, place] = active
        active = active & more
        if not active.any():
            break
    return letters[is_used].tobytes()
