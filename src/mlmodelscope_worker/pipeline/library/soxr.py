"""Resampling with libsoxr."""

import numpy as np
import soxr


def resample(samples, before, after, kernel):
    """[n] or [channels, n]."""
    return np.asarray(soxr.resample(samples.T, before, after, quality=kernel)).T
