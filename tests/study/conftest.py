"""Red, green and blue pictures, and a model that sees which is which."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.manifest.schema import DatasetManifest, ModelManifest
from worker_package.predictor import onnx_models


@pytest.fixture
def colours(tmp_path: Path, make_dataset: Callable[..., DatasetManifest]) -> DatasetManifest:
    for number, name in enumerate(("1-red", "2-green", "3-blue")):
        (tmp_path / "colours" / name).mkdir(parents=True)
        for shade in range(6):
            color = [40, 40, 40]
            color[number] = 150 + 15 * shade
            Image.new("RGB", (12, 10), tuple(color)).save(tmp_path / "colours" / name / f"{shade}.png")
    return make_dataset(tmp_path / "colours", name="colours", size=18)


@pytest.fixture
def seer(tmp_path: Path) -> ModelManifest:
    """Its scores are the mean red, green and blue of a picture."""
    graph = onnx_models.one_step(tmp_path, "GlobalAveragePool", ("n", 3, 8, 8), ("n", 3, 1, 1))["graph"]
    manifest = load_manifest(
        {
            "name": "seer",
            "version": "1.0.0",
            "task": "classification",
            "framework": {"name": "onnxruntime"},
            "inputs": [
                {
                    "type": "image",
                    "processing": {"decode": {}, "resize": [3, 8, 8], "rescale": 255, "layout": "NCHW"},
                }
            ],
            "outputs": [{"type": "logits"}],
            "source": {"graph_path": graph},
        }
    )
    assert isinstance(manifest, ModelManifest)
    return manifest
