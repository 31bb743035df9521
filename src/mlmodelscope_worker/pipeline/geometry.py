"""Steps that move pixels: `crop`, `resize`, `pad`."""

import math

from ..parameters import Choice, Dimensions, Flag, Integer, Number, ParameterError, PerChannel
from . import library as libraries
from .header import ImageError
from .step import choose_one, one_of, step

_MAX_PIXELS = 1 << 28  # of what a step makes; what it is given was limited when it was decoded

_ROUNDING = {
    "floor": math.floor,
    "ceil": math.ceil,
    "round": round,
}  # Python rounds halves to even, as torchvision does


def _settle_crop(parameters):
    choose_one(parameters, "percentage", "dimensions")
    if parameters["square"] and parameters["percentage"] is None:
        raise ParameterError("`square` goes with `percentage`", parameter="square")
    return parameters


_CROP_RULES = [
    one_of("percentage", "dimensions"),
    {"anyOf": [{"required": ["percentage"]}, {"properties": {"square": {"const": False}}}]},
]


@step(settle=_settle_crop, rules=_CROP_RULES)
def crop(
    image,
    *,
    method: Choice("Which part is kept.", "center", "top_left") = "center",
    percentage: Number("Size of the part, in percent of each side.", above=0, at_most=100) = None,
    dimensions: Dimensions("Size of the part in pixels.") = None,
    square: Flag("With `percentage`: a square whose side is that share of the shorter side.") = False,
    offset: Choice("How half a pixel of offset is rounded.", "floor", "ceil", "round") = "floor",
):
    """Keep a part of the image."""
    height, width = image.size
    if dimensions is not None:
        part_height, part_width = dimensions
    elif square:
        part_height = part_width = side_of(min(height, width), percentage / 100.0, "floor")
    else:
        part_height, part_width = (side_of(side, percentage / 100.0, "floor") for side in (height, width))
    if part_height > height or part_width > width:
        raise ImageError(
            "cannot crop %d x %d (width x height) out of %d x %d" % (part_width, part_height, width, height)
        )
    if method == "center":
        top = int(_ROUNDING[offset]((height - part_height) / 2.0))
        left = int(_ROUNDING[offset]((width - part_width) / 2.0))
    else:
        top = left = 0
    return cut(image, top, left, part_height, part_width)


def cut(image, top, left, height, width):
    frame = image.frame.cut(top, left, height, width)
    if image.native is not None:
        return image.with_native(image.library.crop(image.native, top, left, height, width)).placed(frame)
    return image.with_pixels(image.pixels[top : top + height, left : left + width], fresh=False).placed(frame)


def _settle_resize(parameters):
    choose_one(parameters, "dimensions", "short_side", "max_dimension")
    chosen, method = parameters["library"], parameters["method"]
    methods = libraries.RESIZE_METHODS[chosen]
    if method not in methods:
        raise ParameterError("%s cannot resize by `%s`" % (chosen, method), parameter="method", known=methods)
    choices = libraries.antialias_choices(chosen, method)
    if parameters["antialias"] is None:
        parameters["antialias"] = choices[0]
    elif parameters["antialias"] not in choices:
        raise ParameterError(
            "%s %s when it resizes by `%s`"
            % (chosen, "cannot antialias" if parameters["antialias"] else "always antialiases", method),
            parameter="antialias",
            hint=None if parameters["antialias"] else "name another library, for example `library: opencv`",
        )
    if parameters["dimensions"] is None:
        parameters["keep_aspect_ratio"] = True
    return parameters


def method_rules(known, library, method):
    """The same for an editor: which methods a library has, and whether it antialiases; then what is left out means."""
    allowed = []
    for name, methods in sorted(known.items()):
        for choices in sorted(set(libraries.antialias_choices(name, each) for each in methods)):
            fitting = [each for each in methods if libraries.antialias_choices(name, each) == choices]
            left_out = {"library": name == library, "method": method in fitting}
            allowed.append(
                {
                    "properties": {
                        "library": {"const": name},
                        "method": {"enum": fitting},
                        "antialias": {"enum": list(choices)},
                    },
                    "required": sorted(key for key, default in left_out.items() if not default),
                }
            )
    return {"anyOf": allowed}


_RESIZE_RULES = [
    one_of("dimensions", "short_side", "max_dimension"),
    method_rules(libraries.RESIZE_METHODS, "pillow", "bilinear"),
]


@step(main="dimensions", settle=_settle_resize, rules=_RESIZE_RULES)
def resize(
    image,
    *,
    dimensions: Dimensions("Size afterwards.") = None,
    short_side: Integer(
        "Length of the shorter side afterwards; the aspect ratio is kept.", at_least=1, at_most=65535
    ) = None,
    max_dimension: Integer(
        "Length of the longer side afterwards; the aspect ratio is kept.", at_least=1, at_most=65535
    ) = None,
    method: Choice(
        "Interpolation, by the library's own name for it.",
        *sorted(set(method for methods in libraries.RESIZE_METHODS.values() for method in methods)),
    ) = "bilinear",
    library: Choice("Which library resizes.", *sorted(libraries.RESIZE_METHODS)) = "pillow",
    antialias: Flag("Whether shrinking averages over all pixels; by default what the library does by itself.") = None,
    keep_aspect_ratio: Flag("With `dimensions`: scale until both sides are covered, then cut the centre out.") = False,
    rounding: Choice("How the side that follows from the aspect ratio is rounded.", "floor", "ceil", "round") = "floor",
):
    """Scale the image."""
    height, width = image.size
    if dimensions is not None and not keep_aspect_ratio:
        return scale_to(image, dimensions[0], dimensions[1], method, library, antialias)
    if dimensions is not None:
        scale = max(dimensions[0] / float(height), dimensions[1] / float(width))
    elif short_side is not None:
        scale = short_side / float(min(height, width))
    else:
        scale = max_dimension / float(max(height, width))
    new_height, new_width = (side_of(side, scale, rounding) for side in (height, width))
    if dimensions is not None:
        new_height, new_width = max(new_height, dimensions[0]), max(new_width, dimensions[1])
    scaled = scale_to(image, new_height, new_width, method, library, antialias)
    return crop(scaled, dimensions=dimensions) if dimensions is not None else scaled


def settle_method(parameters):
    """Which antialiasing a library does by a method, for steps that resize and say the size otherwise."""
    chosen = dict(parameters, dimensions=[1, 1], short_side=None, max_dimension=None)
    return dict(parameters, antialias=_settle_resize(chosen)["antialias"])


@step(main="multiple", settle=settle_method, rules=[method_rules(libraries.RESIZE_METHODS, "pillow", "bilinear")])
def resize_to_multiple(
    image,
    *,
    multiple: Integer("Each side is brought to the nearest multiple of this.", at_least=1, at_most=4096),
    short_side: Integer(
        "Pictures whose shorter side is less than this are enlarged first, in their aspect ratio.",
        at_least=1,
        at_most=65535,
    ) = None,
    method: Choice(
        "Interpolation, by the library's own name for it.",
        *sorted(set(method for methods in libraries.RESIZE_METHODS.values() for method in methods)),
    ) = "bilinear",
    library: Choice("Which library resizes.", *sorted(libraries.RESIZE_METHODS)) = "pillow",
    antialias: Flag("Whether shrinking averages over all pixels; by default what the library does by itself.") = None,
):
    """Scale the image until its sides are multiples of a number, as detectors of text need it."""
    scale = max(1.0, short_side / float(min(image.size))) if short_side is not None else 1.0
    sides = [max(1, int(round(side_of(side, scale, "floor") / float(multiple)))) * multiple for side in image.size]
    return scale_to(image, sides[0], sides[1], method, library, antialias)


def side_of(side, scale, rounding):
    exact = side * scale
    nearest = round(exact)
    if abs(exact - nearest) < 1e-6:  # 3 * (256 / 3.0) must be 256, whatever the rounding
        return max(1, int(nearest))
    return max(1, int(_ROUNDING[rounding](exact)))


def scale_to(image, height, width, method, library, antialias):
    if (height, width) == image.size:
        return image
    _refuse_large(height, width)
    frame = image.frame.scaled(height, width)
    if image.native is not None and image.library.name == library:
        return image.with_native(image.library.resize_native(image.native, height, width, method)).placed(frame)
    scaled = libraries.load(library).resize(image.pixels, height, width, method, antialias)
    return image.with_pixels(scaled).placed(frame)


def _refuse_large(height, width):
    if height * width > _MAX_PIXELS:
        raise ImageError("%d x %d pixels are more than the %d allowed" % (width, height, _MAX_PIXELS))


@step(main="dimensions")
def pad(
    image,
    *,
    dimensions: Dimensions("Size afterwards; a side that is already longer is refused."),
    method: Choice("Where the image stands.", "center", "top_left") = "center",
    value: PerChannel("What the border is filled with.") = 0.0,
):
    """Add a border until the image has a size."""
    import numpy as np

    height, width = image.size
    if height > dimensions[0] or width > dimensions[1]:
        raise ImageError(
            "cannot pad %d x %d (width x height) to %d x %d" % (width, height, dimensions[1], dimensions[0])
        )
    _refuse_large(*dimensions)
    pixels = image.pixels
    canvas = np.empty((dimensions[0], dimensions[1], pixels.shape[2]), pixels.dtype)
    canvas[...] = _border(value, pixels)
    top = (dimensions[0] - height) // 2 if method == "center" else 0
    left = (dimensions[1] - width) // 2 if method == "center" else 0
    canvas[top : top + height, left : left + width] = pixels
    return image.with_pixels(canvas).placed(image.frame.padded(top, left, dimensions[0], dimensions[1]))


def _border(value, pixels):
    import numpy as np

    wanted = np.asarray(value)
    if wanted.size not in (1, pixels.shape[2]):
        raise ImageError("%d values for an image of %d channels" % (wanted.size, pixels.shape[2]))
    if pixels.dtype.kind in "iu":
        limits = np.iinfo(pixels.dtype)
        if wanted.min() < limits.min or wanted.max() > limits.max:
            raise ImageError("a border of %s does not fit into %s" % (value, pixels.dtype))
    return wanted.astype(pixels.dtype)
