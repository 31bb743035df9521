"""Augmentation by name: what is changed at random in a sample of the training, drawn anew in each epoch.

An augmentation is a function `change(array, random, *, parameter: Kind(...) = default)`: pixels in, pixels of the same
shape and type out. `random` is drawn from the seed, the epoch and the sample's number, so that neither the size of a
batch nor the number of threads changes anything. Nothing here imports numpy before it runs: hosts read declarations.
"""

from ..parameters import Choice, Declaration, Integer, Number
from ..pipeline.value import SampleError
from ..registry import add

AUGMENTATIONS = {}


def augmentation(main=None):
    def register(function):
        declaration = Declaration(function, main=main)
        add(AUGMENTATIONS, declaration.name, declaration, Declaration.code)
        return function

    return register


def augment(steps, value, random):
    """A sample's input after all augmentations; the functions of the manifest are among them under their own names."""
    for step in steps:
        function = step["function"] if "function" in step else AUGMENTATIONS[step["name"]].function
        value = function(value, random, **step["parameters"])
    return value


def _pixels(value, layout):
    """(array with channels last, how to put it back)."""
    import numpy as np

    array = np.asarray(value)
    if array.ndim == 2:
        return array[:, :, None], lambda found: found[:, :, 0]
    if array.ndim != 3:
        raise SampleError("it takes pixels with or without channels, not the shape %s" % list(array.shape))
    if layout == "HWC":
        return array, lambda found: found
    return array.transpose(1, 2, 0), lambda found: found.transpose(2, 0, 1)


def _as(array, kind):
    """Numbers of the type that came in; whole ones are rounded and kept in their range."""
    import numpy as np

    if kind.kind in "iu":
        limits = np.iinfo(kind)
        return np.clip(np.rint(array), limits.min, limits.max).astype(kind)
    return array.astype(kind)


_LAYOUT = Choice("Order of the axes.", "HWC", "CHW")


@augmentation(main="chance")
def mirror(
    value, random, *, chance: Number("How often, as a share.", at_least=0, at_most=1) = 0.5, layout: _LAYOUT = "HWC"
):
    """Left and right are exchanged."""
    import numpy as np

    array, back = _pixels(value, layout)
    return np.ascontiguousarray(back(array[:, ::-1])) if random.random_sample() < chance else np.asarray(value)


@augmentation(main="most")
def shift(
    value,
    random,
    *,
    most: Integer("By how many pixels at most, each way.", at_least=1, at_most=4096) = 2,
    fill: Number("What the new pixels are.") = 0.0,
    layout: _LAYOUT = "HWC",
):
    """Moved up or down and left or right by whole pixels."""
    import numpy as np

    array, back = _pixels(value, layout)
    down, right = (int(each) for each in random.randint(-most, most + 1, 2))
    found = np.full_like(array, fill)
    height, width = array.shape[:2]
    if abs(down) < height and abs(right) < width:
        found[max(0, down) : height + min(0, down), max(0, right) : width + min(0, right)] = array[
            max(0, -down) : height - max(0, down), max(0, -right) : width - max(0, right)
        ]
    return np.ascontiguousarray(back(found))


@augmentation(main="padding")
def random_crop(
    value,
    random,
    *,
    padding: Integer("Pixels that are added at each side before.", at_least=1, at_most=4096) = 4,
    mode: Choice("What the added pixels are.", "zero", "reflect", "edge") = "zero",
    layout: _LAYOUT = "HWC",
):
    """Padded, and cut to the old size at a place by chance."""
    import numpy as np

    array, back = _pixels(value, layout)
    height, width = array.shape[:2]
    around = ((padding, padding), (padding, padding), (0, 0))
    if mode == "reflect" and padding >= min(height, width):
        raise SampleError("%d pixels of padding cannot be reflected in %d x %d" % (padding, height, width))
    padded = np.pad(array, around, {"zero": "constant", "reflect": "reflect", "edge": "edge"}[mode])
    top, left = (int(each) for each in random.randint(0, 2 * padding + 1, 2))
    return np.ascontiguousarray(back(padded[top : top + height, left : left + width]))


@augmentation(main="most")
def zoom(
    value,
    random,
    *,
    most: Number("How much larger at most, as a factor.", above=1, at_most=100) = 1.2,
    layout: _LAYOUT = "HWC",
):
    """A part by chance, enlarged to the whole size; the nearest pixel counts."""
    import numpy as np

    array, back = _pixels(value, layout)
    height, width = array.shape[:2]
    factor = 1 + random.random_sample() * (most - 1)
    places = []
    for size, start in zip((height, width), random.random_sample(2)):
        part = size / factor
        places.append(np.minimum((start * (size - part) + (np.arange(size) + 0.5) / factor).astype(int), size - 1))
    return np.ascontiguousarray(back(array[places[0]][:, places[1]]))


@augmentation(main="most")
def jitter(
    value,
    random,
    *,
    most: Number("How far brightness and contrast change at most, as a share.", above=0, at_most=1) = 0.2,
):
    """Brightness and contrast are changed."""
    import numpy as np

    array = np.asarray(value)
    light, contrast = random.uniform(1 - most, 1 + most, 2)
    wide = array.astype(np.float64)
    middle = wide.mean()
    return _as(((wide - middle) * contrast + middle) * light, array.dtype)


@augmentation(main="deviation")
def noise(value, random, *, deviation: Number("Standard deviation of what is added.", above=0)):
    """Normally distributed numbers are added."""
    import numpy as np

    array = np.asarray(value)
    return _as(array + random.normal(0, deviation, array.shape), array.dtype)


@augmentation(main="share")
def erase(
    value,
    random,
    *,
    share: Number("Side of the square, as a share of the shorter side.", above=0, at_most=1) = 0.25,
    chance: Number("How often, as a share.", at_least=0, at_most=1) = 0.5,
    fill: Number("What is put there.") = 0.0,
    layout: _LAYOUT = "HWC",
):
    """A square at a place by chance is erased."""
    import numpy as np

    array, back = _pixels(value, layout)
    found = array.copy()
    side = max(1, int(round(share * min(array.shape[:2]))))
    erased, top, left = random.random_sample(3)
    top, left = int(top * (array.shape[0] - side + 1)), int(left * (array.shape[1] - side + 1))
    if erased < chance:
        found[top : top + side, left : left + side] = fill
    return np.ascontiguousarray(back(found))
