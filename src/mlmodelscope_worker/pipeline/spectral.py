"""From a sound to bands of its spectrum: `frames`, `window`, `spectrum`, `mel`."""

import functools
import math

from ..parameters import Choice, Flag, Integer, Number
from .sound import MOST_SAMPLES, Frames, SoundFrame, Spectrum, one_channel
from .step import step
from .value import SampleError, Tensor

_MOST_BINS = 1 << 20
_PADDINGS = {"zero": "constant", "reflect": "reflect", "symmetric": "symmetric", "edge": "edge"}


@step(takes="sound", gives="frames")
def frames(
    sound,
    *,
    length: Integer("Samples of a frame.", at_least=1, at_most=1 << 20),
    hop: Integer("Samples from the start of one frame to that of the next.", at_least=1, at_most=1 << 20),
    edges: Choice(
        "`cut` takes whole frames only; `center` puts the middle of the first frame at the first sample, as librosa, "
        "torch and Whisper do; `kaldi` puts the first hop in the middle of the first frame (`snip_edges` false); `end` "
        "fills the last frames up, so that each hop begins one (TensorFlow's `pad_end`).",
        "cut",
        "center",
        "kaldi",
        "end",
    ) = "cut",
    padding: Choice(
        "What lies beyond the ends: zeros, or the sound mirrored at its last sample (`reflect`) or behind it "
        "(`symmetric`, Kaldi's), or that sample again.",
        *_PADDINGS,
    ) = "zero",
    drop_last: Flag("Leave the last frame out, as Whisper does.") = False,
):
    """Cut a sound of one channel into frames that overlap, [frames, samples]."""
    array = one_channel(sound)
    size = len(array)
    before, after = _beyond(size, length, hop, edges)
    if before or after:
        array = _padded(array, before, after, padding)
    count = 1 + (len(array) - length) // hop - int(drop_last)
    if count < 1:
        raise SampleError("%d samples are too few for a frame of %d" % (size, length))
    if count * length > MOST_SAMPLES:
        raise SampleError("%d frames of %d samples are too many" % (count, length))
    made = _strided(array, count, length, hop)
    rate = float(sound.rate)
    frame = SoundFrame(sound.moved(-before), hop / rate, length / rate, lasts=sound.frame.lasts)
    return Frames(made, sound.rate, False, frame)


def _beyond(size, length, hop, edges):
    """How many samples the frames need before the first one and behind the last; fewer than none are cut."""
    if edges == "cut":
        return 0, 0
    if edges == "center":
        return length // 2, length // 2
    if edges == "end":
        return 0, (-(-size // hop) - 1) * hop + length - size
    before = length // 2 - hop // 2
    return before, ((size + hop // 2) // hop - 1) * hop + length - size - before


def _padded(array, before, after, padding):
    import numpy as np

    array = array[max(0, -before) : len(array) - max(0, -after)]
    widths = (max(0, before), max(0, after))
    if not len(array) or padding == "reflect" and max(widths) >= len(array):
        raise SampleError("%d samples are too few to be mirrored by %d" % (len(array), max(widths)))
    return np.pad(array, widths, _PADDINGS[padding])


def _strided(array, count, length, hop):
    """All frames without a copy."""
    import numpy as np

    stride = array.strides[0]
    return np.lib.stride_tricks.as_strided(array, (count, length), (hop * stride, stride), writeable=False)


@step(takes="frames", main="shape")
def window(
    frames,
    *,
    shape: Choice("Shape of the window.", "hann", "hamming", "povey", "blackman", "rectangular"),
    kind: Choice(
        "A `periodic` window leaves out the last sample of a symmetric one that is longer by one, as librosa, torch "
        "and TensorFlow do; Kaldi's are `symmetric`.",
        "periodic",
        "symmetric",
    ) = "periodic",
    length: Integer(
        "Samples of the window, the frame's by default; a shorter one stands in the middle, and zeros around it.",
        at_least=1,
        at_most=1 << 20,
    ) = None,
):
    """Weigh the samples of each frame."""
    size = frames.array.shape[1]
    if length is not None and length > size:
        raise SampleError("a window of %d samples does not fit into frames of %d" % (length, size))
    wide = frames.array.dtype.name == "float64"
    return frames.with_array(frames.array * window_of(shape, kind, length or size, size, "f8" if wide else "f4"))


@functools.lru_cache(maxsize=64)
def window_of(shape, kind, length, size, element_type):
    """A window's values, in the middle of `size`."""
    import numpy as np

    turn = 2 * np.pi * np.arange(length) / max(1, length if kind == "periodic" else length - 1)
    if shape == "rectangular" or length == 1:
        made = np.ones(length)
    elif shape == "hamming":
        made = 0.54 - 0.46 * np.cos(turn)
    elif shape == "blackman":
        made = 0.42 - 0.5 * np.cos(turn) + 0.08 * np.cos(2 * turn)
    else:
        made = (0.5 - 0.5 * np.cos(turn)) ** (0.85 if shape == "povey" else 1)
    before = (size - length) // 2
    return np.pad(made, (before, size - length - before), "constant").astype(element_type)


@step(takes="frames", gives="spectrum")
def spectrum(
    frames,
    *,
    n_fft: Integer(
        "Points of the Fourier transform; frames that are shorter are filled up with zeros at their end. By default "
        "the frame's length.",
        at_least=1,
        at_most=_MOST_BINS,
    ) = None,
    power: Integer("1 gives magnitudes, 2 their squares.", at_least=1, at_most=2) = 2,
    element_type: Choice(
        "Type of the arithmetic, where NumPy has it, and of the result.", "float32", "float64"
    ) = "float32",
):
    """The spectrum of each frame, [frames, n_fft / 2 + 1]."""
    import numpy as np

    array = frames.array
    n_fft = n_fft or array.shape[1]
    if n_fft < array.shape[1]:
        raise SampleError("frames of %d samples do not fit into a transform of %d" % (array.shape[1], n_fft))
    if len(array) * n_fft > MOST_SAMPLES:
        raise SampleError("%d frames of %d points are too many" % (len(array), n_fft))
    found = np.fft.rfft(array.astype(element_type, copy=False), n_fft)
    made = np.abs(found) if power == 1 else found.real**2 + found.imag**2
    return Spectrum(made.astype(element_type, copy=False), frames.rate, True, frames.frame, n_fft)


@step(takes="spectrum", gives="tensor")
def mel(
    spectrum,
    *,
    count: Integer("How many bands.", at_least=1, at_most=4096),
    low: Number("Where the lowest band begins, in hertz.", at_least=0) = 0.0,
    high: Number("Where the highest band ends, in hertz; half of the rate by default.", above=0) = None,
    scale: Choice(
        "`slaney` is straight up to 1000 Hz, as librosa and Whisper have it by default; `htk` is 2595 log10(1 + f / "
        "700), as torchaudio, Kaldi and TensorFlow have it.",
        "slaney",
        "htk",
    ),
    norm: Choice(
        "`slaney` divides each band by its width in hertz, as librosa does; `none` lets all peak at 1.",
        "slaney",
        "none",
    ),
    triangles: Choice(
        "Whether the sides of a band are straight over `hertz` (librosa, torchaudio, Whisper) or over the `mel` scale "
        "(Kaldi, TensorFlow).",
        "hertz",
        "mel",
    ) = "hertz",
    element_type: Choice("Type of the bands' weights, and of the sums.", "float32", "float64") = "float32",
):
    """Sum up a spectrum in bands as the ear hears them, [frames, count]."""
    import numpy as np

    high = high if high is not None else spectrum.rate / 2.0
    if not low < high <= spectrum.rate / 2.0:
        words = (low, high, spectrum.rate / 2.0)
        raise SampleError("bands from %g to %g Hz do not lie within 0 to %g Hz of this sound" % words)
    weights = mel_weights(spectrum.rate, spectrum.n_fft, count, low, high, scale, norm, triangles, element_type)
    return Tensor(np.dot(spectrum.array.astype(element_type, copy=False), weights), True, spectrum.frame)


@functools.lru_cache(maxsize=64)
def mel_weights(rate, n_fft, count, low, high, scale, norm, triangles, element_type):
    """[n_fft / 2 + 1, count]."""
    import numpy as np

    bins = np.arange(n_fft // 2 + 1) * (rate / float(n_fft))
    to_mel, to_hertz = _SCALES[scale]
    borders = np.linspace(float(to_mel(low)), float(to_mel(high)), count + 2)
    hertz = to_hertz(borders)
    places = bins if triangles == "hertz" else to_mel(bins)
    edges = hertz if triangles == "hertz" else borders
    left, middle, right = (edges[each : each + count] for each in range(3))
    rising = (places[:, None] - left) / (middle - left)
    falling = (right - places[:, None]) / (right - middle)
    made = np.maximum(0, np.minimum(rising, falling))
    if norm == "slaney":
        made *= 2.0 / (hertz[2:] - hertz[:-2])
    return np.ascontiguousarray(made.astype(element_type))


def _htk_mel(hertz):
    import numpy as np

    return 2595.0 * np.log10(1 + np.asarray(hertz, np.float64) / 700.0)


def _htk_hertz(mels):
    return 700.0 * (10.0 ** (mels / 2595.0) - 1)


_LINE = 200.0 / 3  # hertz of a mel below 1000 Hz
_STEP = math.log(6.4) / 27.0


def _slaney_mel(hertz):
    import numpy as np

    hertz = np.asarray(hertz, np.float64)
    return np.where(hertz < 1000, hertz / _LINE, 15 + np.log(np.maximum(hertz, 1e-9) / 1000) / _STEP)


def _slaney_hertz(mels):
    import numpy as np

    return np.where(mels < 15, mels * _LINE, 1000 * np.exp(_STEP * (mels - 15)))


_SCALES = {"htk": (_htk_mel, _htk_hertz), "slaney": (_slaney_mel, _slaney_hertz)}
