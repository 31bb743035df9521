"""TensorFlow's image ops. Its own default DCT is the fast one; here the plan always says which."""

import numpy as np
import tensorflow as tf

from ..decode import to_gray
from ..header import ImageError, kind
from ..image import Image

_DCT = {"accurate": "INTEGER_ACCURATE", "fast": "INTEGER_FAST"}


def decode(data, color_layout, dct, max_pixels):
    try:
        if kind(data) == "jpeg":
            pixels = tf.io.decode_jpeg(data, channels=3, dct_method=_DCT[dct]).numpy()
        else:
            pixels = tf.io.decode_image(data, channels=3, expand_animations=False).numpy()
    except tf.errors.OpError as error:
        raise ImageError("TensorFlow cannot decode it: %s" % error.message.split("\n")[0])
    if color_layout == "BGR":
        return Image(pixels[:, :, ::-1], color="BGR")
    return Image(to_gray(pixels), color="GRAY") if color_layout == "GRAY" else Image(pixels)


def resize(pixels, height, width, method, antialias):
    """`tf.image.resize` always computes in float32; bytes are rounded back to bytes."""
    resized = tf.image.resize(np.ascontiguousarray(pixels), (height, width), method=method, antialias=antialias).numpy()
    return np.rint(resized).clip(0, 255).astype(np.uint8) if pixels.dtype == np.uint8 else resized
