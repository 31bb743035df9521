"""Pictures on disk and a model without a framework, as tests write them where they like."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.manifest.schema import DatasetManifest, ModelManifest

Once = Callable[[str, Callable[[Path], None]], Path]
"""A folder by its name, and what makes it where no test of this run did."""
MODEL = """\
name: toy
version: 1.0.0
task: classification
framework: {name: fake}
inputs:
  - type: image
    processing:
      decode: {color_layout: RGB}
      resize: {dimensions: [8, 8]}
      mean: 127.5
      rescale: 127.5
      layout: NCHW
outputs:
  - type: logits
    processing: {softmax: }
source: {graph_path: toy.json}
"""
"""A manifest of the fake predictor as people write it; its model file lies beside it."""
DATASET = """\
name: pictures
version: 1.0.0
task: classification
format: folder
sources: [{url: pictures}]
"""
PICTURE_INPUT = {
    "type": "image",
    "processing": {
        "decode": {"color_layout": "RGB"},
        "resize": {"dimensions": [8, 8]},
        "mean": 127.5,
        "rescale": 127.5,
        "layout": "NCHW",
    },
}
"""What the same manifest says of its input, for those that are written as values."""


def write_pictures(folder: Path, count: int = 12, classes: int = 3, side: int = 10) -> Path:
    """A folder of small pictures, a folder for each class; every picture is another one."""
    from PIL import Image

    for index in range(count):
        place = folder / f"class{index % classes}"
        place.mkdir(parents=True, exist_ok=True)
        color = (index * 37 % 256, index * 59 % 256, index * 83 % 256)
        Image.new("RGB", (side + index % 5, side + index % 3), color).save(place / f"{index:04d}.png")
    return folder


def write_model(graph: Path, fake: dict[str, Any] | None = None, **changes: Any) -> ModelManifest:
    """A manifest of the fake predictor; `fake` goes into its model file, `changes` into the manifest."""
    graph.write_text(json.dumps({"shape": [None, 3, 8, 8], "classes": 10, **(fake or {})}))
    manifest = load_manifest(
        {
            "name": "toy",
            "version": "1.0.0",
            "task": "classification",
            "framework": {"name": "fake"},
            "inputs": [PICTURE_INPUT],
            "outputs": [{"type": "logits", "processing": {"softmax": None}}],
            "source": {"graph_path": str(graph)},
            **changes,
        }
    )
    assert isinstance(manifest, ModelManifest)
    return manifest


def dataset_of(folder: Path, **changes: Any) -> DatasetManifest:
    """A manifest of a folder of pictures."""
    manifest = load_manifest(
        {
            "name": "pictures",
            "version": "1.0.0",
            "task": "classification",
            "format": "folder",
            "sources": [{"url": str(folder)}],
            **changes,
        }
    )
    assert isinstance(manifest, DatasetManifest)
    return manifest
