"""The networks that are compared: one of our own, the catalogue's with their real weights, and one as it is published.

Only the host imports this.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from mlmodelscope.errors import MLModelScopeError
from mlmodelscope.manifest.aspects import find_aspects
from mlmodelscope.manifest.catalog import find_model
from mlmodelscope.plan.options import Options
from mlmodelscope.preparation import plan_aspects
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.provision.site import provision_model
from mlmodelscope.settings import Settings
from worker_package.predictor.nets import from_onnx
from worker_package.predictor.nets.bench import ROOT, Given, Subject, Way
from worker_package.predictor.nets.network import conformance


def small(settings: Settings) -> Subject:
    steps = {
        "decode": {"library": "pillow", "color_layout": "RGB"},
        "resize": {"dimensions": [64, 64], "method": "bilinear", "library": "pillow"},
        "mean": 127.5,
        "rescale": 127.5,
    }
    return Subject(conformance(), "cifar10-test", steps, "probability", 1e-5, 50, is_small=True)


def published(
    name: str, dataset: str, tolerance: float, samples: int, *excused: tuple[str, str]
) -> Callable[[Settings], Subject]:
    """A model of the catalogue with its real weights and its own processing; logits are compared."""

    def make(settings: Settings) -> Subject:
        artifacts = ArtifactStore(settings)
        plan = plan_aspects(find_aspects(name, dataset, "onnxruntime-1.31"), Options(), artifacts, settings)
        whole = provision_model(plan, artifacts)
        processing = find_model(name).inputs[0].processing
        steps = {step.name: dict(step.parameters) for step in processing if step.name != "layout"}
        network = from_onnx.read(Path(whole["graph"]))
        known = frozenset(excused)
        return Subject(network, dataset, steps, "logits", tolerance, samples, {"shipped": whole}, excused=known)

    return make


SHARED = Path(os.environ.get("MLMODELSCOPE_SHARED") or ROOT.parent / "shared")
"""The development data folder, for networks that no registry has."""


def ultraface(settings: Settings) -> Subject:
    """A face detector as its authors publish it, in four formats; every anchor's two scores are compared."""
    folder = SHARED / "models" / "ultraface"
    if not folder.is_dir():
        raise MLModelScopeError("the development data folder is not here")
    files = {
        "onnx": {"graph": str(folder / "version-RFB-320_without_postprocessing.onnx")},
        "caffe": {"graph": str(folder / "RFB-320.prototxt"), "weights": str(folder / "RFB-320.caffemodel")},
        "ncnn": {"graph": str(folder / "RFB-320.param"), "weights": str(folder / "RFB-320.bin")},
        "tflite": {"graph": str(folder / "version-RFB-320_without_postprocessing.tflite")},
    }
    ways = (
        Way("onnxruntime-1.31", "onnxruntime", "onnx", output="scores"),
        Way("onnxruntime-1.17", "onnxruntime", "onnx", output="scores"),
        Way("openvino-2026", "openvino", "onnx", output="scores"),
        Way("openvino-2026", "openvino", "tflite", layout="NHWC", output="Identity_1"),
        Way("opencv-5", "opencv", "onnx", output="scores"),
        Way("opencv-4", "opencv", "onnx", output="scores"),
        Way("opencv-4", "opencv", "caffe", output="scores"),
        Way("caffe-1.0", "caffe", "caffe", output="scores"),
        Way("ncnn", "ncnn", "ncnn", output="scores"),
        Way("litert-2.3", "tflite", "tflite", layout="NHWC", output="Identity_1"),
        Way("tflite-runtime-2.14", "tflite", "tflite", layout="NHWC", output="Identity_1"),
    )
    steps = {
        "decode": {"library": "pillow", "color_layout": "RGB"},
        "resize": {"dimensions": [240, 320], "method": "bilinear", "library": "pillow"},
        "mean": 127,
        "rescale": 128,
    }
    network = Given("ultraface", (3, 240, 320), 2 * 4420)
    return Subject(network, "imagenet-70", steps, "logits", 1e-3, 20, files, ways, frozenset({("caffe-1.0", "caffe")}))


SUBJECTS: dict[str, Callable[[Settings], Subject]] = {
    "conformance": small,
    "resnet20-cifar10": published("resnet20-cifar10", "cifar10-test", 1e-4, 50),
    "efficientnet-lite0": published(
        "efficientnet-lite0",
        "imagenet-70",
        1e-4,
        20,
        ("caffe-1.0", "caffe"),  # no ReLU6
        ("opencv-4", "caffe"),
        ("opencv-3.4", "caffe"),
    ),
    "ultraface": ultraface,
}
