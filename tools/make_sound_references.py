"""Write what librosa, torchaudio and TensorFlow make of a sound, for tests in environments that have none of them.

`python tools/make_sound_references.py librosa` in an environment with that library writes
`tests/worker_package/pipeline/sound_references/librosa.npz`: the arrays by name, in float64, and the versions.
"""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "tests" / "worker_package" / "pipeline" / "sound_references"
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "src")]

from worker_package.sounds import signal  # noqa: E402

RATE, SHORT, QUIET = 16000, 4000, 3000
"""The sound has so many samples; what silence is cut off of has silence on both sides."""


def of_librosa() -> dict[str, Any]:
    import librosa

    sound = signal(SHORT)
    power = {"y": sound, "sr": RATE, "n_fft": 512, "hop_length": 160, "win_length": 400}
    bands = librosa.feature.melspectrogram(**power, n_mels=40, pad_mode="constant", dtype=np.float64)
    decibels = librosa.power_to_db(bands)
    quiet = np.concatenate([np.zeros(QUIET), sound, np.zeros(QUIET)])
    filters = {"sr": 22050, "n_fft": 256, "n_mels": 20, "fmin": 30, "fmax": 9000, "dtype": np.float64}
    return {
        "mel": bands,
        "decibels": decibels,
        "mfcc": librosa.feature.mfcc(S=decibels, n_mfcc=13, lifter=22),
        "magnitude": np.abs(librosa.stft(sound, n_fft=400, hop_length=160, pad_mode="reflect", dtype=np.complex128)),
        "amplitude_db": librosa.amplitude_to_db(np.abs(sound[:100]) + 0.01, ref=np.max),
        "filters_htk": librosa.filters.mel(**filters, htk=True, norm=None),
        "filters_slaney": librosa.filters.mel(**filters, htk=False, norm="slaney"),
        "trimmed": librosa.effects.trim(quiet, top_db=30)[1],
        "preemphasis": librosa.effects.preemphasis(sound[:50], coef=0.95),
    }


def of_torchaudio() -> dict[str, Any]:
    import librosa
    import torch
    import torchaudio

    sound = torch.from_numpy(signal(SHORT))
    given = {"n_fft": 400, "hop_length": 160, "n_mels": 40}
    bands = torchaudio.transforms.MelSpectrogram(RATE, **given).double()(sound)
    cepstra = torchaudio.transforms.MFCC(RATE, n_mfcc=13, melkwargs=given).double()(sound)
    kaldi = torchaudio.compliance.kaldi.fbank(sound[None] * 32768, num_mel_bins=40, dither=0.0, energy_floor=0.0)
    # As openai/whisper computes it in whisper/audio.py, on a sound filled up to a second.
    padded = torch.nn.functional.pad(sound, (0, RATE - SHORT))
    found = torch.stft(padded, 400, 160, window=torch.hann_window(400, dtype=torch.float64), return_complex=True)
    filters = torch.from_numpy(librosa.filters.mel(sr=RATE, n_fft=400, n_mels=80, dtype=np.float64))
    logs = torch.clamp(filters @ (found[..., :-1].abs() ** 2), min=1e-10).log10()
    whisper = (torch.maximum(logs, logs.max() - 8.0) + 4.0) / 4.0
    long = torch.from_numpy(signal(441, 44100))
    resampled = torchaudio.functional.resample(long, 44100, RATE)
    made = {"mel": bands, "mfcc": cepstra, "kaldi": kaldi, "whisper": whisper, "resampled": resampled}
    return {name: each.numpy() for name, each in made.items()}


def of_tensorflow() -> dict[str, Any]:
    """As MLPerf Tiny's keyword spotting makes its features: 49 x 10 of a second."""
    import tensorflow as tf

    sound = tf.constant(signal(RATE))
    sound = sound / tf.reduce_max(sound)
    found = tf.abs(tf.signal.stft(sound, frame_length=640, frame_step=320, window_fn=tf.signal.hann_window))
    weights = tf.signal.linear_to_mel_weight_matrix(40, found.shape[-1], RATE, 20.0, 4000.0, dtype=tf.float64)
    logs = tf.math.log(tf.tensordot(found, weights, 1) + 1e-6)
    cepstra = tf.signal.mfccs_from_log_mel_spectrograms(logs)[..., :10]
    ends = tf.signal.frame(sound[:1000], 400, 160, pad_end=True)
    return {"log_mel": logs.numpy(), "mfcc": cepstra.numpy(), "pad_end": ends.numpy()[-1]}


MAKERS = {"librosa": of_librosa, "torchaudio": of_torchaudio, "tensorflow": of_tensorflow}


def main() -> None:
    for library in sys.argv[1:] or MAKERS:
        made = MAKERS[library]()
        package = "tensorflow-cpu" if library == "tensorflow" else library
        FOLDER.mkdir(exist_ok=True)
        np.savez_compressed(FOLDER / f"{library}.npz", version=f"{package} {version(package)}", **made)
        print(library, {name: (each.shape, each.dtype.name) for name, each in made.items()})


if __name__ == "__main__":
    main()
