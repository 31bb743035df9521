"""RIFF/WAVE files, read with care: no byte is reserved that the file only claims to have.

PCM of 8, 16, 24 and 32 bits, float32, float64, A-law and mu-law, each plain or extensible, in RIFF and RF64 files.
"""

import struct

from .sound import MOST_CHANNELS, MOST_HERTZ
from .value import SampleError

_FORMATS = {1: "PCM", 3: "float", 6: "A-law", 7: "mu-law"}
_BITS = {"PCM": (8, 16, 24, 32), "float": (32, 64), "A-law": (8,), "mu-law": (8,)}
_EXTENSIBLE = 0xFFFE
_GUID = b"\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71"
_UNKNOWN = 0xFFFFFFFF
_MOST_CHUNKS = 1000
_OTHERS = (
    (b"ID3", "an MP3 file"),
    (b"\xff\xfb", "an MP3 file"),
    (b"\xff\xf3", "an MP3 file"),
    (b"fLaC", "a FLAC file"),
    (b"OggS", "an Ogg file"),
    (b"RIFX", "a RIFX file, with its bytes the other way round"),
    (b"FORM", "an AIFF file"),
    (b".snd", "an AU file"),
)


class WaveFile(object):
    """What a file says of itself: how samples are written, and where its bytes lie in it."""

    def __init__(self, coding, bits, channels, rate):
        self.coding, self.bits, self.channels, self.rate = coding, bits, channels, rate
        self.start = self.end = 0

    @property
    def block(self):
        """Bytes of one sample of all channels."""
        return self.channels * self.bits // 8

    @property
    def count(self):
        return (self.end - self.start) // self.block


def read_wave(data, is_stream=False):
    """The header of a file; SampleError where it is none, is cut off, or lies.

    A program that writes to a pipe cannot know how long a sound will be. With `is_stream` its data end with the file.
    """
    if not len(data):
        raise SampleError("the file is empty")
    if data[:4] not in (b"RIFF", b"RF64") or data[8:12] != b"WAVE":
        raise SampleError("it is not a WAVE file%s" % _guess(data))
    found, sizes = None, {}
    for name, start, size in _chunks(data, sizes):
        if name == b"ds64" and data[:4] == b"RF64" and size >= 16:
            sizes[b"data"] = struct.unpack("<Q", data[start + 8 : start + 16])[0]
        elif name == b"fmt ":
            if found is not None:
                raise SampleError("the WAVE file describes its samples twice")
            found = _format(bytes(data[start : start + min(size, 40)]))
        elif name == b"data":
            if found is None:
                raise SampleError("the WAVE file has samples before it says what they are")
            found.start, found.end = start, start + _length(len(data) - start, size, found, is_stream)
            return found
    raise SampleError("the WAVE file is truncated: it has no samples")


def _guess(data):
    for magic, name in _OTHERS:
        if data[: len(magic)] == magic:
            return " but %s; `library: soundfile` or `ffmpeg` reads others" % name
    return ""


def _chunks(data, sizes):
    """(name, start, size) of each part of a file; `sizes` has those that are written elsewhere."""
    place = 12
    for _ in range(_MOST_CHUNKS):
        if place + 8 > len(data):
            return
        name, size = bytes(data[place : place + 4]), struct.unpack("<I", data[place + 4 : place + 8])[0]
        if size == _UNKNOWN:
            size = sizes.get(name, size)
        yield name, place + 8, size
        place += 8 + size + size % 2  # an odd part is followed by a byte that belongs to nobody
    raise SampleError("the WAVE file has more than %d parts" % _MOST_CHUNKS)


def _format(content):
    if len(content) < 16:
        raise SampleError("the WAVE file's description of its samples is truncated")
    tag, channels, rate, _, block, bits = struct.unpack_from("<HHIIHH", content)
    if tag == _EXTENSIBLE:
        if len(content) < 40 or content[26:40] != _GUID:
            raise SampleError("the WAVE file's samples are in a format of somebody's own")
        tag = struct.unpack_from("<H", content, 24)[0]
    coding = _FORMATS.get(tag)
    if coding is None:
        raise SampleError("the WAVE file's samples are in format %d; known are %s" % (tag, ", ".join(_BITS)))
    if not 1 <= channels <= MOST_CHANNELS:
        raise SampleError("the WAVE file has %d channels; 1 to %d can be" % (channels, MOST_CHANNELS))
    if not 1 <= rate <= MOST_HERTZ:
        raise SampleError("the WAVE file has a rate of %d Hz; 1 to %d can be" % (rate, MOST_HERTZ))
    if bits not in _BITS[coding]:
        raise SampleError("the WAVE file has %s samples of %d bits" % (coding, bits))
    found = WaveFile(coding, bits, channels, rate)
    if block != found.block:
        raise SampleError("the WAVE file says %d bytes for %d channels of %d bits" % (block, channels, bits))
    return found


def _length(have, size, found, is_stream):
    """How many bytes the samples have."""
    if is_stream and size >= _UNKNOWN - found.block - 4096:
        size = have - have % found.block
    if size > have:
        unknown = "; a size that its writer never filled in, it seems" if size >= _UNKNOWN - 4096 else ""
        words = (size, have, unknown)
        raise SampleError("the WAVE file is truncated: it claims %d bytes of samples and has %d%s" % words)
    if size % found.block:
        raise SampleError("the WAVE file's %d bytes of samples end within a sample of %d" % (size, found.block))
    if not size:
        raise SampleError("the WAVE file has 0 samples")
    return size


def samples_of(data, found, first, end):
    """Samples as they are written, [n] or [channels, n]: int16 (16 bits and less, A-law, mu-law), int32 or float."""
    import numpy as np

    raw = np.frombuffer(data, np.uint8, (end - first) * found.block, found.start + first * found.block)
    if found.coding == "float":
        made = raw.view("<f%d" % (found.bits // 8))
    elif found.coding != "PCM":
        made = _table(found.coding)[raw]
    elif found.bits == 8:
        made = raw.astype(np.int16) - np.int16(128)
    elif found.bits == 24:
        wide = np.zeros((len(raw) // 3, 4), np.uint8)
        wide[:, 1:] = raw.reshape(-1, 3)
        made = wide.reshape(-1).view("<i4") >> 8
    else:
        made = raw.view("<i%d" % (found.bits // 8))
    made = made.astype(made.dtype.newbyteorder("="), copy=False)
    return made if found.channels == 1 else made.reshape(-1, found.channels).T


def _table(coding):
    """What each byte of ITU-T G.711 stands for, in 16 bits."""
    import numpy as np

    code = np.arange(256)
    if coding == "mu-law":
        code = code ^ 0xFF
        size = (((code & 0x0F) << 3) + 0x84 << ((code & 0x70) >> 4)) - 0x84
        return np.where(code & 0x80, -size, size).astype(np.int16)
    code = code ^ 0x55
    step = (code & 0x70) >> 4
    size = ((code & 0x0F) << 4) + np.where(step > 0, 0x108, 8) << np.maximum(step - 1, 0)
    return np.where(code & 0x80, size, -size).astype(np.int16)
