"""Real speech: the five LibriVox utterances through decoding and features (../shared/TASK_DATA.md)."""

import os
from pathlib import Path

import numpy as np
import pytest

from worker_package.pipeline.test_sound_references import WHISPER, kaldi
from worker_package.sounds import run

SHARED = Path(os.environ.get("MLMODELSCOPE_SHARED") or Path(__file__).parents[4] / "shared")
FILES = sorted((SHARED / "tasks" / "asr" / "librivox").glob("*.wav"))
pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not FILES, reason="the development data folder is not here"),
]


def test_all_of_them_are_read_to_the_last_bit() -> None:
    soundfile = pytest.importorskip("soundfile")
    seconds = 0.0
    for path in FILES:
        found = run(path.read_bytes(), "decode_audio")
        assert found.rate == 16000 and np.array_equal(found.array, soundfile.read(path, dtype="float32")[0])
        seconds += len(found.array) / found.rate
    assert len(FILES) == 5 and seconds == pytest.approx(24.7, abs=0.05)


def test_their_features_are_kaldi_s() -> None:
    library = pytest.importorskip("kaldi_native_fbank")
    for path in FILES:
        samples = run(path.read_bytes(), ("decode_audio", {"scale": "int16"}))
        options = library.FbankOptions()
        options.frame_opts.dither, options.mel_opts.num_bins, options.use_energy = 0, 80, False
        computer = library.OnlineFbank(options)
        computer.accept_waveform(16000, samples.array.tolist())
        computer.input_finished()
        wanted = np.stack([computer.get_frame(number) for number in range(computer.num_frames_ready)])
        found = run(samples, *kaldi(80)).array
        assert found.shape == wanted.shape
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-4 * np.abs(wanted).max())


def test_their_features_for_whisper_lie_within_its_span() -> None:
    for path in FILES:
        found = run(path.read_bytes(), "decode_audio", ("fix_length", {"seconds": 30}), *WHISPER[1:]).array
        assert found.shape == (80, 3000) and found.dtype == np.float32
        assert found.max() - found.min() <= 2 + 1e-6
