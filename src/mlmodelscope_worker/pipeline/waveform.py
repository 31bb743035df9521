"""Steps on samples of a sound, before it is cut into frames: channels, rate, length, level."""

from ..parameters import Choice, Integer, Number, ParameterError
from . import library as libraries
from .sound import MOST_HERTZ, MOST_SAMPLES, Sound, one_channel
from .step import choose_one, one_of, step
from .value import SampleError, Tensor


@step(main="channel", takes="sound")
def mono(
    sound,
    *,
    channel: Choice(
        "`mean` of all channels, their `sum`, or the `left` (first) or `right` (second) one alone.",
        "mean",
        "sum",
        "left",
        "right",
    ) = "mean",
):
    """Make one channel of several; whole numbers become float32 unless one channel is taken as it is."""
    array = sound.array
    if array.ndim == 1:
        return sound
    if channel in ("left", "right") or len(array) == 1:
        place = int(channel == "right" and len(array) > 1)
        return sound.with_array(array[place], fresh=False)
    made = sound.real
    return sound.with_array(made.mean(axis=0) if channel == "mean" else made.sum(axis=0))


def _settle_resample(parameters):
    known = libraries.RESAMPLERS[parameters["library"]]
    if parameters["kernel"] is None:
        parameters["kernel"] = known[0]
    for each in known:
        if each.lower() == parameters["kernel"].lower():
            return dict(parameters, kernel=each)
    raise ParameterError(
        "%s has no kernel `%s`" % (parameters["library"], parameters["kernel"]),
        parameter="kernel",
        known=known,
        seen=parameters["kernel"],
    )


@step(main="rate", takes="sound", settle=_settle_resample)
def resample(
    sound,
    *,
    rate: Integer("Samples a second afterwards.", at_least=1, at_most=MOST_HERTZ),
    library: Choice("What resamples.", *libraries.RESAMPLERS) = "soxr",
    kernel: Choice(
        "The library's filter; its first one by default. `linear` has none, so that high tones fold down: a pitfall.",
        *sorted({kernel for kernels in libraries.RESAMPLERS.values() for kernel in kernels}),
    ) = None,
):
    """Change the rate of a sound; the result is float32, or float64 where the sound was. A sound that has the rate
    already stays as it is."""
    import numpy as np

    if sound.rate == rate:
        return sound
    if sound.array.size * (rate / float(sound.rate)) > MOST_SAMPLES:
        raise SampleError("%d samples at %d Hz are too many at %d Hz" % (sound.array.size, sound.rate, rate))
    real = sound.real
    made = libraries.load(library).resample(real, sound.rate, rate, kernel)
    if not made.shape[-1]:
        raise SampleError("no sample is left at %d Hz" % rate)
    return Sound(np.ascontiguousarray(made, real.dtype), rate, start=sound.start, fill=sound.fill)


@step(main="rate", takes="sound")
def assume_rate(
    sound,
    *,
    rate: Integer("Samples a second that the sound is taken to have.", at_least=1, at_most=MOST_HERTZ),
):
    """Take a sound for one of this rate; its samples stay. For files whose header is wrong, and for what happens when
    nobody looks at it: a pitfall."""
    return Sound(sound.array, rate, sound.fresh, sound.start, sound.fill)


@step(takes="sound")
def trim_silence(
    sound,
    *,
    top_db: Number("Frames that are so much softer than the loudest one are silence.", above=0) = 60.0,
    frame_length: Integer("Samples of a frame.", at_least=1, at_most=1 << 20) = 2048,
    hop_length: Integer("Samples from one frame to the next.", at_least=1, at_most=1 << 20) = 512,
):
    """Cut silence off at both ends, by the rule of `librosa.effects.trim`."""
    import numpy as np

    real = sound.real
    channels = real.reshape(-1, real.shape[-1])
    padded = np.pad(channels, ((0, 0), (frame_length // 2, frame_length // 2)), "constant").astype(np.float64)
    if padded.shape[1] < frame_length:
        return sound
    sums = np.concatenate([np.zeros((len(padded), 1)), np.cumsum(padded * padded, axis=1)], axis=1)
    starts = np.arange(0, padded.shape[1] - frame_length + 1, hop_length)
    power = np.maximum(sums[:, starts + frame_length] - sums[:, starts], 0) / frame_length
    floor = 1e-10  # librosa's amin for amplitudes, squared
    decibels = 10 * (np.log10(np.maximum(power, floor)) - np.log10(max(power.max(), floor)))
    loud = np.flatnonzero((decibels > -top_db).any(axis=0))
    first, end = loud[0] * hop_length, min(real.shape[-1], (loud[-1] + 1) * hop_length)
    return Sound(sound.array[..., first:end], sound.rate, False, sound.moved(first), sound.fill)


def _settle_length(parameters):
    choose_one(parameters, "samples", "seconds")
    return parameters


_SIDES = ("right", "left", "both", "none")


@step(main="samples", takes=("sound", "tensor"), settle=_settle_length, rules=(one_of("samples", "seconds"),))
def fix_length(
    sound,
    *,
    samples: Integer("So many samples afterwards; of a tensor, so many along its first axis.", at_least=1) = None,
    seconds: Number("Or so many seconds.", above=0) = None,
    pad_side: Choice("Where a shorter sound is filled up; `none` leaves it short.", *_SIDES) = "right",
    cut_side: Choice("Where a longer sound is cut; `none` leaves it long.", *_SIDES) = "right",
    fill: Choice(
        "A shorter sound is filled with `value`, or by repeating it from its start.", "value", "repeat"
    ) = "value",
    value: Number("What it is filled up with.") = 0.0,
):
    """Bring a sound to one length: fill a shorter one up, cut a longer one."""
    import numpy as np

    array, is_sound = sound.array, isinstance(sound, Sound)
    if samples is None and not is_sound:
        raise SampleError("only a sound has seconds: `samples` says how long a tensor is to be")
    length = samples if samples is not None else int(round(seconds * sound.rate))
    if not 1 <= length * (array.size // max(1, array.shape[-1])) <= MOST_SAMPLES:
        raise SampleError("%d samples are none, or too many" % length)
    axis = array.ndim - 1 if is_sound else 0
    extra = array.shape[axis] - length
    side = cut_side if extra > 0 else pad_side
    if not extra or side == "none":
        return sound
    before = {"right": 0, "left": abs(extra), "both": abs(extra) // 2}[side]
    if extra > 0:
        places = [slice(None)] * array.ndim
        places[axis] = slice(before, before + length)
        made = array[tuple(places)]
    elif fill == "repeat":
        made = np.take(array, np.arange(-before, length - before) % array.shape[axis], axis=axis)
    else:
        widths = [(0, 0)] * array.ndim
        widths[axis] = (before, -extra - before)
        made = np.pad(array, widths, "constant", constant_values=value)
    if not is_sound:
        return sound.with_array(made, fresh=extra < 0)
    return Sound(made, sound.rate, extra < 0, sound.moved(before if extra > 0 else -before), sound.fill)


@step(takes=("sound", "frames"), main="coefficient")
def preemphasis(
    sound,
    *,
    coefficient: Number("How much of the sample before is subtracted.", at_least=0, at_most=1) = 0.97,
    first: Choice(
        "The first sample has none before it: it stays (`keep`), is its own (`repeat`, Kaldi's rule), or becomes "
        "3 x[0] - x[1] (`librosa`).",
        "keep",
        "repeat",
        "librosa",
    ) = "keep",
):
    """Make high tones louder: y[t] = x[t] - coefficient * x[t - 1]. In frames each one begins anew."""
    import numpy as np

    array = sound.array
    real = array if array.dtype.kind == "f" else array.astype(np.float32)
    factor = real.dtype.type(coefficient)
    made = real.copy()
    made[..., 1:] -= factor * real[..., :-1]
    if first == "repeat":
        made[..., 0] -= factor * real[..., 0]
    elif first == "librosa" and real.shape[-1] > 1:
        made[..., 0] = 3 * real[..., 0] - real[..., 1]
    return sound.with_array(made)


@step(takes=("sound", "frames"))
def remove_dc(sound):
    """Subtract the mean: of each channel of a sound, or of each of its frames, as Kaldi does."""
    import numpy as np

    array = sound.array
    real = array if array.dtype.kind == "f" else array.astype(np.float32)
    return sound.with_array(real - real.mean(axis=-1, keepdims=True))


@step(takes="sound", main="by")
def normalize_sound(
    sound,
    *,
    by: Choice(
        "`peak` divides by the largest absolute value, `maximum` by the largest value, which need not be the largest "
        "absolute one, `rms` by the root mean square; `variance` subtracts the mean first and divides by the square "
        "root of the variance plus `epsilon`, as wav2vec 2.0 wants it.",
        "peak",
        "maximum",
        "rms",
        "variance",
    ),
    epsilon: Number("What is added: to the variance, or else to the divisor.", at_least=0) = 0.0,
):
    """Bring a sound to one loudness; silence, which nothing can be divided by, stays."""
    import numpy as np

    real = sound.real
    wide = real.astype(np.float64)
    if by == "variance":
        wide = wide - wide.mean(axis=-1, keepdims=True)
        divisor = np.sqrt(wide.var(axis=-1, keepdims=True) + epsilon)
    elif by == "rms":
        divisor = np.sqrt((wide * wide).mean()) + epsilon
    else:
        divisor = (np.abs(wide) if by == "peak" else wide).max() + epsilon
    return sound.with_array((wide / np.where(divisor == 0, 1, divisor)).astype(real.dtype))


@step(takes=("sound", "tensor"))
def pad_batch(
    sound,
    *,
    value: Number("What shorter ones are filled up with.") = 0.0,
    side: Choice("Where.", "right", "left") = "right",
):
    """Let samples of other lengths share a batch: shorter ones are filled up along their first axis."""
    if isinstance(sound, Sound):
        return Sound(one_channel(sound), sound.rate, False, sound.start, (value, side))
    return Tensor(sound.array, sound.fresh, sound.frame, (value, side), sound.several)


@step(takes=("sound", "tensor"), gives="tensor", main="tensor")
def extent(
    sound,
    *,
    tensor: Choice("A `mask` of a 1 for each sample or frame, or how many there are: `length`.", "mask", "length"),
):
    """Tell a model how long a sound is, or how many frames its features have, beside the input that has them."""
    import numpy as np

    axis = sound.array.ndim - 1 if isinstance(sound, Sound) else getattr(sound.frame, "axis", 0)
    count = sound.array.shape[axis]
    if tensor == "length":
        return Tensor(np.array(count, np.int64))
    fill = (0, sound.fill[1]) if sound.fill else None
    return Tensor(np.ones(count, np.int64), True, sound.frame, fill)
