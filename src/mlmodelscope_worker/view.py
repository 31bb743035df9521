"""What a model sees: tensors as pictures that people can look at and compare.

All pictures of one sample are drawn alike: the first tensor sets the scale, the order of the axes and that of the
colours. So values that are too small show as darkness, and channels that are swapped show as false colours. Features
of a sound are drawn as a spectrogram, time to the right and the first feature at the bottom; its samples as a waveform.
"""

from .failure import describe_failure
from .pipeline import Pipeline
from .pipeline.image import Image
from .pipeline.sound import Sound, SoundFrame
from .pipeline.value import Tensor

_WAVE_HEIGHT, _WAVE_WIDTH, _MOST_FRAMES = 120, 800, 4000


def look(load, pipelines):
    """One sample through several pipelines (lists of steps); `load` reads it. See `draw` for what comes back."""
    return draw([tensor_of(load, steps) for steps in pipelines])


def tensor_of(load, steps):
    """The last value of a pipeline, or a text on why there is none."""
    try:
        found = Pipeline(steps)(load())
        if not hasattr(found, "rows") and not isinstance(found, Image):
            return "an encoded sample is not decoded"
        if isinstance(found, (Image, Sound)):
            return found.with_array(found.array, fresh=False)
        return Tensor(found.rows[0], False, found.frame)
    except Exception as error:
        return describe_failure(error)


def draw(images):
    """Some tensors of one sample, as values of a pipeline, become (descriptions, buffers); a text is one that failed.

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
            found.update(_keep(_pixels(image.array, drawn_as, low, high), buffers))
        if comparable and image is not first:
            found["difference"] = _difference(first, image, high - low, buffers, bool(found["reason"]))
    return descriptions, buffers


def why_no_picture(image):
    """Why nobody can look at this tensor; empty where one can."""
    shape = image.array.shape
    if not image.array.size:
        return "%s is no picture" % _spell(image.array)
    if image.kind == "sound" or is_spectrogram(image):
        return ""
    if len(shape) != 3 or image.kind != "image":
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
    half = max(0.5, abs(low) * 1e-6)  # 0.5 more than 1e38 is 1e38
    return (low, high) if high > low else (low - half, low + half)


def is_spectrogram(value):
    """Whether these are features of a sound: time x features in any order, perhaps with an axis of one channel."""
    if value.kind == "image" or not isinstance(value.frame, SoundFrame):
        return False
    shape = value.array.shape
    return len(shape) == 2 or (len(shape) == 3 and 1 in (shape[0], shape[2]))


def _pixels(array, like, low, high):
    if like.kind == "sound":
        return _waveform(array, low, high)
    return _bytes(_upright(array, like), low, high)


def _waveform(array, low, high):
    """Each channel below the one before it, from the lowest to the highest sample in every column."""
    import numpy as np

    drawn, rows = [], np.arange(_WAVE_HEIGHT)[::-1, None]
    for samples in array.reshape(-1, array.shape[-1]).astype(np.float64):
        level = np.nan_to_num((samples - low) * ((_WAVE_HEIGHT - 1) / (high - low))).clip(0, _WAVE_HEIGHT - 1)
        starts = np.arange(min(_WAVE_WIDTH, len(level))) * len(level) // min(_WAVE_WIDTH, len(level))
        bottom, top = np.minimum.reduceat(level, starts), np.maximum.reduceat(level, starts)
        drawn.append((rows >= np.floor(bottom)) & (rows <= np.ceil(top)))
    return np.concatenate(drawn)[:, :, None].astype(np.uint8) * np.uint8(255)


def _spectrogram(array, axis):
    """Features x time x 1, the first feature at the bottom; of very many frames some."""
    import numpy as np

    table = np.moveaxis(array, axis, -1).reshape(-1, array.shape[axis])
    return table[::-1, :: -(-table.shape[1] // _MOST_FRAMES), None]


def _upright(array, like):
    """Height x width x channels, red first, were the array what `like` says of itself."""
    if like.kind != "image":
        return _spectrogram(array, like.frame.axis)
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
        found.update(_keep(_pixels(apart, first, 0.0, largest), buffers))
    return found


def _keep(pixels, buffers):
    import numpy as np

    buffers.append(np.ascontiguousarray(pixels))
    return {"shape": list(pixels.shape), "part": len(buffers) - 1}


def _spell(array):
    return "%s %s" % (array.dtype.name, " x ".join(str(side) for side in array.shape) or "scalar")
