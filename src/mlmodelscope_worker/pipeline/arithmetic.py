"""Steps that change values: `cast`, `mean`, `rescale`, `normalize`, `quantize`, `dequantize`."""

from ..parameters import Choice, Integer, Number, PerChannel
from .header import ImageError
from .step import ANY, step

ELEMENT_TYPES = ("float32", "float16", "float64", "uint8", "int8", "int16", "int32", "int64")
_INTEGERS = {
    "uint8": (0, 255),
    "int8": (-128, 127),
    "int16": (-32768, 32767),
    "int32": (-(2**31), 2**31 - 1),
    "int64": (-(2**63), 2**63 - 1),
}
_ARITHMETIC = Choice(
    "Type in which the arithmetic is done; an integer type drops fractions, rounds quotients down and wraps around.",
    "float32",
    "uint8",
    "int8",
    "int16",
    "int32",
)


def _cast_all(values, element_type, mode):
    """What is of that type already stays as it is."""
    block = getattr(values[0], "block", None)
    if mode != "value" or block is None or block.array.dtype != element_type:
        raise NotImplementedError
    if any([getattr(each, "block", None) is not block for each in values]):
        raise NotImplementedError
    return values


@step(main="element_type", takes=ANY, together=_cast_all)
def cast(
    image,
    *,
    element_type: Choice("Type afterwards.", *ELEMENT_TYPES),
    mode: Choice(
        "`value` keeps the number (an integer type drops the fraction and wraps around), `saturate` rounds and clips, "
        "`scale` maps 0-255 to 0-1 and back, `truncate` does the same in integer arithmetic, as floor(x / 255).",
        "value",
        "saturate",
        "scale",
        "truncate",
    ) = "value",
):
    """Change the element type."""
    if image.several:
        return image.with_rows(lambda row: _cast(row, element_type, mode))
    array = image.array
    if mode == "value" and array.dtype == element_type and image.kind != "tokens":
        return image
    return image.with_array(_cast(array, element_type, mode))


def _cast(array, element_type, mode):
    import numpy as np

    to_integer = element_type in _INTEGERS
    if mode in ("scale", "truncate"):
        wide = array.astype(np.float32, copy=False)
        if to_integer and array.dtype.kind != "f":
            raise ImageError("`%s` maps fractions to whole numbers, and these are whole already" % mode)
        if to_integer:
            wide = wide * np.float32(255)
            return _saturate(np.floor(wide) if mode == "truncate" else wide, element_type)
        wide = wide / np.float32(255)
        return (np.floor(wide) if mode == "truncate" else wide).astype(element_type)
    if mode == "saturate" and to_integer:
        return _saturate(array, element_type)
    if to_integer and array.dtype.kind == "f":
        return array.astype(np.int64).astype(element_type)  # through int64: C leaves the direct way undefined
    return array.astype(element_type)


def _saturate(array, element_type):
    import numpy as np

    low, high = _INTEGERS[element_type]
    if array.dtype.kind in "biu":
        return array.astype(np.int64).clip(low, high).astype(element_type)
    # In a type that holds the limits exactly: float32 would round 2**31 - 1 up, out of the integer's range.
    wide = array.astype(np.float64 if element_type in ("int32", "int64") else np.float32, copy=False)
    return np.rint(wide).clip(low, min(high, 2**63 - 1024)).astype(element_type)


@step(main="values", takes=("image", "tensor", "sound"), gives=ANY)
def mean(
    image,
    *,
    values: PerChannel("What is subtracted: one number, or one per channel in channel order."),
    element_type: _ARITHMETIC = "float32",
):
    """Subtract a mean."""
    return image.with_array(_apply("subtract", image, values, element_type))


@step(main="divisor", takes=("image", "tensor", "sound"), gives=ANY)
def rescale(
    image,
    *,
    divisor: PerChannel("What is divided by: one number, or one per channel.", nonzero=True),
    element_type: _ARITHMETIC = "float32",
):
    """Divide by a scale."""
    return image.with_array(_apply("divide", image, divisor, element_type))


@step(takes=("image", "tensor"), gives=ANY)
def normalize(
    image,
    *,
    mean: PerChannel("What is subtracted first."),
    std: PerChannel("What is divided by then.", nonzero=True),
    element_type: _ARITHMETIC = "float32",
):
    """Subtract a mean, then divide by a standard deviation."""
    centred = image.with_array(_apply("subtract", image, mean, element_type))
    return image.with_array(_apply("divide", centred, std, element_type))


@step(takes=("image", "tensor", "sound"), gives=ANY)
def quantize(
    image,
    *,
    scale: Number("Real size of one quantised step.", above=0),
    zero_point: Integer("Quantised value of real 0.") = 0,
    element_type: Choice("Type afterwards.", "uint8", "int8") = "uint8",
):
    """Turn real values into a quantised model's integers: round(x / scale + zero_point), clipped to the type."""
    import numpy as np

    real = image.array.astype(np.float32, copy=False)
    return image.with_array(_saturate(real / np.float32(scale) + np.float32(zero_point), element_type))


@step(takes=("image", "tensor", "sound"), gives=ANY)
def dequantize(
    image,
    *,
    scale: Number("Real size of one quantised step.", above=0),
    zero_point: Integer("Quantised value of real 0.") = 0,
):
    """Turn integers that are stored quantised into real values: (q - zero_point) * scale."""
    import numpy as np

    whole = image.array.astype(np.float32)
    return image.with_array((whole - np.float32(zero_point)) * np.float32(scale))


def _apply(operation, image, values, element_type):
    """array (operation) values in one element type, in place where the array is ours alone."""
    import numpy as np

    dtype = np.dtype(element_type)
    array = image.array
    if array.dtype.kind == "f" and dtype.kind != "f":
        array = array.astype(np.int64).astype(dtype)
    operand = np.asarray(values).astype(np.int64).astype(dtype) if dtype.kind != "f" else np.asarray(values, dtype)
    layout = image.layout if image.kind == "image" else "HWC"  # of other numbers the last axis is what means differ in
    channels = array.shape[0] if layout == "CHW" else array.shape[-1]
    if operand.size not in (1, channels):
        raise ImageError("%d values for an image of %d channels" % (operand.size, channels))
    if operation == "subtract":
        function = np.subtract
    else:
        function = np.divide if dtype.kind == "f" else np.floor_divide
        if dtype.kind != "f" and not operand.all():
            raise ImageError("a divisor of %s is 0 in %s arithmetic" % (values, element_type))
    if operand.size > 1 and (operand == operand.flat[0]).all():
        operand = operand.reshape(-1)[0]
    # Pillow's arrays cannot be written to, even when they are ours.
    out = array if image.fresh and array.flags.writeable and array.dtype == dtype else None
    if operand.size == 1:
        return function(array, operand.reshape(()), out=out, dtype=dtype, casting="unsafe")
    if layout == "CHW":
        return function(array, operand.reshape(-1, 1, 1), out=out, dtype=dtype, casting="unsafe")
    if array.ndim != 3 or not array.flags.c_contiguous:
        return function(array, operand, out=out, dtype=dtype, casting="unsafe")
    # Broadcasting three values over the last axis makes numpy loop three elements at a time; a whole row at once
    # gives the same bits six times as fast.
    rows = array.reshape(array.shape[0], -1)
    row = np.tile(operand, array.shape[1])
    done = function(rows, row, out=rows if out is not None else None, dtype=dtype, casting="unsafe")
    return done.reshape(array.shape)
