"""Answer steps of enhancers: the model's output becomes a picture of 0 to 255, height x width x channels.

`picture` stands for the outputs `image` and `tensor` as soon as a step has touched them.
"""

from ..parameters import Choice, Number
from .boxes import Refused
from .step import answer_step

ENHANCING = ("image_enhancement",)


def picture_of(values, layout=None):
    """Height x width x channels; where no step says which axis has the channels, the one that can."""
    if "picture" in values:
        return values["picture"]
    known = [role for role in ("image", "tensor") if role in values]
    if len(known) != 1 or isinstance(values[known[0]], list):
        raise Refused("one output of type image or tensor is needed; there is %s" % ", ".join(sorted(values)))
    found = values[known[0]]
    if found.ndim == 2:
        return found[:, :, None]
    if found.ndim != 3:
        raise Refused("a picture has 3 axes, this has %d" % found.ndim)
    if layout is None:
        layout = "HWC" if found.shape[2] in (1, 3) and found.shape[0] not in (1, 3) else "CHW"
    return found.transpose(1, 2, 0) if layout == "CHW" else found


@answer_step(ENHANCING, main="layout")
def picture(
    values,
    frame,
    *,
    layout: Choice("Order of the output's axes.", "CHW", "HWC") = "CHW",
    color: Choice("Order of its channels; ignored where there is one.", "RGB", "BGR") = "RGB",
):
    """Take the output for a picture: which axis has the channels, and in which order they are."""
    found = picture_of(values, layout)
    if found.shape[2] not in (1, 3):
        raise Refused("a picture has 1 or 3 channels, this has %d: is the layout another?" % found.shape[2])
    return dict(values, picture=found[:, :, ::-1] if color == "BGR" and found.shape[2] == 3 else found)


@answer_step(ENHANCING, main="factor")
def multiply(
    values,
    frame,
    *,
    factor: Number("What every value is multiplied by: 255 where the model answers with 0 to 1."),
    offset: Number("What is added then.") = 0.0,
):
    """Bring the model's values to the range of a picture: value x factor + offset."""
    import numpy as np

    found = picture_of(values).astype(np.float32)
    return dict(values, picture=found * np.float32(factor) + np.float32(offset))


@answer_step(ENHANCING)
def clip_picture(
    values,
    frame,
    *,
    low: Number("What is below becomes this.") = 0.0,
    high: Number("What is above becomes this.") = 255.0,
):
    """Bring every value between two bounds."""
    found = picture_of(values)
    return dict(values, picture=found.clip(low, high).astype(found.dtype))


@answer_step(ENHANCING, main="half")
def round_picture(
    values, frame, *, half: Choice("Where a half goes: up, or to the even number.", "up", "even") = "even"
):
    """Round every value to a whole number, as saving the picture would."""
    import numpy as np

    found = picture_of(values)
    if found.dtype.kind != "f":
        return dict(values, picture=found)
    return dict(values, picture=np.rint(found) if half == "even" else np.floor(found + np.float32(0.5)))
