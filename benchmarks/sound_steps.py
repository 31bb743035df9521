"""What declared steps cost beside a bare NumPy loop: WAVE files of ten seconds become log-mel features, in one process.

The bare loop does the same arithmetic on the same bytes: samples by `scipy.io.wavfile` or, where there is no SciPy, by
the standard library, frames by strides, one FFT over all frames, one product with the filters, which are made before.
Ours goes through the steps as a session does. Both must give the same numbers to 1e-6. In turns, the median counts.
"""

from __future__ import annotations

import io
import time
import wave
from collections.abc import Callable
from statistics import median
from typing import Any

import harness
import numpy as np

from mlmodelscope_worker.pipeline import STEPS, Pipeline
from mlmodelscope_worker.pipeline.sound import EncodedSound
from mlmodelscope_worker.pipeline.spectral import mel_weights, window_of

RATE, SECONDS, GOAL = 16000, 10, 1.1
WRITTEN: list[tuple[str, Any]] = [
    ("decode_audio", {"library": "wave", "scale": "unit"}),
    ("mono", "mean"),
    ("frames", {"length": 400, "hop": 160, "edges": "center", "padding": "reflect"}),
    ("window", {"shape": "hann"}),
    ("spectrum", {"power": 2}),
    ("mel", {"count": 80, "scale": "slaney", "norm": "slaney"}),
    ("log", {"base": "10", "floor": 1e-10}),
]
WINDOW = window_of("hann", "periodic", 400, 400, "f4")
FILTERS = mel_weights(RATE, 400, 80, 0.0, RATE / 2, "slaney", "slaney", "hertz", "float32")


def made(count: int) -> list[bytes]:
    chance, found = np.random.default_rng(0), []
    for _ in range(count):
        out = io.BytesIO()
        with wave.open(out, "wb") as file:
            file.setparams((1, 2, RATE, 0, "NONE", ""))
            file.writeframes((chance.standard_normal(RATE * SECONDS) * 3000).astype("<i2").tobytes())
        found.append(out.getvalue())
    return found


def read(data: bytes) -> np.ndarray:
    try:
        from scipy.io import wavfile
    except ImportError:
        with wave.open(io.BytesIO(data)) as file:
            return np.frombuffer(file.readframes(file.getnframes()), "<i2")
    return np.asarray(wavfile.read(io.BytesIO(data))[1])


def bare(data: bytes) -> np.ndarray:
    samples = read(data).astype(np.float32) / np.float32(32768)
    padded = np.pad(samples, 200, "reflect")
    frames = np.lib.stride_tricks.sliding_window_view(padded, 400)[::160]
    found = np.fft.rfft(frames * WINDOW)
    power = found.real**2 + found.imag**2
    return np.asarray(np.log10(np.maximum(power @ FILTERS, np.float32(1e-10))))


def cpu_s(call: Callable[[bytes], np.ndarray], files: list[bytes]) -> float:
    start = time.process_time()
    for data in files:
        call(data)
    return time.process_time() - start


def main() -> None:
    arguments = harness.options(__doc__ or "").parse_args()
    count, rounds = (4, 3) if arguments.quick else (20, 15)
    files = made(count)
    steps = Pipeline([{"name": name, "parameters": STEPS[name].resolve(value)} for name, value in WRITTEN])

    def ours(data: bytes) -> np.ndarray:
        return np.asarray(steps(EncodedSound(data)).array)

    apart = float(np.abs(ours(files[0]) - bare(files[0])).max())  # both are warm now
    faults = [f"the two differ by {apart:g}"] if apart > 1e-6 * float(np.abs(bare(files[0])).max()) else []
    seen = harness.interleave({"bare": lambda: cpu_s(bare, files), "ours": lambda: cpu_s(ours, files)}, rounds)
    per_file = {name: [1000 * each / count for each in values] for name, values in seen.items()}
    ratios = [one / other for one, other in zip(seen["ours"], seen["bare"], strict=True)]
    rows = [(name, harness.spread(values)) for name, values in per_file.items()]
    harness.print_table((f"{SECONDS} s of sound to log-mel", "CPU ms a file"), rows)
    print(f"\nratio of each round: {harness.spread(ratios, 3)}; goal: at most {GOAL:g}")
    results = {"cpu_ms": per_file, "ratios": ratios, "largest_difference": apart, "files": count}
    meaning = f"CPU time, ours / a bare NumPy loop; the goal is at most {GOAL:g}"
    harness.finish("sound_steps", median(ratios), meaning, arguments.quick, results, faults)


if __name__ == "__main__":
    main()
