"""TensorFlow's image ops. Its own default DCT is the fast one; here the plan always says which."""

import re

import numpy as np
import tensorflow as tf

from ..decode import to_gray
from ..header import ImageError, kind, size
from ..image import Image

if not hasattr(tf.compat, "v2"):
    raise ImportError("TensorFlow %s has no image operations of version 2; 1.13 and newer have" % tf.__version__)
if not tf.executing_eagerly():  # TensorFlow 1; a predictor's own graph and session are not touched by it
    tf.compat.v1.enable_eager_execution()

_DCT = {"accurate": "INTEGER_ACCURATE", "fast": "INTEGER_FAST"}
_resize = tf.compat.v2.image.resize  # TensorFlow 1's own has other methods and no antialiasing


def decode(data, color_layout, dct, max_pixels):
    found = kind(data)
    if found == "bmp" and _has_palette(data):
        raise ImageError("TensorFlow does not read a BMP file's palette")
    try:
        if found == "jpeg":
            pixels = tf.io.decode_jpeg(data, channels=3, dct_method=_DCT[dct]).numpy()
        elif found == "webp":  # asked for three channels it refuses a file with alpha
            pixels = tf.io.decode_image(data, expand_animations=False).numpy()[:, :, :3]
        else:
            pixels = tf.io.decode_image(data, channels=3, expand_animations=False).numpy()
    except tf.errors.OpError as error:
        raise ImageError("TensorFlow cannot decode it: %s" % _reason(error))
    if found == "gif" and pixels.shape[:2] != size(data):
        raise ImageError("TensorFlow does not place a GIF frame that is smaller than its screen")
    if color_layout == "BGR":
        return Image(pixels[:, :, ::-1], color="BGR")
    return Image(to_gray(pixels), color="GRAY") if color_layout == "GRAY" else Image(pixels)


def _has_palette(bmp):
    at = 24 if bmp[14] == 12 else 28  # OS/2 has a shorter header
    return int.from_bytes(bmp[at : at + 2], "little") <= 8


def resize(pixels, height, width, method, antialias):
    """`tf.image.resize` always computes in float32; bytes are rounded back to bytes."""
    resized = _resize(np.ascontiguousarray(pixels), (height, width), method=method, antialias=antialias).numpy()
    return np.rint(resized).clip(0, 255).astype(np.uint8) if pixels.dtype == np.uint8 else resized


def _reason(error):
    """Its message without the names of graph nodes."""
    return re.sub(r"\{\{.*?\}\}\s*|\s*\[Op:.*", "", error.message.split("\n")[0])
