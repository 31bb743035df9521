"""How large the picture of a sample is, for answers that lie on it: a function does not say what it did to it."""

from ..pipeline.header import ImageError, size


def original_of(sample, value):
    """(height, width) of a sample's picture; `value` is what the functions got for it."""
    if hasattr(value, "frame"):  # our own steps prepared it
        return value.frame.original
    if "file" in sample:
        with open(sample["file"], "rb") as file:
            found = size(file.read())
        if found is not None:
            return found
    elif getattr(value, "ndim", 0) in (2, 3):  # pixels that were never encoded
        return tuple(value.shape[:2])
    elif isinstance(value, bytes) and size(value) is not None:
        return size(value)
    raise ImageError("its size cannot be read, so that the answer cannot be placed on it")


def is_placeable(sample, value):
    """Whether it is a picture whose size can be read."""
    try:
        return bool(original_of(sample, value))
    except (OSError, ValueError):
        return False
