"""Resampling with SciPy: a polyphase filter (Kaiser, beta 5) or the Fourier transform."""

import math

from scipy import signal


def resample(samples, before, after, kernel):
    """[n] or [channels, n]."""
    if kernel == "polyphase":
        shared = math.gcd(before, after)
        return signal.resample_poly(samples, after // shared, before // shared, axis=-1)
    return signal.resample(samples, int(math.ceil(samples.shape[-1] * after / float(before))), axis=-1)
