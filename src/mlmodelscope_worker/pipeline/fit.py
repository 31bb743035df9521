"""Steps that bring pictures of any shape to one size without bending them: `fit`, `crop_or_pad`."""

from ..parameters import Choice, Dimensions, Flag, PerChannel
from . import library as libraries
from .geometry import crop, method_rules, pad, scale_to, settle_method
from .step import step


@step(main="dimensions", settle=settle_method, rules=[method_rules(libraries.RESIZE_METHODS, "pillow", "bilinear")])
def fit(
    image,
    *,
    dimensions: Dimensions("The size to cover, or to stay within."),
    mode: Choice("`cover`: neither side is shorter than that; `contain`: neither is longer.", "cover", "contain") = (
        "cover"
    ),
    method: Choice(
        "Interpolation, by the library's own name for it.",
        *sorted(set(method for methods in libraries.RESIZE_METHODS.values() for method in methods)),
    ) = "bilinear",
    library: Choice("Which library resizes.", *sorted(libraries.RESIZE_METHODS)) = "pillow",
    antialias: Flag("Whether shrinking averages over all pixels; by default what the library does by itself.") = None,
):
    """Scale the image in its aspect ratio until it covers a size, or stays within it; nothing is cut off."""
    ratios = [side / float(wanted) for side, wanted in zip(image.size, dimensions)]
    ratio = min(ratios) if mode == "cover" else max(ratios)
    height, width = (max(1, int(round(side / ratio))) for side in image.size)
    return scale_to(image, height, width, method, library, antialias)


@step(main="dimensions")
def crop_or_pad(
    image,
    *,
    dimensions: Dimensions("Size afterwards."),
    value: PerChannel("What a border is filled with, where the image is smaller.") = 0.0,
):
    """Cut the center out, and put a border around it where the image is smaller than that."""
    height, width = dimensions
    larger = [max(side, wanted) for side, wanted in zip(image.size, dimensions)]
    if larger != list(image.size):
        image = pad(image, dimensions=larger, value=value)
    return crop(image, dimensions=[height, width], offset="round")
