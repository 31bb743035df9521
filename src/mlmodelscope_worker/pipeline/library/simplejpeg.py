"""simplejpeg: libjpeg-turbo itself, JPEG only, with a choice of DCT."""

import numpy as np
import simplejpeg

from ..header import ImageError, kind
from ..image import Image


def decode(data, color_layout, dct, max_pixels):
    if kind(data) != "jpeg":
        raise ImageError("simplejpeg decodes JPEG files only, and this is %s" % (kind(data) or "none"))
    try:
        pixels = simplejpeg.decode_jpeg(data, colorspace=color_layout, fastdct=dct == "fast", fastupsample=False)
    except ValueError as error:
        raise ImageError("simplejpeg cannot decode it: %s" % error)
    return Image(np.asarray(pixels), color=color_layout)
