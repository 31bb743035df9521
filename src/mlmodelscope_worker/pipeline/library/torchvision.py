"""torchvision's decoders and resampling on tensors."""

import numpy as np
import torch
from torchvision.io import ImageReadMode, decode_image
from torchvision.transforms import InterpolationMode
from torchvision.transforms import functional as F

from ..decode import to_gray
from ..header import ImageError
from ..image import Image

METHODS = {
    "nearest": InterpolationMode.NEAREST,
    "nearest_exact": InterpolationMode.NEAREST_EXACT,
    "bilinear": InterpolationMode.BILINEAR,
    "bicubic": InterpolationMode.BICUBIC,
}


def decode(data, color_layout, dct, max_pixels):
    try:
        planes = decode_image(torch.frombuffer(bytearray(data), dtype=torch.uint8), mode=ImageReadMode.RGB)
    except RuntimeError as error:
        raise ImageError("torchvision cannot decode it: %s" % error)
    pixels = planes.permute(1, 2, 0).contiguous().numpy()
    if color_layout == "BGR":
        return Image(pixels[:, :, ::-1], color="BGR")
    return Image(to_gray(pixels), color="GRAY") if color_layout == "GRAY" else Image(pixels)


def resize(pixels, height, width, method, antialias):
    planes = torch.from_numpy(np.ascontiguousarray(pixels.transpose(2, 0, 1)))
    resized = F.resize(planes, [height, width], interpolation=METHODS[method], antialias=antialias)
    return resized.permute(1, 2, 0).contiguous().numpy()
