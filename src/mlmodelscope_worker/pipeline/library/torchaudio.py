"""Resampling as `torchaudio.functional.resample` does it: sinc interpolation with the width and roll-off it has."""

import torchaudio


def resample(samples, before, after, kernel):
    """[n] or [channels, n]."""
    from torch import from_numpy

    return torchaudio.functional.resample(from_numpy(samples.copy()), before, after, resampling_method=kernel).numpy()
