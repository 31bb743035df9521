"""A row of a table: cells by the names of their columns, until they are numbers in the order that a model takes."""

import array as arrays

from .value import Opaque, SampleError, Tensor

MOST_COLUMNS = 65536
MOST_CHARACTERS = 1 << 20
_SHOWN = 8


class Row(Opaque):
    """`cells` are numbers, texts, and None where nothing is known. NaN stands for that only where a step says so."""

    kind, needed = "row", "`columns` chooses them, and `encode` makes numbers of texts"

    def __init__(self, cells):
        self.cells = cells

    @property
    def array(self):
        """All cells as float64, in their order."""
        import numpy as np

        try:
            made = np.frombuffer(arrays.array("d", self.cells.values()), np.float64)
        except (TypeError, OverflowError):  # a text or None; a whole number that is too large
            made = np.array([self.number(name) for name in self.cells], np.float64)
        if np.isinf(made).any():
            raise SampleError("column `%s` is infinite by now" % self._name(np.isinf(made)))
        return made

    def with_array(self, array, fresh=True):
        """These numbers in another type, each of which must hold what it was."""
        import numpy as np

        if array.shape == (len(self.cells),):
            whole = array.dtype.kind in "iu"
            lost = _wrapped(array, self.array) if whole else np.isinf(array)
            if lost.any():
                name = self._name(lost)
                words = (name, spell_cell(self.cells[name]), array.dtype.name)
                raise SampleError("column `%s` is %s, which %s cannot hold" % words)
        return Tensor(array, fresh, self.frame)

    def _name(self, chosen):
        return list(self.cells)[int(chosen.argmax())]

    def cell(self, name):
        """The cell of a column."""
        try:
            return self.cells[name]
        except KeyError:
            raise SampleError("it has no column `%s`; its columns are %s" % (name, spell_names(self.cells)))

    def number(self, name):
        """The cell of a column, which must be a number."""
        value = self.known(name)
        if value is None:
            raise SampleError("column `%s` is missing: `fill_missing` says what stands for it" % name)
        return value

    def known(self, name):
        """The cell of a column, which must be a number or missing: arithmetic leaves that as it is."""
        value = self.cell(name)
        if isinstance(value, str):
            words = (name, spell_cell(value))
            raise SampleError("column `%s` is %s where a number is due: `encode` makes numbers of texts" % words)
        return None if value is None else float(value)

    def changed(self, new):
        """The same row with other cells in place of some."""
        cells = dict(self.cells)
        cells.update(new)
        return Row(cells)


def _wrapped(array, numbers):
    """Which whole numbers are not what they were made of, nor cut off at the type's ends on purpose; NaN has none."""
    import numpy as np

    limits = np.iinfo(array.dtype)
    near = np.abs(array.astype(np.float64) - numbers) < 1  # false for NaN
    cut = ((array == limits.min) & (numbers < limits.min)) | ((array == limits.max) & (numbers > limits.max))
    return ~(near | cut)


def read_row(content):
    """A row of a sample, as the host sends it."""
    cells = content.get("cells")
    if not isinstance(cells, dict) or not cells:
        raise SampleError("it has no cells")
    if len(cells) > MOST_COLUMNS:
        raise SampleError("a row of %d columns; at most %d" % (len(cells), MOST_COLUMNS))
    odd = {}
    for name, value in cells.items():
        kind = type(value)
        if kind is float:
            if value - value != 0.0:  # NaN, or infinite
                odd[name] = _not_finite(name, value)
        elif kind is str:
            if len(value) > MOST_CHARACTERS:
                raise SampleError("column `%s` has %d characters; at most %d" % (name, len(value), MOST_CHARACTERS))
        elif kind is int:
            if value.bit_length() > 1023:
                raise SampleError("column `%s` is a whole number of %d bits" % (name, value.bit_length()))
        elif kind is bool:
            odd[name] = int(value)
        elif value is not None:
            raise SampleError("column `%s` is a %s, not a number or a text" % (name, kind.__name__))
    return Row(dict(cells, **odd) if odd else cells)


def _not_finite(name, value):
    if value != value:
        return None  # missing, by any name
    raise SampleError("column `%s` is %r, which is not a finite number" % (name, value))


def spell_cell(value):
    """A cell as its author would recognize it, cut to a line."""
    if value is None:
        return "missing"
    text = "the text %r" % value if isinstance(value, str) else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def spell_names(names):
    """Names of columns, not too many of them."""
    names = list(names)
    more = ", … (%d in all)" % len(names) if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def spelled(value):
    """What a category is known by: 1, 1.0 and the text 1 are one."""
    if value is None or isinstance(value, str):
        return value
    is_whole = value - value == 0 and int(value) == value
    return str(int(value)) if is_whole else repr(float(value))
