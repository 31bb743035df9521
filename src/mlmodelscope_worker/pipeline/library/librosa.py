"""Resampling as `librosa.resample` does it."""

import librosa


def resample(samples, before, after, kernel):
    """[n] or [channels, n]."""
    return librosa.resample(samples, orig_sr=before, target_sr=after, res_type=kernel)
