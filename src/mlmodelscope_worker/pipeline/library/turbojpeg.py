"""PyTurboJPEG: the system's libturbojpeg, JPEG only, with a choice of DCT."""

import numpy as np
from turbojpeg import TJFLAG_FASTDCT, TJPF_BGR, TJPF_GRAY, TJPF_RGB, TurboJPEG

from ..header import ImageError, kind
from ..image import Image

_FORMATS = {"RGB": TJPF_RGB, "BGR": TJPF_BGR, "GRAY": TJPF_GRAY}
_ACCURATE = 4096  # TJFLAG_ACCURATEDCT, which the binding does not name

try:
    _decoder = TurboJPEG()
except (OSError, RuntimeError) as error:  # the Python package is there, the system library is not
    raise ImportError("libturbojpeg was not found: %s" % error)


def decode(data, color_layout, dct, max_pixels):
    if kind(data) != "jpeg":
        raise ImageError("turbojpeg decodes JPEG files only, and this is %s" % (kind(data) or "none"))
    try:
        pixels = _decoder.decode(
            data, pixel_format=_FORMATS[color_layout], flags=TJFLAG_FASTDCT if dct == "fast" else _ACCURATE
        )
    except (OSError, ValueError) as error:
        raise ImageError("turbojpeg cannot decode it: %s" % error)
    return Image(np.asarray(pixels), color=color_layout)
