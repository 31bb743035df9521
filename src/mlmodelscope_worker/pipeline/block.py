"""Rows of numbers of many samples in one array: what a step makes that takes samples together."""

import operator

from .value import Tensor


class Block(object):
    """`array` has a row for each row of the samples, filled up to the longest one; `counts` says how long each is."""

    __slots__ = ("array", "counts", "fill")

    def __init__(self, array, counts, fill):
        self.array = array
        self.counts = counts
        self.fill = fill
        """(value, side), or None where all rows are of one length."""

    @classmethod
    def of(cls, rows, fill):
        """Of lists of whole numbers."""
        import numpy as np

        counts = list(map(len, rows))
        longest = max(counts)
        if fill is not None and min(counts) < longest:
            value, side = fill
            more = [[value] * (longest - count) for count in counts]
            rows = list(map(operator.add, *((more, rows) if side == "left" else (rows, more))))
        return cls(np.array(rows, np.int64), counts, fill)

    @classmethod
    def mask(cls, lines, fill):
        """1 for each token of lines, none of which was filled up yet."""
        import numpy as np

        counts = [len(line.ids) for line in lines]
        longest = max(counts)
        if fill is None and min(counts) < longest:
            raise ValueError("rows of other lengths, and nothing fills them up")
        real = np.arange(longest) < np.array(counts)[:, None]
        if fill is not None and fill[1] == "left":
            real = real[:, ::-1]
        return cls(real.astype(np.int64), counts, fill)

    def row(self, place):
        """A row's own numbers."""
        count, row = self.counts[place], self.array[place]
        return row[len(row) - count :] if self.fill is not None and self.fill[1] == "left" else row[:count]


class InBlock(Tensor):
    """The rows of one sample in a block. They are cut out when somebody looks at this sample alone."""

    def __init__(self, block, first, row_count, source):
        self.block = block
        self.first = first
        """The number of its first row in the block."""
        self.row_count = row_count
        self._source = source
        """What it was made of, which knows its frame."""

    fresh = False  # the neighbors' numbers lie in the same array

    @property
    def several(self):
        return self._source.several

    @property
    def fill(self):
        return self.block.fill

    @property
    def frame(self):
        return self._source.frame

    @property
    def rows(self):
        return [self.block.row(self.first + place) for place in range(self.row_count)]

    @property
    def array(self):
        return self.rows if self.several else self.rows[0]

    def shared(self):
        return self
