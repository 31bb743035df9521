"""A small world in which a pitfall shows: pictures of three colours, and a model that sees colours."""

from pathlib import Path
from typing import Any

from PIL import Image

from mlmodelscope import Settings
from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.manifest.schema import DatasetManifest, ModelManifest
from mlmodelscope.plan.claim import Claim
from mlmodelscope.replicate.evidence import Evidence, collect
from mlmodelscope.replicate.pitfall import variants_of
from mlmodelscope.replicate.replication import Replication, open_trials, replicate
from mlmodelscope.watcher import Watcher
from worker_package.predictor import onnx_models

NAMES = ("1-red", "2-green", "3-blue")


def describe_colours(folder: Path, each: int = 4) -> dict[str, Any]:
    """Red, green and blue pictures, as classes of these names: their manifest as it is written."""
    for number, name in enumerate(NAMES):
        (folder / "colours" / name).mkdir(parents=True, exist_ok=True)
        for shade in range(each):
            color = [40, 40, 40]
            color[number] = 150 + 5 * shade
            Image.new("RGB", (12, 10), tuple(color)).save(folder / "colours" / name / f"{shade}.png")
    return {
        "name": "colours",
        "version": "1.0.0",
        "task": "classification",
        "format": "folder",
        "sources": [{"url": str(folder / "colours")}],
        "size": each * len(NAMES),
    }


def make_colours(folder: Path, each: int = 4) -> DatasetManifest:
    manifest = load_manifest(describe_colours(folder, each))
    assert isinstance(manifest, DatasetManifest)
    return manifest


def describe_seer(folder: Path, color_layout: str = "BGR", **output: object) -> dict[str, Any]:
    """A model whose scores are the mean red, green and blue of a picture: its manifest as it is written."""
    graph = onnx_models.one_step(folder, "GlobalAveragePool", ("n", 3, 8, 8), ("n", 3, 1, 1))["graph"]
    processing = {"decode": {"color_layout": color_layout}, "resize": [3, 8, 8], "rescale": 255, "layout": "NCHW"}
    return {
        "name": "seer",
        "version": "1.0.0",
        "task": "classification",
        "framework": {"name": "onnxruntime"},
        "inputs": [{"type": "image", "processing": processing}],
        "outputs": [{"type": "logits", **output}],
        "source": {"graph_path": graph},
    }


def make_seer(folder: Path, color_layout: str = "BGR", **output: object) -> ModelManifest:
    manifest = load_manifest(describe_seer(folder, color_layout, **output))
    assert isinstance(manifest, ModelManifest)
    return manifest


def replicated(folder: Path, settings: Settings, text: str = "100.0") -> Replication:
    """A model that was told BGR by mistake, and the claim that it is always right."""
    claim = Claim("top1", text, "colours")
    return replicate(make_seer(folder), make_colours(folder), claim=claim, settings=settings)


def evidence_of(done: Replication, settings: Settings, pitfall: str = "color-layout", count: int = 3) -> Evidence:
    with open_trials(done.record, settings, Watcher(), [pitfall]) as trials:
        cause = variants_of(done.record.plan, [pitfall])[0]
        return collect(trials, cause, count, names=done.record.class_names)
