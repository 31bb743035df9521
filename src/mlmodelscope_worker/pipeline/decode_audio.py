"""`decode_audio`: a sound file becomes samples."""

from ..parameters import Choice, Integer
from . import library as libraries
from .sound import EncodedSound, Sound
from .step import step
from .value import SampleError


@step(takes="encoded sound", gives="sound")
def decode_audio(
    encoded,
    *,
    library: Choice("What reads the file.", *libraries.AUDIO_DECODERS) = "wave",
    scale: Choice(
        "`unit` makes float32 from -1 to 1: whole numbers are divided by 2^(bits - 1), 32768 for 16 bits. `int16` "
        "makes float32 of the same times 32768, as Kaldi wants it. `keep` leaves numbers and type as the file has "
        "them.",
        "unit",
        "int16",
        "keep",
    ) = "unit",
    max_samples: Integer("A sound with more samples, all channels together, is refused.", at_least=1) = 1 << 27,
):
    """Read a sound file, or a piece of it: [samples], or [channels, samples] where there are several."""
    import numpy as np

    if not isinstance(encoded, EncodedSound):
        encoded = EncodedSound(encoded)
    made, bits, rate, first = libraries.load(library).decode(encoded, max_samples)
    if made.size > max_samples:
        raise SampleError("%d samples are more than the %d allowed" % (made.size, max_samples))
    if not made.size:
        raise SampleError("the sound has 0 samples")
    if scale != "keep":
        full = (1 << bits - 1 if bits else 1) / (32768.0 if scale == "int16" else 1.0)
        with np.errstate(over="ignore"):  # what becomes infinite is refused below
            # 32 bits do not fit into float32: there the division comes first.
            made = (made / full).astype(np.float32) if bits > 24 else made.astype(np.float32)
            if bits <= 24 and full != 1:
                made *= np.float32(1.0 / full)
    if not bits and not np.isfinite(made).all():
        raise SampleError("some samples are not numbers (NaN), or too large")
    return Sound(np.ascontiguousarray(made), rate, start=first / float(rate))
