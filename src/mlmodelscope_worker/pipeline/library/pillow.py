"""Pillow: decoding by libjpeg-turbo with the accurate DCT, and resampling that always antialiases."""

import io
import warnings

import numpy as np
from PIL import Image as PIL

from ..decode import decode as decode_step
from ..header import ImageError, refuse_size
from ..image import Image

_RESAMPLING = getattr(PIL, "Resampling", PIL)  # Pillow before 9.1 keeps the filters on the module
METHODS = {
    name: getattr(_RESAMPLING, name.upper()) for name in ("nearest", "box", "bilinear", "hamming", "bicubic", "lanczos")
}

PIL.MAX_IMAGE_PIXELS = None  # our own limit is checked before Pillow's, and is part of the plan
# Corrupt metadata is not our concern, only pixels are. Once and for all: `catch_warnings` is not for several threads.
warnings.filterwarnings("ignore", module=r"PIL\.")


def decode(data, color_layout, dct, max_pixels):
    try:
        picture = PIL.open(io.BytesIO(data))
        refuse_size(picture.height, picture.width, max_pixels)
        picture = _to_eight_bits(picture)
        if picture.mode == "RGB":
            picture.load()  # `convert` would make a copy, which takes a quarter as long as decoding does
        else:
            picture = picture.convert("RGB")
        if color_layout == "GRAY":  # by way of RGB: the short ways from other modes have luma formulas of their own
            picture = picture.convert("L")
    except ImageError:
        raise
    except Exception as error:  # Pillow's plugins raise everything from OSError to struct.error and SyntaxError
        raise ImageError("Pillow cannot decode it: %s" % (error or type(error).__name__))
    if color_layout == "BGR":
        return Image(np.asarray(picture)[:, :, ::-1], color="BGR")
    return Image(native=picture, library=_THIS, color=color_layout)


def _to_eight_bits(picture):
    """16-bit grey becomes 8-bit by its upper byte; Pillow's own conversion would clip everything above 255 to white."""
    if picture.mode.startswith("I;16"):
        picture = picture.convert("I")
    elif picture.mode in ("I", "F") and picture.format == "TIFF":  # `I` is 16 bits in a PNG file
        raise ImageError("32 bits a channel are too many")
    if picture.mode == "I":
        return PIL.fromarray((np.asarray(picture) >> 8).clip(0, 255).astype(np.uint8))
    if picture.mode == "P" and "transparency" in picture.info:
        return picture.convert("RGBA")
    return picture


def to_array(picture):
    array = np.asarray(picture)
    return array[:, :, None] if array.ndim == 2 else array


def size(picture):
    return picture.height, picture.width


def crop(picture, top, left, height, width):
    return picture.crop((left, top, left + width, top + height))


def resize_native(picture, height, width, method):
    return picture.resize((width, height), METHODS[method])


def resize(pixels, height, width, method, antialias):
    """Resize height x width x channels; bytes as one image, anything else channel by channel as 32-bit floats."""
    if pixels.dtype == np.uint8 and pixels.shape[2] in (1, 3):
        picture = PIL.fromarray(np.ascontiguousarray(pixels[:, :, 0] if pixels.shape[2] == 1 else pixels))
        return to_array(resize_native(picture, height, width, method))
    planes = [
        np.asarray(
            PIL.fromarray(np.ascontiguousarray(pixels[:, :, channel], dtype=np.float32)).resize(
                (width, height), METHODS[method]
            )
        )
        for channel in range(pixels.shape[2])
    ]
    return np.stack(planes, axis=2)


def jpeg_thumbnail(data, side):
    """A small JPEG of an image file, for reports."""
    picture = decode_step(data).native
    picture.thumbnail((side, side))
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=82)
    return out.getvalue()


class _This(object):
    """This module as the owner of a native image."""

    to_array = staticmethod(to_array)
    size = staticmethod(size)
    crop = staticmethod(crop)
    resize_native = staticmethod(resize_native)
    name = "pillow"


_THIS = _This()
