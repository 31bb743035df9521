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


_RULES = [
    {
        "anyOf": [
            {
                "properties": {"library": {"const": name}, "dct": {"enum": list(methods)}},
                "required": [] if name == "pillow" else ["library"],
            }
            for name, methods in sorted(libraries.DCT_METHODS.items())
        ]
    }
]


@step(settle=_settle, rules=_RULES)
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
    max_pixels: Integer(
        "Larger images are refused before memory is taken for them.", at_least=1, at_most=1 << 28
    ) = 89478485,
):
    """Turn a stored image into pixels.

    Every library follows one rule: grey is repeated to three channels, a palette is expanded, alpha is dropped and
    what lies under it shows, of 16 bits the upper 8 are kept and more are refused, the first frame of an animation is
    taken (of an animated PNG the picture that a decoder without animation shows), nothing is turned unless `exif`
    says so, a truncated or oversized file is refused. RGB becomes grey by ITU-R 601-2 luma. CMYK becomes RGB by the
    library's own formula, turbojpeg refuses it. What a GIF's first frame does not cover is filled as the library
    does it; TensorFlow would cut it off, and is not asked to.

    The formats are JPEG, PNG, GIF, BMP, WebP, TIFF and PNM of 8 bits, and with Pillow alone JPEG 2000 and AVIF;
    simplejpeg and turbojpeg read JPEG only. What else a library cannot read it refuses: TensorFlow a BMP with a
    palette, TIFF and PNM, torchvision BMP, TIFF, PNM and an animated WebP, old releases more. A damaged file may be
    refused by one library and be decoded by another.
    """
    if isinstance(sample, Image):
        image = _recolor(sample, color_layout)
    else:
        image = _decode_file(sample, library, dct, color_layout, exif, max_pixels)
    if element_type == "float32":
        image = image.with_array(image.array.astype("float32"))
    if data_layout != image.layout:
        image = image.with_array(image.array.transpose(2, 0, 1), fresh=image.fresh, layout="CHW")
    return image


def _decode_file(data, name, dct, color_layout, exif, max_pixels):
    header.inspect(data, max_pixels)
    if name != "pillow" and header.size(data) is None:  # their size is known only when memory has been taken
        raise header.ImageError("JPEG 2000 and AVIF are decoded with `library: pillow` only")
    image = libraries.load(name).decode(header.still(data), color_layout, dct, max_pixels)
    if exif == "apply":
        image = _turn_upright(image, header.orientation(data))
    return image


def _turn_upright(image, orientation):
    turns, mirrored = _UPRIGHT[orientation]
    if not turns and not mirrored:
        return image
    import numpy as np

    pixels = np.rot90(image.pixels, turns)
    return image.with_pixels((pixels[:, ::-1] if mirrored else pixels).copy())


def _recolor(image, color_layout):
    """A sample that was never encoded (an array) is brought into the layout and colours that were asked for."""
    pixels = image.pixels
    channels = pixels.shape[2]
    if channels not in (1, 3):
        raise header.ImageError("a sample of %d channels is neither grey nor colour" % channels)
    if color_layout == "GRAY":
        if channels == 3:
            pixels = to_gray(pixels if image.color == "RGB" else pixels[:, :, ::-1])
    elif channels == 1:
        pixels = pixels.repeat(3, axis=2)
    elif color_layout != image.color:
        pixels = pixels[:, :, ::-1]
    return Image(pixels, "HWC", color_layout)


def to_gray(rgb):
    """ITU-R 601-2 luma in the 16-bit integer arithmetic that Pillow uses, so that all libraries agree."""
    if rgb.dtype != "uint8":
        weighted = rgb[:, :, :1] * 19595.0 + rgb[:, :, 1:2] * 38470.0 + rgb[:, :, 2:] * 7471.0
        return (weighted / 65536.0).astype(rgb.dtype)
    wide = rgb.astype("uint32")
    weighted = wide[:, :, :1] * 19595 + wide[:, :, 1:2] * 38470 + wide[:, :, 2:] * 7471 + 0x8000
    return (weighted >> 16).astype("uint8")
