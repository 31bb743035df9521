"""Samples that are ready for the model, and the batches that they make."""

import threading

from .pipeline.block import InBlock
from .pipeline.value import SampleError
from .predictor.predictor import spell_shape


class Prepared(object):
    """One sample, ready for the model: for each of its rows a tensor for each input, without the batch axis.

    Nearly every sample is one row. One of `several` is two texts that are compared, or a picture seen in many crops.
    """

    __slots__ = ("values", "several", "row_count", "_first", "_rows")

    def __init__(self, values, first):
        """`values` are what steps made for each input, in the order of the model's."""
        self.values = values
        self._first = first
        if all([isinstance(each, InBlock) for each in values]):
            self._rows, counts = None, [each.row_count for each in values]
        else:
            own = [each.rows for each in values]
            self._rows, counts = list(zip(*own)), [len(each) for each in own]
        self.several = any([each.several for each in values])
        if self.several and len(set(counts)) > 1:
            raise SampleError("its inputs have %s rows" % " and ".join(map(str, counts)))
        self.row_count = counts[0]

    @property
    def rows(self):
        if self._rows is None:
            self._rows = list(zip(*[each.rows for each in self.values]))
        return self._rows

    @property
    def fills(self):
        """How shorter rows are filled up where samples share a batch: (value, side) for each input, or None."""
        return [each.fill for each in self.values]

    @property
    def tensors(self):
        """Those of its first row."""
        return self.rows[0]

    @property
    def fill(self):
        """How rows of the manifest's first input are filled up, or None."""
        return self._first.fill

    @property
    def first_rows(self):
        """Those of the manifest's first input, as long as they are by themselves."""
        return self._first.rows

    @property
    def frame(self):
        """Where the numbers of the manifest's first input lie in the sample."""
        return self._first.frame


class Stacker(object):
    """Makes batches as a framework takes them: contiguous, in memory that the next one of the same thread reuses."""

    def __init__(self, rows):
        self._rows = rows
        """How many rows a model of fixed batch size takes; None for others."""
        self._lane = threading.local()

    def __call__(self, prepared):
        """The batch of some samples. Of those with more rows than the model takes at once, the first ones."""
        return next(self.parts(prepared))[2]

    def parts(self, prepared):
        """(first row, rows, batch) of each call that is needed. The next one overwrites a batch."""
        count, fills = sum(map(prepared_rows, prepared)), prepared[0].fills
        if self._rows is None or count <= self._rows:
            blocks = [whole_block(prepared, place) for place in range(len(fills))]
            flat = rows_of(prepared) if None in blocks else None
            longest = longest_of(flat, fills) if flat else None
            yield (0, count, [self._filled(place, flat, fills, longest, block) for place, block in enumerate(blocks)])
            return
        flat = rows_of(prepared)
        longest = longest_of(flat, fills)  # the same in all calls that answer them together
        for start in range(0, count, self._rows):
            part = flat[start : start + self._rows]
            yield start, len(part), [self._filled(place, part, fills, longest) for place in range(len(fills))]

    def _filled(self, place, flat, fills, longest, block=None):
        """The batch of one input: a block as it is, or row by row."""
        if block is not None:
            count = len(block.array)
            held = self._held(place, len(fills), (self._rows or count,) + block.array.shape[1:], block.array.dtype)
            held[:count] = block.array
        else:
            count, first, fill = len(flat), flat[0][place], fills[place]
            shape = first.shape if fill is None else (longest[place],) + first.shape[1:]
            held = self._held(place, len(fills), (self._rows or count,) + shape, first.dtype)
            for row, own in enumerate(flat):
                put(held[row], own[place], fill)
        held[count:] = held[count - 1]  # what a model of fixed batch size is filled up with; those rows are dropped
        return held

    def _held(self, place, places, shape, dtype):
        every = getattr(self._lane, "held", None)
        if every is None:
            every = self._lane.held = [None] * places
        if every[place] is None or every[place].shape != shape or every[place].dtype != dtype:
            every[place] = aligned(shape, dtype)
        return every[place]


def whole_block(prepared, place):
    """The block of one input that these samples are, all of it and in its order; None where they are not."""
    block, at = getattr(prepared[0].values[place], "block", None), 0
    if block is None:
        return None
    for each in prepared:
        value = each.values[place]
        if getattr(value, "block", None) is not block or value.first != at:
            return None
        at += value.row_count
    return block if at == len(block.counts) else None


def aligned(shape, dtype):
    """Memory at a multiple of 64 bytes: TensorFlow and JAX take such arrays as they are, and copy others."""
    import numpy as np

    dtype = np.dtype(dtype)
    length = dtype.itemsize
    for size in shape:
        length *= size
    raw = np.empty(length + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + length].view(dtype).reshape(shape)


def prepared_rows(prepared):
    """How many rows a sample is; what a manifest's own functions prepare is one."""
    return getattr(prepared, "row_count", 1)


def rows_of(prepared):
    """The rows of some samples, one behind the other."""
    return [row for each in prepared for row in each.rows]


def longest_of(rows, fills):
    """To which length rows are filled up, for each input."""
    return [None if fill is None else max(len(row[place]) for row in rows) for place, fill in enumerate(fills)]


def put(target, array, fill):
    """A row's numbers in their place, filled up where they are shorter than it."""
    if fill is None or len(array) == len(target):
        target[...] = array
        return
    value, side = fill
    cut = len(target) - len(array)
    target[: cut if side == "left" else len(array)] = array if side == "right" else value
    target[cut if side == "left" else len(array) :] = array if side == "left" else value


def alike(prepared, other):
    """Whether two samples go into one batch."""
    if all([_in_one_block(*each) for each in zip(prepared.values, other.values)]):
        return True
    first = other.rows[0]
    return all(
        alike_tensors(one, two, fill) for row in prepared.rows for one, two, fill in zip(row, first, prepared.fills)
    )


def _in_one_block(value, other):
    return isinstance(value, InBlock) and getattr(other, "block", None) is value.block


def alike_tensors(tensor, other, fill=None):
    if fill is not None and tensor.ndim and other.ndim:
        return tensor.shape[1:] == other.shape[1:] and tensor.dtype == other.dtype
    return tensor.shape == other.shape and tensor.dtype == other.dtype


def spell_tensors(prepared):
    return ", ".join(map(spell_tensor, prepared.tensors))


def spell_tensor(tensor):
    return "%s %s" % (tensor.dtype.name, spell_shape(tensor.shape))
