"""Frames, windows, spectra and mel bands; what libraries make of the same is in test_sound_references.py."""

import numpy as np
import pytest

from mlmodelscope_worker.pipeline.value import SampleError
from worker_package.sounds import run, signal, sound

COUNT = np.arange(1, 11)


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({}, [[1, 2, 3, 4], [4, 5, 6, 7], [7, 8, 9, 10]]),
        ({"edges": "center"}, [[0, 0, 1, 2], [2, 3, 4, 5], [5, 6, 7, 8], [8, 9, 10, 0]]),
        ({"edges": "center", "padding": "reflect"}, [[3, 2, 1, 2], [2, 3, 4, 5], [5, 6, 7, 8], [8, 9, 10, 9]]),
        ({"edges": "center", "padding": "edge"}, [[1, 1, 1, 2], [2, 3, 4, 5], [5, 6, 7, 8], [8, 9, 10, 10]]),
        ({"edges": "center", "drop_last": True}, [[0, 0, 1, 2], [2, 3, 4, 5], [5, 6, 7, 8]]),
        ({"edges": "kaldi", "padding": "symmetric"}, [[1, 1, 2, 3], [3, 4, 5, 6], [6, 7, 8, 9]]),
        ({"edges": "end"}, [[1, 2, 3, 4], [4, 5, 6, 7], [7, 8, 9, 10], [10, 0, 0, 0]]),
    ],
)
def test_frames_differ_in_what_lies_beyond_the_ends(parameters: dict, told: list) -> None:
    assert run(sound(COUNT), ("frames", {"length": 4, "hop": 3, **parameters})).array.tolist() == told


def test_frames_know_their_seconds() -> None:
    found = run(sound(COUNT, 10), ("frames", {"length": 4, "hop": 3, "edges": "center"})).frame
    assert found.seconds(0) == pytest.approx((-0.2, 0.2)) and found.seconds(2) == pytest.approx((0.4, 0.8))
    assert hash(found.to_original)


@pytest.mark.parametrize(
    ("array", "parameters", "reason"),
    [
        (COUNT, {"length": 11, "hop": 1}, "10 samples are too few for a frame of 11"),
        (COUNT, {"length": 30, "hop": 1, "edges": "center", "padding": "reflect"}, "too few to be mirrored by 15"),
        (np.ones((2, 9)), {"length": 4, "hop": 1}, "2 channels: `mono`"),
        (np.zeros(300_000), {"length": 200_000, "hop": 1}, "too many"),
    ],
)
def test_frames_that_cannot_be_cut_say_why(array: np.ndarray, parameters: dict, reason: str) -> None:
    with pytest.raises(SampleError, match=reason):
        run(sound(array), ("frames", parameters))


@pytest.mark.parametrize("shape", ["hann", "hamming", "blackman"])
@pytest.mark.parametrize("kind", ["periodic", "symmetric"])
@pytest.mark.parametrize("length", [400, 401])
def test_window_is_scipy_s(shape: str, kind: str, length: int) -> None:
    windows = pytest.importorskip("scipy.signal.windows")
    found = run(
        sound(np.ones(length)), ("frames", {"length": length, "hop": 1}), ("window", {"shape": shape, "kind": kind})
    )
    wanted = windows.get_window(shape, length, fftbins=kind == "periodic")
    np.testing.assert_allclose(found.array[0], wanted, rtol=1e-12, atol=1e-15)


def test_window_may_be_shorter_than_the_frame() -> None:
    cut = ("frames", {"length": 6, "hop": 1})
    found = run(sound(np.ones(6)), cut, ("window", {"shape": "rectangular", "length": 2}))
    assert found.array.tolist() == [[0, 0, 1, 1, 0, 0]]
    with pytest.raises(SampleError, match="a window of 7 samples does not fit into frames of 6"):
        run(sound(np.ones(6)), cut, ("window", {"shape": "povey", "length": 7}))


def test_spectrum_is_magnitude_or_power_and_filled_up() -> None:
    given = run(sound(signal(100)), ("frames", {"length": 100, "hop": 1}))
    wanted = np.abs(np.fft.rfft(signal(100), 128))
    for power in (1, 2):
        parameters = {"n_fft": 128, "power": power, "element_type": "float64"}
        np.testing.assert_allclose(run(given, ("spectrum", parameters)).array[0], wanted**power, rtol=1e-12)
    assert run(given, "spectrum").array.dtype == np.float32
    with pytest.raises(SampleError, match="frames of 100 samples do not fit into a transform of 64"):
        run(given, ("spectrum", {"n_fft": 64}))


def test_mel_bands_must_lie_within_the_sound() -> None:
    given = run(sound(), ("frames", {"length": 400, "hop": 160}), "spectrum")
    bands = {"count": 8, "scale": "htk", "norm": "none"}
    with pytest.raises(SampleError, match="bands from 20 to 9000 Hz do not lie within 0 to 8000 Hz"):
        run(given, ("mel", {**bands, "low": 20, "high": 9000}))
    assert run(given, ("mel", bands)).array.shape == (48, 8)
