"""Samples of a training: extracted by the manifest's function, transformed by steps, augmented, and stacked."""

import numpy as np

from ..failure import describe_failure
from ..functions import FunctionError
from ..pipeline import Pipeline
from ..pipeline.image import Image
from ..pipeline.value import SampleError
from ..sample import Loader
from .augmentation import augment
from .order import source_of


class Samples(object):
    """What `training_data` or `evaluation_data` returned: by number, (input, target).

    Either two arrays (or lists) of the same length, or anything with a length whose items are pairs.
    """

    def __init__(self, name, found, steps=(), cache=False):
        self.name = name
        self._pair = isinstance(found, tuple) and len(found) == 2 and all(hasattr(each, "__len__") for each in found)
        self._found = found
        self._pipeline = Pipeline(steps) if steps else None
        self._decodes = bool(steps) and steps[0]["name"] == "decode"
        self._load = Loader()
        self._cached = {} if cache else None
        try:
            lengths = [len(each) for each in found] if self._pair else [len(found)]
        except TypeError:
            raise FunctionError(
                "`%s` returned %s: it returns two arrays, inputs and targets, or something with a length whose items "
                "are (input, target)" % (name, type(found).__name__)
            )
        if len(set(lengths)) > 1:
            raise FunctionError("`%s` returned %d inputs and %d targets" % ((name,) + tuple(lengths)))
        self.count = lengths[0]
        if not self.count:
            raise FunctionError("`%s` returned no samples" % name)

    def __call__(self, number):
        """(input, target) of one sample, transformed; the same each time."""
        if self._cached is not None and number in self._cached:
            return self._cached[number]
        value = self._read(int(number))
        if self._cached is not None:
            self._cached[number] = value
        return value

    def _read(self, number):
        try:
            found = (self._found[0][number], self._found[1][number]) if self._pair else self._found[number]
            if not isinstance(found, (tuple, list)) or len(found) != 2:
                raise SampleError("it is %s, not a pair (input, target)" % type(found).__name__)
            given, target = found
            return (self._transformed(given) if self._pipeline is not None else given), target
        except (Exception, SystemExit) as error:
            raise FunctionError("sample %d of `%s`: %s" % (number, self.name, describe_failure(error)))

    def _transformed(self, given):
        value = self._load({"file": given}, (), "image") if isinstance(given, str) else _as_image(np.asarray(given))
        if not self._decodes and not isinstance(value, Image):
            raise SampleError("this is an encoded image: `processing` must start with `decode`")
        rows = self._pipeline(value).rows
        if len(rows) != 1:
            raise SampleError("the steps made %d tensors of it" % len(rows))
        return np.asarray(rows[0])


def _as_image(array):
    """Pixels as the steps take them: height x width x channels."""
    if array.ndim == 2:
        array = array[:, :, None]
    if array.ndim != 3 or array.dtype != np.uint8:
        raise SampleError(
            "steps take pixels, uint8 of height x width or with channels last; this is %s of shape %s"
            % (array.dtype, list(array.shape))
        )
    color = {1: "GRAY", 3: "RGB"}.get(array.shape[2])
    return Image(array, color=color) if color else Image(array)


class Batches(object):
    """Batches by the numbers of their samples: read, augmented, stacked."""

    def __init__(self, samples, seed=0, augmentation=()):
        self._samples, self._seed = samples, seed
        self._augmentation = list(augmentation)

    def __call__(self, asked, mark=lambda name: None):
        """(inputs, targets, rows) of an (epoch, numbers); `mark` gets the name of each part when it is done."""
        epoch, numbers = asked
        pairs = [self._samples(number) for number in numbers]
        mark("read")
        if self._augmentation:
            pairs = [(self._augmented(epoch, number, pair[0]), pair[1]) for number, pair in zip(numbers, pairs)]
            mark("augment")
        batch = self._stacked(pairs, 0), self._stacked(pairs, 1), len(pairs)
        mark("collate")
        return batch

    def _augmented(self, epoch, number, given):
        # By sample and epoch: neither the batch nor the thread matters.
        random = source_of(self._seed, "augmentation", int(epoch), int(number))
        try:
            return augment(self._augmentation, given, random)
        except SampleError as error:
            raise FunctionError("augmentation of sample %d of `%s`: %s" % (number, self._samples.name, error))

    def _stacked(self, pairs, place):
        try:
            return stacked([each[place] for each in pairs])
        except ValueError:
            what = "targets" if place else "inputs"
            raise FunctionError("the %s of a batch of `%s` have different shapes" % (what, self._samples.name))


def stacked(values):
    """One array of several; of tuples and mappings, one for each of their parts."""
    first = values[0]
    if isinstance(first, dict):
        return {key: stacked([each[key] for each in values]) for key in first}
    if isinstance(first, (tuple, list)):
        if any(len(each) != len(first) for each in values):
            raise ValueError("different lengths")
        return tuple(stacked([each[at] for each in values]) for at in range(len(first)))
    arrays = [np.asarray(each) for each in values]
    if any(each.shape != arrays[0].shape for each in arrays):
        raise ValueError("different shapes")
    found = np.stack(arrays)
    if found.dtype == object:
        raise ValueError("no numbers")
    return found
