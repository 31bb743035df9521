"""A sound: samples and how many of them a second has, and where they lie in the file that they were read from."""

from .value import Frame, Opaque, SampleError, Tensor

MOST_CHANNELS = 64
MOST_HERTZ = 4000000
MOST_SAMPLES = 1 << 28
"""That any step makes of one sound."""


class SoundFrame(Frame):
    """Where samples, or frames of samples, lie in the original: `start` and `step` are in seconds, as is the `span` of
    one of them. `axis` is the one that time runs along."""

    def __init__(self, start=0.0, step=0.0, span=0.0, axis=0, lasts=None):
        self.start, self.step, self.span, self.axis = start, step, span, axis
        self.lasts = lasts
        """How long it is in seconds, where that is known."""

    def seconds(self, place):
        """(begin, end) of the sample or frame at this place, in seconds of the original; fill may lie outside of it."""
        begin = self.start + place * self.step
        return begin, begin + self.span

    @property
    def to_original(self):
        return self.start, self.step, self.span, self.axis


class EncodedSound(Opaque):
    """A sound file's bytes; of a longer file perhaps only `seconds` from `start` on are wanted."""

    kind, needed = "encoded sound", "`decode_audio` reads them"

    def __init__(self, data, start=0.0, seconds=None):
        self.data = data
        self.start = start
        self.seconds = seconds

    def piece(self, rate, count):
        """(first, end) of the samples that are wanted, of `count` at this rate."""
        if not count:
            raise SampleError("the sound has 0 samples")
        first = int(round(self.start * rate))
        end = count if self.seconds is None else int(round((self.start + self.seconds) * rate))
        if first >= count or end > count:
            words = (end / float(rate), count / float(rate))
            raise SampleError("the piece ends at %.3f s, and the sound has %.3f s" % words)
        return first, end


class Sound(object):
    """Samples, [n] or [channels, n], of any numeric type. `fresh` says that they are ours alone."""

    kind = "sound"
    several = False

    def __init__(self, array, rate, fresh=True, start=0.0, fill=None):
        self.array = array
        self.rate = rate
        self.fresh = fresh
        self.start = start
        """Seconds of the original that lie before the first sample."""
        self.fill = fill

    @property
    def frame(self):
        step = 1.0 / self.rate
        return SoundFrame(self.start, step, step, self.array.ndim - 1, self.array.shape[-1] / float(self.rate))

    @property
    def rows(self):
        return [self.array]

    def with_array(self, array, fresh=True):
        return Sound(array, self.rate, fresh, self.start, self.fill)

    def shared(self):
        return self.with_array(self.array, fresh=False)

    def moved(self, samples):
        """Seconds of the original before a first sample that lies so many behind the present one."""
        return self.start + samples / float(self.rate)

    @property
    def real(self):
        """The samples as fractions can be computed with: float32, or float64 as they are."""
        import numpy as np

        return self.array if self.array.dtype.kind == "f" else self.array.astype(np.float32)


def one_channel(sound):
    """The samples of a sound of one channel, [n]."""
    array = sound.array
    if array.ndim == 2 and array.shape[0] == 1:
        return array[0]
    if array.ndim != 1:
        raise SampleError("it has %d channels: `mono` makes one of them" % array.shape[0])
    return array


class Frames(Tensor):
    """Pieces of a sound that overlap, [frames, samples]; what `frames` makes, before it is a spectrum."""

    kind = "frames"

    def __init__(self, array, rate, fresh, frame):
        Tensor.__init__(self, array, fresh, frame)
        self.rate = rate

    def with_array(self, array, fresh=True):
        return Frames(array, self.rate, fresh, self.frame)

    def shared(self):
        return self.with_array(self.array, fresh=False)


class Spectrum(Frames):
    """Magnitudes or powers, [frames, n_fft / 2 + 1]; `n_fft` says which frequency each has."""

    kind = "spectrum"

    def __init__(self, array, rate, fresh, frame, n_fft):
        Frames.__init__(self, array, rate, fresh, frame)
        self.n_fft = n_fft

    def with_array(self, array, fresh=True):
        return Spectrum(array, self.rate, fresh, self.frame, self.n_fft)
