"""Steps on the samples of a sound."""

import importlib.util

import numpy as np
import pytest

from mlmodelscope_worker.parameters import ParameterError
from mlmodelscope_worker.pipeline import STEPS
from mlmodelscope_worker.pipeline import library as libraries
from mlmodelscope_worker.pipeline.value import SampleError
from worker_package.sounds import run, signal, sound

TWO = np.array([[1, 2, 3], [3, 2, 1]], np.int16)


@pytest.mark.parametrize(
    ("channel", "told"), [("mean", [2, 2, 2]), ("sum", [4, 4, 4]), ("left", [1, 2, 3]), ("right", [3, 2, 1])]
)
def test_mono_makes_one_channel_of_two(channel: str, told: list[int]) -> None:
    assert run(sound(TWO), ("mono", channel)).array.tolist() == told


def test_mono_leaves_one_channel_as_it_is() -> None:
    given = sound()
    assert run(given, "mono") is given
    assert run(sound(TWO[:1]), ("mono", "right")).array.tolist() == [1, 2, 3]


def lacks(library: str) -> bool:
    return importlib.util.find_spec(library) is None


@pytest.mark.parametrize(
    ("library", "kernel"), [(name, kernel) for name, kernels in libraries.RESAMPLERS.items() for kernel in kernels]
)
def test_resample_keeps_a_low_tone(library: str, kernel: str) -> None:
    if lacks(library) or (kernel.startswith("kaiser") and lacks("resampy")):
        pytest.skip(f"not tried: {library} is not installed")
    tone = np.sin(2 * np.pi * 440 * np.arange(22050) / 44100).astype(np.float32)
    for channels in (tone, np.stack([tone, -tone])):
        found = run(sound(channels, 44100), ("resample", {"rate": 16000, "library": library, "kernel": kernel}))
        assert found.rate == 16000 and found.array.shape[-1] == 8000 and found.array.dtype == np.float32
        wanted = np.sin(2 * np.pi * 440 * np.arange(8000) / 16000)
        first = found.array if channels.ndim == 1 else found.array[0]
        assert np.abs(first - wanted)[500:-500].max() < 0.02


def test_resample_calls_the_library_with_what_is_written() -> None:
    soxr, scipy = pytest.importorskip("soxr"), pytest.importorskip("scipy.signal")
    given = signal(4410).astype(np.float32)
    found = run(sound(given, 44100), ("resample", {"rate": 16000, "kernel": "vhq"})).array
    assert np.array_equal(found, soxr.resample(given, 44100, 16000, quality="VHQ"))
    found = run(sound(given, 44100), ("resample", {"rate": 16000, "library": "scipy"})).array
    assert np.array_equal(found, scipy.resample_poly(given, 160, 441))


def test_resample_without_a_filter_folds_high_tones_down() -> None:
    pytest.importorskip("soxr")
    high = sound(np.sin(2 * np.pi * 15000 * np.arange(44100) / 44100), 44100)
    linear = run(high, ("resample", {"rate": 16000, "library": "numpy"})).array
    clean = run(high, ("resample", {"rate": 16000})).array
    assert np.abs(linear[100:-100]).max() > 0.3 and np.abs(clean[100:-100]).max() < 1e-3


def test_resample_refuses_a_kernel_of_another_library() -> None:
    with pytest.raises(ParameterError, match="scipy has no kernel `HQ`"):
        STEPS["resample"].resolve({"rate": 8000, "library": "scipy", "kernel": "HQ"})


def test_resample_refuses_to_fill_the_memory() -> None:
    with pytest.raises(SampleError, match="8000 samples at 1 Hz are too many at 4000000 Hz"):
        run(sound(rate=1), ("resample", {"rate": 4_000_000, "library": "numpy"}))


def test_resample_keeps_a_sound_of_that_rate() -> None:
    given = sound()
    assert run(given, ("resample", 16000)) is given


def test_assume_rate_leaves_the_samples_and_changes_how_long_they_last() -> None:
    given = sound(signal(8000), 16000)
    found = run(given, ("assume_rate", 8000))
    assert found.array is given.array and found.rate == 8000 and found.frame.lasts == 1.0


def test_trim_silence_cuts_both_ends_and_knows_where() -> None:
    quiet = np.concatenate([np.zeros(5000), signal(), np.zeros(6000)])
    found = run(sound(quiet), "trim_silence")
    first = round(found.start * 16000)
    assert 3500 < first < 5000 and first % 512 == 0
    assert np.array_equal(found.array, quiet[first : first + len(found.array)]) and len(found.array) < 11000


def test_trim_silence_leaves_silence_as_it_is() -> None:
    assert len(run(sound(np.zeros(5000)), "trim_silence").array) == 5000
    assert len(run(sound(np.ones(3)), ("trim_silence", {"frame_length": 9})).array) == 3


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({"samples": 5}, [1, 2, 3, 0, 0]),
        ({"seconds": 0.5, "pad_side": "left", "value": 9}, [9, 9, 1, 2, 3]),
        ({"samples": 6, "pad_side": "both"}, [0, 1, 2, 3, 0, 0]),
        ({"samples": 7, "fill": "repeat"}, [1, 2, 3, 1, 2, 3, 1]),
        ({"samples": 5, "pad_side": "none"}, [1, 2, 3]),
        ({"samples": 2}, [1, 2]),
        ({"samples": 2, "cut_side": "left"}, [2, 3]),
        ({"samples": 1, "cut_side": "both"}, [2]),
        ({"samples": 1, "cut_side": "none"}, [1, 2, 3]),
        ({"samples": 3}, [1, 2, 3]),
    ],
)
def test_fix_length_fills_up_or_cuts(parameters: dict, told: list[int]) -> None:
    found = run(sound(np.array([1, 2, 3]), 10), ("fix_length", parameters))
    assert found.array.tolist() == told
    place = told.index(2)
    assert found.frame.seconds(place)[0] == pytest.approx(0.1)  # wherever it is now, it was the second


def test_fix_length_takes_a_mask_as_well_and_needs_one_of_two_lengths() -> None:
    mask = run(sound(np.ones(3)), ("extent", "mask"), ("fix_length", 5))
    assert mask.array.tolist() == [1, 1, 1, 0, 0]
    with pytest.raises(SampleError, match="only a sound has seconds"):
        run(mask, ("fix_length", {"seconds": 1}))
    with pytest.raises(ParameterError, match="exactly one of samples, seconds"):
        STEPS["fix_length"].resolve({})
    with pytest.raises(SampleError, match="too many"):
        run(sound(), ("fix_length", 1 << 40))


@pytest.mark.parametrize(("first", "told"), [("keep", 2.0), ("repeat", 1.0), ("librosa", 2.0)])
def test_preemphasis_has_a_rule_for_the_first_sample(first: str, told: float) -> None:
    found = run(sound([2, 4, 4]), ("preemphasis", {"coefficient": 0.5, "first": first}))
    assert found.array.tolist() == [told, 3.0, 2.0]


def test_remove_dc_takes_the_mean_off() -> None:
    assert run(sound([1, 2, 3]), "remove_dc").array.tolist() == [-1, 0, 1]


@pytest.mark.parametrize(("by", "told"), [("peak", [-1, 0.5, 0]), ("maximum", [-2, 1, 0])])
def test_normalize_sound_divides_by_the_loudest(by: str, told: list[float]) -> None:
    assert run(sound([-4, 2, 0]), ("normalize_sound", by)).array.tolist() == told


def test_normalize_sound_makes_variance_and_power_one() -> None:
    found = run(sound(), ("normalize_sound", {"by": "variance", "epsilon": 1e-7})).array
    assert found.mean() == pytest.approx(0, abs=1e-6) and found.std() == pytest.approx(1, abs=1e-5)
    assert np.sqrt((run(sound(), ("normalize_sound", "rms")).array ** 2).mean()) == pytest.approx(1, abs=1e-5)
    assert run(sound(np.zeros(3)), ("normalize_sound", "peak")).array.tolist() == [0, 0, 0]


def test_pad_batch_lets_sounds_of_other_lengths_share_a_batch() -> None:
    found = run(sound([1, 2]), ("pad_batch", {"value": 7, "side": "left"}))
    assert found.fill == (7.0, "left")
    assert run(found, ("extent", "mask")).fill == (0, "left")
    with pytest.raises(SampleError, match="2 channels: `mono`"):
        run(sound(TWO), "pad_batch")


def test_extent_says_how_many_samples_or_frames_there_are() -> None:
    assert run(sound(TWO), ("extent", "length")).array.tolist() == 3
    features = run(sound(), ("frames", {"length": 400, "hop": 160}), "spectrum", ("feature_layout", "FT"))
    assert run(features, ("extent", "length")).array.tolist() == 48
