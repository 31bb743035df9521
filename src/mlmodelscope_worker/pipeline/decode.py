"""`decode`: the sample as it is stored becomes pixels."""

from ..parameters import Choice, Integer, ParameterError
from . import header
from . import library as libraries
from .image import Image, layout_of
from .step import step

# Per orientation: turns of 90 degrees counter-clockwise, then whether to mirror left-right.
_UPRIGHT = {
    1: (0, False),
    2: (0, True),
    3: (2, False),
    4: (2, True),
    5: (3, True),
    6: (3, False),
    7: (1, True),
    8: (1, False),
}


def _settle(parameters):
    chosen = parameters["library"]
    methods = libraries.DCT_METHODS[chosen]
    if parameters["dct"] not in methods:
        raise ParameterError(
            "%s cannot decode with the `%s` DCT" % (chosen, parameters["dct"]),
            parameter="dct",
            known=methods,
            hint="libraries with both methods: %s"
            % ", ".join(sorted(name for name, known in libraries.DCT_METHODS.items() if len(known) > 1)),
        )
    if parameters["element_type"] == "int8":  # the papers' word for a byte of an image, which is 0 to 255
        parameters["element_type"] = "uint8"
    parameters["data_layout"] = layout_of(parameters["data_layout"])
    return parameters


@step(settle=_settle)
def decode(
    sample,
    *,
    library: Choice("Which library decodes.", *sorted(libraries.DCT_METHODS)) = "pillow",
    dct: Choice("How a JPEG's inverse DCT is computed; `fast` is less exact.", "accurate", "fast") = "accurate",
    color_layout: Choice("Order of the channels.", "RGB", "BGR", "GRAY") = "RGB",
    element_type: Choice(
        "Type of a channel value, 0 to 255; `int8` is read as a byte.", "uint8", "int8", "float32"
    ) = "uint8",
    data_layout: Choice("Order of the axes.", "HWC", "CHW", "NHWC", "NCHW") = "HWC",
    exif: Choice("Whether the EXIF orientation turns the image.", "ignore", "apply") = "ignore",
    max_pixels: Integer("Larger images are refused before memory is taken for them.", at_least=1) = 89478485,
):
    """Turn a stored image into pixels.

    Every library follows one rule: grey is repeated to three channels, a palette is expanded, alpha is dropped, CMYK
    becomes RGB by the library's own formula, of 16 bits the upper 8 are kept, the first frame of an animation is
    taken, a truncated or oversized file is refused.
    """
    if isinstance(sample, Image):
        image = _recolor(sample, color_layout)
    else:
        image = _decode_bytes(sample, library, dct, color_layout, exif, max_pixels)
    if element_type == "float32":
        image = image.with_array(image.array.astype("float32"))
    if data_layout != image.layout:
        image = image.with_array(image.array.transpose(2, 0, 1), layout="CHW")
    return image


def _decode_bytes(data, name, dct, color_layout, exif, max_pixels):
    if not data:
        raise header.ImageError("the file is empty")
    header.refuse_bomb(data, max_pixels)
    header.refuse_truncated(data)
    image = libraries.load(name).decode(data, color_layout, dct, max_pixels)
    if exif == "apply":
        image = _turn_upright(image, header.orientation(data))
    return image


def _turn_upright(image, orientation):
    turns, mirrored = _UPRIGHT[orientation]
    if not turns and not mirrored:
        return image
    import numpy as np

    pixels = np.rot90(image.pixels, turns)
    return image.with_pixels(np.ascontiguousarray(pixels[:, ::-1] if mirrored else pixels))


def _recolor(image, color_layout):
    """A sample that was never encoded (an array) is brought into the layout and colours that were asked for."""
    pixels = image.pixels
    if color_layout == "GRAY":
        if pixels.shape[2] == 3:
            pixels = to_gray(pixels)
        return Image(pixels, "HWC", "GRAY")
    if pixels.shape[2] == 1:
        pixels = pixels.repeat(3, axis=2)
    elif color_layout != image.color:
        pixels = pixels[:, :, ::-1]
    return Image(pixels, "HWC", color_layout)


def to_gray(rgb):
    """ITU-R 601-2 luma in the 16-bit integer arithmetic that Pillow uses, so that all libraries agree."""
    weighted = rgb[:, :, 0] * 19595.0 + rgb[:, :, 1] * 38470.0 + rgb[:, :, 2] * 7471.0 + 0x8000
    return (weighted.astype("uint32") >> 16).astype("uint8")[:, :, None]
