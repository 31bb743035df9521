"""OpenCV: decodes to BGR, turns images by EXIF unless told not to, and never antialiases (but for `area`)."""

import os

# Read by OpenCV when it is imported. The first is a second line of defence: the header has been read before. The
# other keeps its own words about each damaged sample, which is in the answer, out of the worker's log.
os.environ.setdefault("OPENCV_IO_MAX_IMAGE_PIXELS", str(1 << 28))
os.environ.setdefault("OPENCV_LOG_LEVEL", "FATAL")

import cv2  # noqa: E402
import numpy as np  # noqa: E402

from ..decode import to_gray  # noqa: E402
from ..header import ImageError, kind  # noqa: E402
from ..image import Image  # noqa: E402

cv2.setNumThreads(0)  # the worker's own threads work on several samples; results do not depend on it

_METHODS = {
    "nearest": "INTER_NEAREST",
    "nearest_exact": "INTER_NEAREST_EXACT",  # since OpenCV 4.5
    "bilinear": "INTER_LINEAR",
    "bilinear_exact": "INTER_LINEAR_EXACT",  # since OpenCV 3.4
    "bicubic": "INTER_CUBIC",
    "area": "INTER_AREA",
    "lanczos4": "INTER_LANCZOS4",
}


def decode(data, color_layout, dct, max_pixels):
    flags = cv2.IMREAD_COLOR | cv2.IMREAD_IGNORE_ORIENTATION
    if kind(data) == "tiff":  # left to itself OpenCV rounds 16 bits to 8; of a PNG it takes the upper byte
        flags |= cv2.IMREAD_ANYDEPTH
    try:
        pixels = cv2.imdecode(np.frombuffer(data, np.uint8), flags)
    except cv2.error as error:
        raise ImageError("OpenCV cannot decode it: %s" % _reason(error))
    if pixels is None:
        raise ImageError("OpenCV cannot decode it")
    if pixels.dtype == np.uint16:
        pixels = (pixels >> 8).astype(np.uint8)
    elif pixels.dtype != np.uint8:
        raise ImageError("%d bits a channel are too many" % (8 * pixels.dtype.itemsize))
    if color_layout == "BGR":
        return Image(pixels, color="BGR", fresh=True)
    rgb = cv2.cvtColor(pixels, cv2.COLOR_BGR2RGB)
    return Image(to_gray(rgb), color="GRAY", fresh=True) if color_layout == "GRAY" else Image(rgb, fresh=True)


def resize(pixels, height, width, method, antialias):
    constant = getattr(cv2, _METHODS[method], None)
    if constant is None:
        raise ImageError("OpenCV %s cannot resize by `%s`" % (cv2.__version__, method))
    try:
        resized = cv2.resize(np.ascontiguousarray(pixels), (width, height), interpolation=constant)
    except cv2.error as error:
        raise ImageError("OpenCV cannot resize %s values by `%s`: %s" % (pixels.dtype, method, _reason(error)))
    return resized[:, :, None] if resized.ndim == 2 else resized


def _reason(error):
    return getattr(error, "err", None) or str(error).split("\n")[0]
