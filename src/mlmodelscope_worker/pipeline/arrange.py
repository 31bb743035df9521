"""Steps that rearrange axes and channels: `layout`, `color`, `transpose`."""

from ..parameters import Choice
from .header import ImageError
from .image import layout_of
from .step import step


def _settle_layout(parameters):
    parameters["data_layout"] = layout_of(parameters["data_layout"])
    return parameters


@step(main="data_layout", settle=_settle_layout)
def layout(image, *, data_layout: Choice("Order of the axes afterwards.", "HWC", "CHW", "NHWC", "NCHW")):
    """Bring the axes into an order."""
    if data_layout == image.layout:
        return image
    axes = (2, 0, 1) if data_layout == "CHW" else (1, 2, 0)
    return image.with_array(image.array.transpose(axes), fresh=image.fresh, layout=data_layout)


@step(main="color_layout")
def color(image, *, color_layout: Choice("Order of the channels afterwards.", "RGB", "BGR")):
    """Bring the colour channels into an order."""
    if image.color == "GRAY":
        raise ImageError("a grey image has no colour order; decode with `color_layout: RGB` first")
    if color_layout == image.color:
        return image
    flipped = image.array[:, :, ::-1] if image.layout == "HWC" else image.array[::-1]
    return image.with_array(flipped, fresh=image.fresh, color=color_layout)


@step()
def transpose(image):
    """Swap height and width."""
    return image.with_pixels(image.pixels.transpose(1, 0, 2), fresh=image.fresh).placed(image.frame.transposed())


@step(main="data_layout", settle=_settle_layout)
def reinterpret(image, *, data_layout: Choice("Order that the axes are taken for.", "HWC", "CHW", "NHWC", "NCHW")):
    """Take the memory as it is for another order of axes, without moving a value: what a mistaken layout does."""
    import numpy as np

    if data_layout == image.layout:
        return image
    height, width = image.size
    channels = image.pixels.shape[2]
    shape = (channels, height, width) if data_layout == "CHW" else (height, width, channels)
    taken = np.ascontiguousarray(image.array).reshape(shape)
    return image.with_array(taken, fresh=False, layout=data_layout)
