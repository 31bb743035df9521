"""Steps that make a model's input out of the picture that it is to give back: `crop_multiple`, `scale`, `luma`, ...

Super-resolution and its relatives have no degraded pictures on disk: the protocol says how they are made.
"""

from ..parameters import Choice, Flag, Integer, Number, ParameterError
from . import library as libraries
from .geometry import cut, method_rules, scale_to, side_of
from .header import ImageError
from .step import step


@step(main="multiple")
def crop_multiple(image, *, multiple: Integer("Height and width become multiples of this.", at_least=1, at_most=65535)):
    """Cut rows at the bottom and columns at the right until both sides are multiples of a number."""
    height, width = (side - side % multiple for side in image.size)
    if not height or not width:
        raise ImageError("%d x %d pixels have no multiple of %d in them" % (image.size[1], image.size[0], multiple))
    return image if (height, width) == image.size else cut(image, 0, 0, height, width)


def _settle_scale(parameters):
    chosen, method = parameters["library"], parameters["method"]
    methods = libraries.SCALE_METHODS[chosen]
    if method not in methods:
        raise ParameterError("%s cannot resize by `%s`" % (chosen, method), parameter="method", known=methods)
    choices = libraries.antialias_choices(chosen, method)
    if parameters["antialias"] is None:
        parameters["antialias"] = choices[0]
    elif parameters["antialias"] not in choices:
        does = "cannot antialias" if parameters["antialias"] else "always antialiases"
        raise ParameterError("%s %s when it resizes by `%s`" % (chosen, does, method), parameter="antialias")
    return parameters


@step(main="factor", settle=_settle_scale, rules=[method_rules(libraries.SCALE_METHODS, "matlab", "bicubic")])
def scale(
    image,
    *,
    factor: Number("By how much each side grows: 0.5 halves it, 2 doubles it.", above=0, at_most=64),
    method: Choice(
        "Interpolation, by the library's own name for it.",
        *sorted(set(method for methods in libraries.SCALE_METHODS.values() for method in methods)),
    ) = "bicubic",
    library: Choice(
        "Which library resizes; `matlab` is the arithmetic of MATLAB's `imresize`.", *sorted(libraries.SCALE_METHODS)
    ) = "matlab",
    antialias: Flag("Whether shrinking averages over all pixels; by default what the library does by itself.") = None,
    rounding: Choice("How a side that is not whole is rounded.", "floor", "ceil", "round") = "ceil",
):
    """Scale both sides by a factor."""
    height, width = (side_of(side, factor, rounding) for side in image.size)
    return scale_to(image, height, width, method, library, antialias)


_LUMA = {"studio": (65.481 / 255, 128.553 / 255, 24.966 / 255), "full": (0.299, 0.587, 0.114)}
_BLACK = {"studio": 16.0, "full": 0.0}


@step(main="range")
def luma(
    image,
    *,
    range: Choice(
        "`studio`: 16 to 235, as MATLAB's `rgb2ycbcr` has it; `full`: 0 to 255, as JPEG has it.", "studio", "full"
    ) = "studio",
):
    """Keep the luma of ITU-R 601 alone: one channel of float32 that is not rounded, from RGB of 0 to 255."""
    import numpy as np

    pixels = image.pixels
    if pixels.shape[2] == 1:
        pixels = pixels.repeat(3, axis=2)
    elif image.color == "BGR":
        pixels = pixels[:, :, ::-1]
    found = pixels.astype(np.float64).dot(np.array(_LUMA[range])) + _BLACK[range]
    made = image.with_pixels(found[:, :, None].astype(np.float32))
    return made.with_array(made.array, color="GRAY")


@step(main="half")
def round(
    image,
    *,
    half: Choice("Where a half goes: up, or to the even number.", "up", "even") = "up",
):
    """Round every value to a whole number; the element type stays."""
    import numpy as np

    if image.array.dtype.kind != "f":
        return image
    return image.with_array(np.rint(image.array) if half == "even" else np.floor(image.array + 0.5))


@step()
def clip(
    image, *, low: Number("What is below becomes this.") = 0.0, high: Number("What is above becomes this.") = 255.0
):
    """Bring every value between two bounds."""
    return image.with_array(image.array.clip(low, high).astype(image.array.dtype))


@step()
def noise(
    image,
    *,
    sigma: Number("Standard deviation of the noise, in units of the values.", above=0),
    seed: Integer("Another number, other noise; the same in every run and on every machine.", at_least=0) = 0,
):
    """Add Gaussian noise that depends on nothing but the seed and the picture's size; float32 afterwards."""
    import numpy as np

    drawn = np.random.RandomState(seed & 0xFFFFFFFF).standard_normal(image.pixels.shape)
    return image.with_pixels((image.pixels + sigma * drawn).astype(np.float32))
