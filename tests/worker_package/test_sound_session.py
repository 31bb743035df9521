"""Sounds through a session, as the host sends them: of any length in one batch, and a reason for each broken one."""

from pathlib import Path
from typing import Any

import numpy as np

from mlmodelscope_worker.predictor import Predictor
from mlmodelscope_worker.predictor.predictor import Tensor
from mlmodelscope_worker.scenario.offline import Batch, Offline
from mlmodelscope_worker.session import Session
from worker_package.sounds import pcm16, signal, wave
from worker_package.tasks import fake_model, task

READ = ("decode_audio", {})
FEATURES = [
    READ,
    ("frames", {"length": 400, "hop": 160}),
    ("window", "hann"),
    ("spectrum", {}),
    ("mel", {"count": 8, "scale": "htk", "norm": "none"}),
    ("log", {"base": "natural", "floor": 1e-10}),
    ("pad_batch", {"value": -1}),
]


class Recording(Predictor):
    """Keeps what it was given."""

    outputs = [Tensor("scores", "float32", [None, 3])]

    def __init__(self, shape: list[int | None]) -> None:
        self.inputs = [Tensor("input", "float32", shape)]
        self.seen: list[np.ndarray] = []

    def run(self, tensors: list[np.ndarray]) -> list[np.ndarray]:
        self.seen.append(tensors[0].copy())
        return [np.zeros((len(tensors[0]), 3), np.float32)]


def answered(folder: Path, processing: list[Any], samples: list[bytes], shape: list[int | None]) -> tuple[Any, Any]:
    """(the errors of one batch, what the model was given)."""
    asked = task(fake_model(folder, shape=shape), processing=processing, batch_size=len(samples))
    asked.inputs[0]["part"] = "audio"
    session = Session(asked)
    recording = session.predictor = Recording(shape)
    found: list[Any] = []
    offline = Offline(session.prepare, session.infer, lambda header, *_: found.append(header), 2, 1)
    parts = [{"parts": {"audio": {"buffer": slot}}} for slot in range(len(samples))]
    offline.submit([Batch(0, parts, samples)])
    offline.finish()
    return found[0].errors, recording.seen[0]


def test_sounds_of_other_lengths_share_a_batch(tmp_path: Path) -> None:
    samples = [pcm16(signal(3000)), pcm16(signal(2000))]
    errors, seen = answered(tmp_path, [READ, ("pad_batch", {})], samples, [None, None])
    assert not errors and seen.shape == (2, 3000)
    assert (seen[1, 2000:] == 0).all() and seen[1, :2000].any() and seen[0, 2000:].any()
    errors, seen = answered(tmp_path, FEATURES, samples, [None, None, 8])
    assert not errors and seen.shape == (2, 17, 8) and (seen[1, 11:] == -1).all() and (seen[1, :11] != -1).all()


def test_a_broken_sound_is_a_failed_sample_and_leaves_the_others_alone(tmp_path: Path) -> None:
    samples = [pcm16(signal(800)), pcm16(signal(800))[:-100], b"ID3 no wave", wave(b""), pcm16(signal(100))]
    errors, seen = answered(tmp_path, FEATURES, samples, [None, None, 8])
    assert len(seen) == 1 and sorted(errors) == ["1", "2", "3", "4"]
    assert errors["1"] == "the WAVE file is truncated: it claims 1600 bytes of samples and has 1500"
    assert "MP3" in errors["2"] and "0 samples" in errors["3"]
    assert errors["4"] == "100 samples are too few for a frame of 400"
