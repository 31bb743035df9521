"""simplejpeg: libjpeg-turbo itself, JPEG only, with a choice of DCT."""

import numpy as np
import simplejpeg

from ..decode import to_gray
from ..header import ImageError, kind
from ..image import Image


def decode(data, color_layout, dct, max_pixels):
    if kind(data) != "jpeg":
        raise ImageError("simplejpeg decodes JPEG files only, and this is %s" % (kind(data) or "none"))
    order = "BGR" if color_layout == "BGR" else "RGB"
    try:
        pixels = np.asarray(simplejpeg.decode_jpeg(data, colorspace=order, fastdct=dct == "fast", fastupsample=False))
    except ValueError as error:
        raise ImageError("simplejpeg cannot decode it: %s" % error)
    return Image(to_gray(pixels) if color_layout == "GRAY" else pixels, color=color_layout, fresh=True)
