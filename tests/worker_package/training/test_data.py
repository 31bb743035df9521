"""Samples of trainings: steps, cache, augmentation by the manifest's own function."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mlmodelscope.manifest.load import load_manifest
from mlmodelscope_worker.functions import FunctionError
from mlmodelscope_worker.training.data import Batches, Samples, stacked

PIXELS = np.arange(4 * 6 * 6, dtype=np.uint8).reshape(4, 6, 6)


def steps(**processing: Any) -> Any:
    source = {"name": "m", "version": "1.0.0", "task": "general", "job_type": "training", "run": "def run(ctx, d): 0"}
    found: Any = load_manifest({**source, "inputs": [{"type": "image", "processing": processing}]})
    return [each.model_dump(mode="json") for each in found.inputs[0].processing]


def test_steps_prepare_pixels_and_files(tmp_path: Path) -> None:
    from PIL import Image

    Image.fromarray(PIXELS[1]).save(tmp_path / "a.png")
    plain = Samples("d", (PIXELS, [0, 1, 2, 3]), steps(mean=10, rescale=2))
    given, target = plain(1)
    assert target == 1 and given.shape == (6, 6, 1) and given[0, 0, 0] == (36 - 10) / 2
    decoded = Samples("d", [(str(tmp_path / "a.png"), 1)], steps(decode={"color_layout": "GRAY"}, mean=10, rescale=2))
    assert np.array_equal(decoded(0)[0], given)


def test_samples_may_be_anything_with_a_length() -> None:
    class Own:
        def __len__(self) -> int:
            return 3

        def __getitem__(self, number: int) -> Any:
            return {"a": np.full(2, number), "b": (number, 1.0)}, number

    inputs, targets, rows = Batches(Samples("d", Own()))((0, [2, 0]))
    assert rows == 2 and targets.tolist() == [2, 0]
    assert inputs["a"].tolist() == [[2, 2], [0, 0]] and inputs["b"][0].tolist() == [2, 0]


def test_what_is_cached_is_read_once_and_augmented_anew() -> None:
    read = []

    class Own:
        def __len__(self) -> int:
            return 2

        def __getitem__(self, number: int) -> Any:
            read.append(number)
            return np.zeros(3), number

    noise = [{"name": "noise", "parameters": {"deviation": 1.0}}]
    batches = Batches(Samples("d", Own(), cache=True), 0, noise)
    first, again = batches((0, [0, 1]))[0], batches((1, [0, 1]))[0]
    assert read == [0, 1] and not np.array_equal(first, again)
    assert np.array_equal(batches((0, [1, 0]))[0], first[::-1])  # whatever the batch


@pytest.mark.parametrize(
    ("pixels", "processing", "reason"),
    [
        (PIXELS[0].astype(float), {"mean": 1}, "steps take pixels, uint8 of height x width"),
        (np.zeros((2, 2, 2, 2), np.uint8), {"mean": 1}, "of shape"),
        ("/nowhere.png", {"mean": 1}, "must start with `decode`|No such file"),
        ("/nowhere.png", {"decode": None}, "sample 0 of `d`: cannot read it: No such file"),
    ],
)
def test_what_steps_cannot_take_is_named(pixels: Any, processing: Any, reason: str) -> None:
    with pytest.raises(FunctionError, match=reason):
        Samples("d", [(pixels, 0)], steps(**processing))(0)


def test_targets_of_different_shapes_are_no_batch() -> None:
    samples = Samples("d", [(0.0, [1]), (0.0, [1, 2])])
    with pytest.raises(FunctionError, match="the targets of a batch of `d` have different shapes"):
        Batches(samples)((0, [0, 1]))
    with pytest.raises(ValueError, match="no numbers"):
        stacked([object(), object()])
