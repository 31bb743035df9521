"""Tensors that lie in files, as bare numbers: mapped where all of one is wanted, read a part at a time where it is
compared. Layers of a deep network are large, and a process that looks at one must not hold several."""

import os
import tempfile

_SMALL_BYTES = 1 << 16
"""What is smaller is read: a page more or less is nothing, and a file of no bytes cannot be mapped."""


def mapped(path, element_type, shape):
    """An array whose numbers stay in the file; it can be read and not written."""
    import numpy as np

    if os.path.getsize(path) < _SMALL_BYTES:
        return np.fromfile(path, element_type).reshape(shape)
    return np.asarray(np.memmap(path, element_type, "r", shape=tuple(shape)))


def set_aside(value, folder):
    """The same array in a file without a name, which is gone when the array is."""
    import numpy as np

    if value.nbytes < _SMALL_BYTES or value.dtype.kind not in "biuf":
        return value
    with tempfile.TemporaryFile(dir=folder) as file:
        np.ascontiguousarray(value).tofile(file)
        file.flush()
        return np.asarray(np.memmap(file, value.dtype, "r", shape=value.shape))


class FileTensor(object):
    """Numbers of a file that are read in parts, in order."""

    def __init__(self, path, element_type, shape):
        import numpy as np

        self.shape = tuple(shape)
        self.dtype = np.dtype(element_type)
        self.size = int(np.prod(self.shape, dtype="int64"))
        self._path = path

    def parts(self, count):
        """(place of the first number, the numbers) of so many at a time."""
        import numpy as np

        with open(self._path, "rb", buffering=0) as file:
            for start in range(0, self.size, count):
                yield start, np.fromfile(file, self.dtype, min(count, self.size - start))
