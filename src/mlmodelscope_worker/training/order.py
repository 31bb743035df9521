"""What is random in a training and does not depend on how it runs: the order of samples, and their augmentation.

Everything is drawn from the seed, what it is for, and the epoch; so a training that was interrupted sees the same
samples in the same order, whatever its batches and however many threads prepare them. NumPy keeps the numbers of
`RandomState` the same in all of its versions.
"""

import hashlib

import numpy as np


def source_of(seed, *words):
    """Random numbers that depend on the seed and on what they are for."""
    digest = hashlib.sha256(repr((int(seed),) + words).encode("utf-8")).digest()
    return np.random.RandomState(np.frombuffer(digest, "<u4").astype(np.uint32))


def order_of(count, seed, epoch, shuffle):
    """The numbers of all samples, in the order of this epoch."""
    return source_of(seed, "order", epoch).permutation(count) if shuffle else np.arange(count)


def batches_of(order, size, drop_last):
    """The order cut into batches; the last one may be smaller."""
    found = [order[at : at + size] for at in range(0, len(order), size)]
    return found[:-1] if drop_last and len(found) > 1 and len(found[-1]) < size else found


def steps_in_epoch(count, size, drop_last):
    whole, rest = divmod(count, size)
    return whole + (1 if rest and (not drop_last or not whole) else 0)
