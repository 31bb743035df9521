"""OpenCV: decodes to BGR, turns images by EXIF unless told not to, and never antialiases (but for `area`)."""

import os

# Read by OpenCV when it is imported: the size in a header is refused before memory is taken for it.
os.environ.setdefault("OPENCV_IO_MAX_IMAGE_PIXELS", str(1 << 28))

import cv2  # noqa: E402
import numpy as np  # noqa: E402

from ..decode import to_gray  # noqa: E402
from ..header import ImageError  # noqa: E402
from ..image import Image  # noqa: E402

cv2.setNumThreads(0)  # the worker's own threads work on several samples; results do not depend on it

METHODS = {
    "nearest": cv2.INTER_NEAREST,
    "nearest_exact": cv2.INTER_NEAREST_EXACT,
    "bilinear": cv2.INTER_LINEAR,
    "bilinear_exact": cv2.INTER_LINEAR_EXACT,
    "bicubic": cv2.INTER_CUBIC,
    "area": cv2.INTER_AREA,
    "lanczos4": cv2.INTER_LANCZOS4,
}


def decode(data, color_layout, dct, max_pixels):
    try:
        pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR | cv2.IMREAD_IGNORE_ORIENTATION)
    except cv2.error as error:
        raise ImageError("OpenCV cannot decode it: %s" % (error.err or error))
    if pixels is None:
        raise ImageError("OpenCV cannot decode it")
    if pixels.shape[0] * pixels.shape[1] > max_pixels:
        raise ImageError("%d x %d pixels are more than the %d allowed" % (pixels.shape[1], pixels.shape[0], max_pixels))
    if color_layout == "BGR":
        return Image(pixels, color="BGR")
    rgb = cv2.cvtColor(pixels, cv2.COLOR_BGR2RGB)
    return Image(to_gray(rgb), color="GRAY") if color_layout == "GRAY" else Image(rgb)


def resize(pixels, height, width, method, antialias):
    resized = cv2.resize(np.ascontiguousarray(pixels), (width, height), interpolation=METHODS[method])
    return resized[:, :, None] if resized.ndim == 2 else resized
