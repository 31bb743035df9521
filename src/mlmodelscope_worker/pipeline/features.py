"""Steps on features of a sound, [frames, features]: `log`, `mfcc`, `normalize_features`, `feature_layout`."""

import functools

from ..parameters import Choice, Integer, Number, Numbers, ParameterError
from .sound import SoundFrame
from .step import step
from .value import SampleError, Tensor


@step(takes=("spectrum", "tensor"), gives="tensor", main="base")
def log(
    features,
    *,
    base: Choice(
        "`natural`, `10` or `2`; `db` is 10 log10, for powers; `db_magnitude` is 20 log10, for magnitudes.",
        "natural",
        "10",
        "2",
        "db",
        "db_magnitude",
    ),
    floor: Number("Smaller values are raised to this one first.", at_least=0) = 0.0,
    add: Number("What is added before the logarithm, after `floor`.", at_least=0) = 0.0,
    reference: Choice("The value that becomes 0: `one`, or the largest of the sample (`max`).", "one", "max") = "one",
    span: Number(
        "Results are raised to the largest one minus this: librosa's `top_db` 80, Whisper's 8.", above=0
    ) = None,
):
    """The logarithm of each value, kept away from 0 by `floor` or `add`."""
    import numpy as np

    array = features.array
    real = array if array.dtype.kind == "f" else array.astype(np.float32)
    made = np.maximum(real, real.dtype.type(floor)) if floor else real
    if add:
        made = made + real.dtype.type(add)
    if not np.isfinite(made).all():
        raise SampleError("the logarithm of values that are not finite")
    if not made.size or not made.min() > 0:
        raise SampleError("the logarithm of 0 or less: `floor` or `add` keeps values above it")
    top = made.max() if reference == "max" else None
    function = {"natural": np.log, "2": np.log2}.get(base, np.log10)
    factor = {"db": 10, "db_magnitude": 20}.get(base, 1)
    made = function(made)
    if factor != 1:
        made *= real.dtype.type(factor)
    if top is not None:
        made -= real.dtype.type(factor * function(top))
    if span is not None:
        np.maximum(made, made.max() - real.dtype.type(span), out=made)
    return Tensor(made, True, features.frame, features.fill)


@step(takes="tensor", main="count")
def mfcc(
    features,
    *,
    count: Integer("How many coefficients.", at_least=1, at_most=4096),
    first: Integer(
        "Number of the first one: 1 leaves out coefficient 0, which says how loud it is.", at_least=0, at_most=4095
    ) = 0,
    dct: Integer("Type of the cosine transform, 2 or 3.", at_least=2, at_most=3) = 2,
    norm: Choice(
        "`ortho`, as librosa, torchaudio and Kaldi have it; `htk` scales all coefficients alike by sqrt(2 / n), as HTK "
        "and TensorFlow do; `none` is twice the plain sum.",
        "ortho",
        "htk",
        "none",
    ) = "ortho",
    lifter: Number("Weigh coefficient i by 1 + lifter / 2 * sin(pi * i / lifter); 0 does not.", at_least=0) = 0.0,
    lifter_first: Integer(
        "Number of the first coefficient there: 0 for Kaldi and HTK, 1 for librosa.", at_least=0, at_most=1
    ) = 0,
):
    """Cepstral coefficients: the cosine transform of the logarithms of bands, [frames, count]."""
    import numpy as np

    array = features.array
    if array.ndim != 2 or first + count > array.shape[1]:
        words = (first + count, " x ".join(str(side) for side in array.shape))
        raise SampleError("%d coefficients cannot be made of features of %s" % words)
    real = array if array.dtype.kind == "f" else array.astype(np.float32)
    matrix = cosines(array.shape[1], first + count, dct, norm, lifter, lifter_first, real.dtype.name)
    return features.with_array(np.dot(real, matrix[:, first:]))


@functools.lru_cache(maxsize=64)
def cosines(size, count, dct, norm, lifter, lifter_first, element_type):
    """[size, count]."""
    import numpy as np

    place, number = np.arange(size)[:, None], np.arange(count)
    if dct == 2:
        made = 2 * np.cos(np.pi * (place + 0.5) * number / size)
        ends = number == 0
    else:
        made = 2 * np.cos(np.pi * place * (number + 0.5) / size)
        ends = np.broadcast_to(place == 0, made.shape)
        if norm != "ortho":
            made = np.where(ends, made / 2, made)
    if norm != "none":
        made = made * np.sqrt(0.5 / size)
    if norm == "ortho":
        made = np.where(ends, made * np.sqrt(0.5), made)
    if lifter:
        made = made * (1 + lifter / 2.0 * np.sin(np.pi * (number + lifter_first) / lifter))
    return np.ascontiguousarray(made.astype(element_type))


def _settle_normalize(parameters):
    given = parameters["mean"] is not None or parameters["std"] is not None
    if given != (parameters["over"] == "given"):
        raise ParameterError(
            "`mean` and `std` go with `over: given`, and only with it",
            parameter="over",
            hint="`over: given` takes numbers; the others compute them from each sample",
        )
    return parameters


@step(takes=("tensor", "spectrum"), gives="tensor", settle=_settle_normalize)
def normalize_features(
    features,
    *,
    over: Choice(
        "What mean and deviation are taken over: `time` (each feature has its own), `all` values of the sample, "
        "`features` (each frame has its own); or they are `given`.",
        "time",
        "all",
        "features",
        "given",
    ),
    deviation: Choice(
        "What is divided by: nothing (`none`), the `population` deviation (n), or that of a `sample` (n - 1).",
        "none",
        "population",
        "sample",
    ) = "population",
    epsilon: Number("What is added so that nothing is divided by 0.", at_least=0) = 0.0,
    epsilon_in: Choice(
        "Whether it is added to the `deviation` or to the `variance`.", "deviation", "variance"
    ) = "deviation",
    mean: Numbers("With `given`: one number, or one for each feature.") = None,
    std: Numbers("With `given`: what is divided by then, one number or one for each feature.") = None,
):
    """Subtract a mean and divide by a deviation, of the sample itself or as given; sums are in float64."""
    import numpy as np

    array = features.array
    if array.ndim != 2:
        raise SampleError("features are frames x features; these are %d axes" % array.ndim)
    wide = array.astype(np.float64)
    kept = np.float64 if array.dtype.name == "float64" else np.float32
    if over == "given":
        for numbers in (mean or [0], std or [1]):
            if len(numbers) not in (1, array.shape[1]):
                raise SampleError("%d numbers for %d features" % (len(numbers), array.shape[1]))
        divisor = np.asarray(std or [1])
        made = wide - np.asarray(mean or [0])
    else:
        axis = {"time": 0, "all": None, "features": 1}[over]
        made = wide - wide.mean(axis=axis, keepdims=True)
        divisor = np.ones(1) if deviation == "none" else _deviation(made, axis, deviation, epsilon, epsilon_in)
    return Tensor((made / np.where(divisor == 0, 1, divisor)).astype(kept), True, features.frame, features.fill)


def _deviation(centered, axis, deviation, epsilon, epsilon_in):
    import numpy as np

    count = centered.size if axis is None else centered.shape[axis]
    freedom = count - 1 if deviation == "sample" else count
    if freedom < 1:
        raise SampleError("the deviation of one value is not known")
    variance = (centered * centered).sum(axis=axis, keepdims=True) / freedom
    return np.sqrt(variance + epsilon) if epsilon_in == "variance" else np.sqrt(variance) + epsilon


_ORDERS = {
    "TF": ((0, 1), None),
    "FT": ((1, 0), None),
    "TFC": ((0, 1), 2),
    "FTC": ((1, 0), 2),
    "CTF": ((0, 1), 0),
    "CFT": ((1, 0), 0),
}


@step(takes=("tensor", "spectrum"), gives="tensor", main="order")
def feature_layout(
    features,
    *,
    order: Choice("T is time, F are the features, C is an axis of one channel.", *_ORDERS),
):
    """Bring frames x features into the order of axes that the model takes."""
    import numpy as np

    if features.array.ndim != 2 or getattr(features.frame, "axis", 0):
        raise SampleError("features are frames x features before `feature_layout`, which can be used once")
    axes, channel = _ORDERS[order]
    made = features.array.transpose(axes)
    frame = features.frame
    if channel is not None:
        made = np.expand_dims(made, channel)
    if isinstance(frame, SoundFrame):
        frame = SoundFrame(frame.start, frame.step, frame.span, order.index("T"), frame.lasts)
    return Tensor(made, features.fresh, frame, features.fill)
