"""What a model sees: tensors as pictures that people can look at and compare.

All pictures of one sample are drawn alike: the first tensor sets the scale, the order of the axes and that of the
colours. So values that are too small show as darkness, and channels that are swapped show as false colours.
"""

from .failure import describe_failure
from .pipeline import Pipeline
from .pipeline.image import Image


def look(load, pipelines):
    """One sample through several pipelines (lists of steps); `load` reads it. See `draw` for what comes back."""
    return draw([_image(load, steps) for steps in pipelines])


def _image(load, steps):
    """The last value of a pipeline, or a text on why there is none."""
    try:
        found = Pipeline(steps)(load())
        if not isinstance(found, Image):
            return "an encoded sample is not decoded"
        return found.with_array(found.array, fresh=False)
    except Exception as error:
        return describe_failure(error)


def draw(images):
    """Some tensors of one sample, as Images, become (descriptions, buffers); a text stands for one that failed.

    A description has the `shape` (height, width, channels) of its picture and the number (`part`) of the buffer with
    its bytes, or the reason why there is none; and how it differs from the first, where the two can be compared.
    """
    first = images[0]
    known = not isinstance(first, str)
    low, high = _range(first.array) if known else (0.0, 1.0)
    descriptions, buffers = [], []
    for image in images:
        if isinstance(image, str):
            descriptions.append({"reason": image})
            continue
        comparable = known and image.array.shape == first.array.shape
        drawn_as = first if comparable else image
        found = {"tensor": _spell(image.array), "low": low, "high": high, "reason": why_no_picture(image)}
        descriptions.append(found)
        if not known and not found["reason"]:
            low, high = _range(image.array)
            found.update(low=low, high=high)
        if not found["reason"]:
            found.update(_keep(_bytes(_upright(image.array, drawn_as), low, high), buffers))
        if comparable and image is not first:
            found["difference"] = _difference(first, image, high - low, buffers, bool(found["reason"]))
    return descriptions, buffers


def why_no_picture(image):
    """Why nobody can look at this tensor; empty where one can."""
    shape = image.array.shape
    if len(shape) != 3:
        return "%s is no picture" % _spell(image.array)
    channels = shape[2] if image.layout == "HWC" else shape[0]
    if channels not in (1, 3):
        return "%s is no picture: it has %d channels" % (_spell(image.array), channels)
    return ""


def _range(array):
    import numpy as np

    finite = array[np.isfinite(array)]
    if not finite.size:
        return 0.0, 1.0
    low, high = float(finite.min()), float(finite.max())
    return (low, high) if high > low else (low - 0.5, low + 0.5)


def _upright(array, like):
    """Height x width x channels, red first, were the array what `like` says of itself."""
    pixels = array if like.layout == "HWC" else array.transpose(1, 2, 0)
    return pixels[:, :, ::-1] if like.color == "BGR" else pixels


def _bytes(pixels, low, high):
    import numpy as np

    scaled = (pixels.astype(np.float64) - low) * (255.0 / (high - low))
    scaled[np.isnan(scaled)] = 0
    return np.rint(scaled.clip(0, 255)).astype(np.uint8)


def _difference(first, other, span, buffers, is_no_picture):
    """How far two tensors lie apart, in the model's own units; as a picture, the largest difference is white."""
    import numpy as np

    apart = np.abs(other.array.astype(np.float64) - first.array.astype(np.float64))
    finite = np.isfinite(apart)
    apart[~finite] = 0
    largest = float(apart.max()) if apart.size else 0.0
    found = {
        "largest": largest,
        "mean": float(apart.mean()) if apart.size else 0.0,
        "share": float((apart > 0).mean()) if apart.size else 0.0,
        "stretch": span / largest if largest else None,
    }
    if largest and not is_no_picture:
        found.update(_keep(_bytes(_upright(apart, first), 0.0, largest), buffers))
    return found


def _keep(pixels, buffers):
    import numpy as np

    buffers.append(np.ascontiguousarray(pixels))
    return {"shape": list(pixels.shape), "part": len(buffers) - 1}


def _spell(array):
    return "%s %s" % (array.dtype.name, " x ".join(str(side) for side in array.shape) or "scalar")
