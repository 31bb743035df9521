"""A step for inputs that take sizes: some detectors want to know how large the picture is, or was."""

from ..parameters import Words
from .step import step

_NUMBERS = ("height", "width", "original_height", "original_width", "scale", "scale_y", "scale_x", "one")


@step(main="numbers")
def sizes(image, *, numbers: Words("What the input takes, in this order.", *_NUMBERS)):
    """Put numbers about the picture in place of its pixels: its size after the steps so far, or that of the original.

    Scales are those from the original to the picture here; `scale` is the smaller of both.
    """
    import numpy as np

    height, width = image.size
    original_height, original_width = image.frame.original
    down, across = height / float(original_height), width / float(original_width)
    known = dict(zip(_NUMBERS, (height, width, original_height, original_width, min(down, across), down, across, 1)))
    return image.with_array(np.array([known[name] for name in numbers], np.float32)).placed(image.frame)
