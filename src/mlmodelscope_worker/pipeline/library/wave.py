"""WAVE files, by our own parser: see `wave_file.py`."""

from ..wave_file import read_wave, samples_of

LOSSLESS = {"A-law": 16, "mu-law": 16}


def decode(encoded, most):
    """(samples as written, bits that a full scale has or 0 for fractions, rate, first sample)."""
    found = read_wave(encoded.data)
    first, end = encoded.piece(found.rate, found.count)
    bits = 0 if found.coding == "float" else LOSSLESS.get(found.coding, found.bits)
    return samples_of(encoded.data, found, first, end), bits, found.rate, first
