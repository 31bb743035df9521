"""PyTurboJPEG: the system's libturbojpeg, JPEG only, with a choice of DCT."""

import warnings

import numpy as np
from turbojpeg import TJFLAG_FASTDCT, TJPF_BGR, TJPF_RGB, TurboJPEG

from ..decode import to_gray
from ..header import ImageError, kind
from ..image import Image

warnings.filterwarnings("ignore", module="turbojpeg")  # damage that it decodes in spite of

_ACCURATE = 4096  # TJFLAG_ACCURATEDCT, which the binding does not name

try:
    _decoder = TurboJPEG()
except (OSError, RuntimeError) as error:  # the Python package is there, the system library is not
    raise ImportError("libturbojpeg was not found: %s" % error)


def decode(data, color_layout, dct, max_pixels):
    if kind(data) != "jpeg":
        raise ImageError("turbojpeg decodes JPEG files only, and this is %s" % (kind(data) or "none"))
    order = TJPF_BGR if color_layout == "BGR" else TJPF_RGB
    flags = TJFLAG_FASTDCT if dct == "fast" else _ACCURATE
    try:
        pixels = np.asarray(_decoder.decode(data, pixel_format=order, flags=flags))
    except (OSError, ValueError) as error:
        raise ImageError("turbojpeg cannot decode it: %s" % error)
    return Image(to_gray(pixels) if color_layout == "GRAY" else pixels, color=color_layout, fresh=True)
