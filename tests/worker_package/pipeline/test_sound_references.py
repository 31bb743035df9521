"""Whole pipelines, declared step by step, give what the libraries give that models were trained with.

librosa, torchaudio and TensorFlow are too heavy to be installed for this: `tools/make_sound_references.py` wrote what
they make of the same sound. Kaldi's own arithmetic is here, in kaldi-native-fbank. docs/sound.md has these tolerances.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mlmodelscope_worker.pipeline.spectral import mel_weights
from worker_package.sounds import run, signal, sound

RATE, SHORT, QUIET = 16000, 4000, 3000
WIDE = {"element_type": "float64"}
LIBROSA = [
    ("frames", {"length": 512, "hop": 160, "edges": "center", "padding": "zero"}),
    ("window", {"shape": "hann", "length": 400}),
    ("spectrum", WIDE),
    ("mel", {"count": 40, "scale": "slaney", "norm": "slaney", **WIDE}),
]
DECIBELS = ("log", {"base": "db", "floor": 1e-10, "span": 80})
TORCHAUDIO = [
    ("frames", {"length": 400, "hop": 160, "edges": "center", "padding": "reflect"}),
    ("window", {"shape": "hann"}),
    ("spectrum", WIDE),
    ("mel", {"count": 40, "scale": "htk", "norm": "none", **WIDE}),
]
WHISPER = [
    ("fix_length", {"seconds": 1}),
    ("frames", {"length": 400, "hop": 160, "edges": "center", "padding": "reflect", "drop_last": True}),
    ("window", {"shape": "hann"}),
    ("spectrum", WIDE),
    ("mel", {"count": 80, "scale": "slaney", "norm": "slaney", **WIDE}),
    ("log", {"base": "10", "floor": 1e-10, "span": 8}),
    ("mean", -4),
    ("rescale", 4),
    ("feature_layout", "FT"),
]
KWS = [
    ("normalize_sound", "maximum"),
    ("fix_length", {"samples": RATE}),
    ("frames", {"length": 640, "hop": 320}),
    ("window", {"shape": "hann"}),
    ("spectrum", {"n_fft": 1024, "power": 1, **WIDE}),
    (
        "mel",
        {"count": 40, "low": 20, "high": 4000, "scale": "htk", "norm": "none", "triangles": "mel", **WIDE},
    ),
    ("log", {"base": "natural", "add": 1e-6}),
]


def kaldi(bands: int, edges: str = "cut", element_type: str = "float32") -> list[Any]:
    return [
        ("frames", {"length": 400, "hop": 160, "edges": edges, "padding": "symmetric"}),
        "remove_dc",
        ("preemphasis", {"coefficient": 0.97, "first": "repeat"}),
        ("window", {"shape": "povey", "kind": "symmetric"}),
        ("spectrum", {"n_fft": 512, "element_type": element_type}),
        (
            "mel",
            {
                "count": bands,
                "low": 20,
                "scale": "htk",
                "norm": "none",
                "triangles": "mel",
                "element_type": element_type,
            },
        ),
        ("log", {"base": "natural", "floor": 1.1920928955078125e-07}),
    ]


def reference(library: str, name: str) -> np.ndarray:
    with np.load(Path(__file__).parent / "sound_references" / f"{library}.npz") as found:
        return found[name]


def close(found: Any, wanted: np.ndarray, tolerance: float) -> None:
    """Within so much of each value; or, where it is next to 0, of a tenth of the largest one."""
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance * np.abs(wanted).max() / 10)


def test_librosa_s_mel_bands_decibels_and_cepstra() -> None:
    bands = run(sound(signal(SHORT)), *LIBROSA)
    close(bands.array.T, reference("librosa", "mel"), 1e-9)
    close(run(bands, DECIBELS).array.T, reference("librosa", "decibels"), 1e-9)
    cepstra = run(bands, DECIBELS, ("mfcc", {"count": 13, "lifter": 22, "lifter_first": 1}))
    close(cepstra.array.T, reference("librosa", "mfcc"), 1e-9)


def test_librosa_in_single_precision() -> None:
    single = [(name, {**parameters, "element_type": "float32"}) for name, parameters in LIBROSA[2:]]
    bands = run(sound(signal(SHORT).astype(np.float32)), *LIBROSA[:2], *single)
    assert bands.array.dtype == np.float32
    close(bands.array.T, reference("librosa", "mel"), 1e-5)


def test_librosa_s_spectrum_trimming_and_preemphasis() -> None:
    found = run(sound(signal(SHORT)), *TORCHAUDIO[:2], ("spectrum", {"power": 1, **WIDE}))
    close(found.array.T, reference("librosa", "magnitude"), 1e-9)
    loud = sound(np.abs(signal(SHORT)[:100]) + 0.01)
    levels = run(loud, ("frames", {"length": 100, "hop": 1}), ("spectrum", WIDE)).with_array(loud.array[None])
    logs = run(levels, ("log", {"base": "db_magnitude", "floor": 1e-5, "reference": "max", "span": 80}))
    close(logs.array[0], reference("librosa", "amplitude_db"), 1e-9)
    quiet = np.concatenate([np.zeros(QUIET), signal(SHORT), np.zeros(QUIET)])
    trimmed = run(sound(quiet), ("trim_silence", {"top_db": 30}))
    first, end = reference("librosa", "trimmed")
    assert round(trimmed.start * RATE) == first and len(trimmed.array) == end - first
    emphasized = run(sound(signal(SHORT)[:50]), ("preemphasis", {"coefficient": 0.95, "first": "librosa"}))
    close(emphasized.array, reference("librosa", "preemphasis"), 1e-9)


@pytest.mark.parametrize(("scale", "norm"), [("htk", "none"), ("slaney", "slaney")])
def test_librosa_s_filters(scale: str, norm: str) -> None:
    found = mel_weights(22050, 256, 20, 30.0, 9000.0, scale, norm, "hertz", "float64")
    close(found.T, reference("librosa", f"filters_{scale}"), 1e-9)


def test_torchaudio_s_mel_bands_and_cepstra() -> None:
    bands = run(sound(signal(SHORT)), *TORCHAUDIO)
    close(bands.array.T, reference("torchaudio", "mel"), 1e-5)
    cepstra = run(bands, DECIBELS, ("mfcc", 13))
    close(cepstra.array.T, reference("torchaudio", "mfcc"), 1e-5)


def test_torchaudio_s_kaldi_bands() -> None:
    found = run(sound(signal(SHORT) * 32768), *kaldi(40, element_type="float64"))
    close(found.array, reference("torchaudio", "kaldi"), 1e-5)


def test_whisper_s_features() -> None:
    close(run(sound(signal(SHORT)), *WHISPER).array, reference("torchaudio", "whisper"), 1e-5)


def test_tensorflow_s_features_of_keywords() -> None:
    logs = run(sound(signal(RATE)), *KWS)
    close(logs.array, reference("tensorflow", "log_mel"), 1e-6)
    cepstra = run(logs, ("mfcc", {"count": 10, "norm": "htk"}), ("feature_layout", "TFC"))
    assert cepstra.array.shape == (49, 10, 1)
    close(cepstra.array[:, :, 0], reference("tensorflow", "mfcc"), 1e-6)


def test_tensorflow_s_last_frames() -> None:
    loud = run(sound(signal(RATE)), ("normalize_sound", "maximum"), ("fix_length", 1000))
    ends = run(loud, ("frames", {"length": 400, "hop": 160, "edges": "end"}))
    close(ends.array[-1], reference("tensorflow", "pad_end"), 1e-9)


def test_torchaudio_s_resampling() -> None:
    pytest.importorskip("torchaudio", reason="not tried: torchaudio is not installed")
    found = run(sound(signal(441, 44100), 44100), ("resample", {"rate": RATE, "library": "torchaudio"}))
    close(found.array, reference("torchaudio", "resampled"), 1e-9)


@pytest.mark.parametrize(("edges", "snips"), [("cut", True), ("kaldi", False)])
def test_kaldi_s_bands_and_cepstra(edges: str, snips: bool) -> None:
    library = pytest.importorskip("kaldi_native_fbank", reason="not tried: kaldi-native-fbank is not installed")
    # Noise: where some bands are a millionth of others, Kaldi's own single precision is what differs.
    samples = np.random.RandomState(5).standard_normal(8000).astype(np.float32) * 3000
    for kind, bands, steps in (("Fbank", 80, []), ("Mfcc", 23, [("mfcc", {"count": 13, "lifter": 22})])):
        options = getattr(library, f"{kind}Options")()
        options.frame_opts.dither, options.frame_opts.snip_edges = 0, snips
        options.mel_opts.num_bins, options.use_energy = bands, False
        computer = getattr(library, f"Online{kind}")(options)
        computer.accept_waveform(RATE, samples.tolist())
        computer.input_finished()
        wanted = np.stack([computer.get_frame(number) for number in range(computer.num_frames_ready)])
        close(run(sound(samples), *kaldi(bands, edges), *steps).array, wanted, 1e-5)
