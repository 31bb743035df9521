"""Sound files as libsndfile reads them: WAVE, FLAC, Ogg, AIFF and, in newer versions, MP3."""

import io

import numpy as np
import soundfile

from ..sound import MOST_CHANNELS, MOST_HERTZ
from ..value import SampleError

_BITS = {"PCM_S8": 8, "PCM_U8": 8, "PCM_16": 16, "ULAW": 16, "ALAW": 16, "PCM_24": 24, "PCM_32": 32}
_BLOCK = 1 << 20


def decode(encoded, most):
    """(samples as written, bits that a full scale has or 0 for fractions, rate, first sample)."""
    if not len(encoded.data):
        raise SampleError("the file is empty")
    try:
        with soundfile.SoundFile(io.BytesIO(encoded.data)) as file:
            return _read(file, encoded, most)
    except (RuntimeError, TypeError, ValueError) as error:
        if isinstance(error, SampleError):
            raise
        raise SampleError("soundfile cannot read it: %s" % (getattr(error, "error_string", None) or error))


def _read(file, encoded, most):
    if not 1 <= file.channels <= MOST_CHANNELS or not 1 <= file.samplerate <= MOST_HERTZ:
        raise SampleError("it has %d channels and a rate of %d Hz" % (file.channels, file.samplerate))
    first, end = encoded.piece(file.samplerate, file.frames)
    if (end - first) * file.channels > most:
        raise SampleError("%d samples are more than the %d allowed" % ((end - first) * file.channels, most))
    bits = _BITS.get(file.subtype, 0)
    wanted = "float64" if file.subtype == "DOUBLE" else "float32" if not bits else "int16" if bits <= 16 else "int32"
    if first:
        file.seek(first)
    parts, missing = [], end - first
    while missing:  # in blocks: a header may claim what the file does not have
        part = file.read(min(missing, _BLOCK), dtype=wanted)
        if not len(part):
            raise SampleError("the file is truncated: %d of %d samples are missing" % (missing, end - first))
        parts.append(part)
        missing -= len(part)
    made = parts[0] if len(parts) == 1 else np.concatenate(parts)
    if bits in (8, 24):  # libsndfile fills the type, we keep the numbers that are written
        made = made >> 8
    return made if made.ndim == 1 else made.T, bits, file.samplerate, first
