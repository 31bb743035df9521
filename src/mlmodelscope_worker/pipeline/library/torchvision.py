"""torchvision's decoders and resampling on tensors."""

import numpy as np
import torch

from ...builder import torchvision_operators

torchvision_operators.provide(torch)

from torchvision.io import ImageReadMode, decode_image  # noqa: E402
from torchvision.transforms import InterpolationMode  # noqa: E402
from torchvision.transforms import functional as F  # noqa: E402

from ..decode import to_gray  # noqa: E402
from ..header import ImageError  # noqa: E402
from ..image import Image  # noqa: E402

_METHODS = {
    "nearest": "NEAREST",
    "nearest_exact": "NEAREST_EXACT",  # since torchvision 0.15
    "bilinear": "BILINEAR",
    "bicubic": "BICUBIC",
}


def decode(data, color_layout, dct, max_pixels):
    try:
        planes = decode_image(torch.frombuffer(bytearray(data), dtype=torch.uint8), mode=ImageReadMode.RGB)
    except RuntimeError as error:
        raise ImageError("torchvision cannot decode it: %s" % str(error).split("\n")[0])
    if planes.dim() == 4:  # an animation
        planes = planes[0]
    pixels = planes.permute(1, 2, 0).contiguous().numpy()
    if pixels.dtype == np.uint16:
        pixels = (pixels >> 8).astype(np.uint8)
    if color_layout == "BGR":
        return Image(pixels[:, :, ::-1], color="BGR")
    return Image(to_gray(pixels), color="GRAY") if color_layout == "GRAY" else Image(pixels)


def resize(pixels, height, width, method, antialias):
    planes = torch.from_numpy(np.ascontiguousarray(pixels.transpose(2, 0, 1)))
    mode = getattr(InterpolationMode, _METHODS[method], None)
    if mode is None:
        raise ImageError("this torchvision cannot resize by `%s`" % method)
    resized = F.resize(planes, [height, width], interpolation=mode, antialias=antialias)
    return resized.permute(1, 2, 0).contiguous().numpy()
