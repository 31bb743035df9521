"""Segmentation and super-resolution to the digit that is known, by manifests alone (../shared/TASK_DATA.md)."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from mlmodelscope import Options, Settings, evaluate, load_manifest
from mlmodelscope.manifest.schema import DatasetManifest, ModelManifest, Step
from mlmodelscope.prediction import predict
from mlmodelscope.record.record import Record

from .numbers import evaluated

HERE = Path(__file__).parent
MANIFESTS = HERE / "manifests"
SHARED = Path(os.environ.get("MLMODELSCOPE_SHARED") or HERE.parents[2] / "shared")

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not (SHARED / "tasks").is_dir(), reason="the development data folder is not here"),
    pytest.mark.usefixtures("few_calls"),
]


def model_of(name: str, folder: str) -> ModelManifest:
    found = load_manifest(MANIFESTS / f"{name}.yml")
    assert isinstance(found, ModelManifest) and not found.functions
    path = str(SHARED / folder / Path(str(found.source.graph_path)).name)
    return found.model_copy(update={"source": found.source.model_copy(update={"graph_path": path})})


def set5() -> DatasetManifest:
    found = load_manifest(MANIFESTS / "set5.yml")
    assert isinstance(found, DatasetManifest)
    place = found.sources[0].model_copy(update={"url": str(SHARED / "tasks/superres/Set5")})
    return found.model_copy(update={"sources": (place,)})


def coco_100(**measure: Any) -> DatasetManifest:
    found = load_manifest(MANIFESTS / "coco-100-voc.yml")
    assert isinstance(found, DatasetManifest)
    urls = {
        "url": str(SHARED / "tasks/detection/images"),
        "labels_url": f"{SHARED}/tasks/segmentation/masks.zip#masks/",
    }
    place = found.sources[0].model_copy(update=urls)
    return found.model_copy(update={"sources": (place,), "measure": measure})


def digits(record: Record, **wanted: int) -> dict[str, float]:
    assert record.failed == 0
    return {name: round(record.metrics[name.replace("_", "-")].value, count) for name, count in wanted.items()}


def bicubic(folder: Path, scale: int) -> ModelManifest:
    """The baseline: a model that answers with its input."""
    (folder / "echo.json").write_text(json.dumps({"shape": [None] * 4, "echo": True}))
    by_vdsr = model_of(f"vdsr-x{scale}", "tasks/superres")
    inputs = (by_vdsr.inputs[0].model_copy(update={"layer_name": None}),)
    outputs = (by_vdsr.outputs[0].model_copy(update={"layer_name": None}),)
    source = by_vdsr.source.model_copy(
        update={"graph_path": str(folder / "echo.json"), "graph_checksum": None, "checksum": None}
    )
    framework = by_vdsr.framework and by_vdsr.framework.model_copy(update={"name": "fake", "version": "*"})
    changes = {"name": "bicubic", "inputs": inputs, "outputs": outputs, "source": source, "framework": framework}
    return by_vdsr.model_copy(update={**changes, "claims": ()})


@pytest.mark.parametrize(("scale", "psnr", "ssim"), [(2, 33.6904, 0.9308), (3, 30.4077, 0.8692), (4, 28.4324, 0.8114)])
def test_bicubic_interpolation_on_set5(
    scale: int, psnr: float, ssim: float, tmp_path: Path, settings: Settings
) -> None:
    record = evaluate(bicubic(tmp_path, scale), set5(), Options(), settings=settings)
    assert digits(record, psnr=4, ssim=4) == {"psnr": psnr, "ssim": ssim}


VARIANTS: dict[str, tuple[dict[str, Any], dict[str, Any], float]] = {
    "border not cut": ({}, {"border": 0}, 33.70),
    "luma of 0 to 255": ({"luma": {"range": "full"}}, {"color": "luma-full"}, 32.37),
    "RGB": ({"luma": None}, {"color": "rgb"}, 31.82),
    "OpenCV's bicubic": ({"scale": {"library": "opencv", "antialias": False}}, {}, 34.42),
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_what_a_rule_costs_on_set5(variant: str, tmp_path: Path, settings: Settings) -> None:
    """The same interpolation, the same pictures, and numbers that differ by up to 2.6 dB."""
    steps, measure, psnr = VARIANTS[variant]
    model = bicubic(tmp_path, 2)
    if "OpenCV" in variant:
        pytest.importorskip("cv2", reason="OpenCV is not installed")
    processing = []
    for step in model.inputs[0].processing:
        changes = steps.get(step.name, {})
        if changes is None:  # colors instead, in the same arithmetic of floats
            processing.append(Step(name="cast", parameters={"element_type": "float32", "mode": "value"}))
        else:
            processing.append(step.model_copy(update={"parameters": {**step.parameters, **changes}}))
    inputs = (model.inputs[0].model_copy(update={"processing": tuple(processing)}),)
    model = model.model_copy(update={"inputs": inputs, "measure": {**model.measure, **measure}})
    assert digits(evaluate(model, set5(), Options(), settings=settings), psnr=2) == {"psnr": psnr}


@pytest.mark.slow(reason="twenty convolutions of whole pictures")
@pytest.mark.parametrize(("scale", "psnr", "ssim"), [(2, 37.6526, 0.9600), (3, 33.7733, 0.9235), (4, 31.4530, 0.8859)])
def test_vdsr_on_set5(scale: int, psnr: float, ssim: float, settings: Settings) -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    record = evaluate(model_of(f"vdsr-x{scale}", "tasks/superres"), set5(), Options(), settings=settings)
    assert digits(record, psnr=4, ssim=4) == {"psnr": psnr, "ssim": ssim}
    assert f"{record.metrics['psnr'].value:.2f}" == record.plan.claims[0].value


@pytest.mark.slow(reason="sixteen residual blocks of whole pictures")
def test_srresnet_on_set5(settings: Settings) -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    record = evaluate(model_of("srresnet-x4", "tasks/superres"), set5(), Options(), settings=settings)
    assert digits(record, psnr=4, ssim=4) == {"psnr": 32.0156, "ssim": 0.8930}


@pytest.mark.slow(reason="a hundred pictures of 513 x 513")
def test_deeplab_on_a_hundred_pictures(settings: Settings) -> None:
    model = model_of("deeplabv3-mnv2", "models/coral")
    record = evaluated(model, coco_100(), settings)
    assert digits(record, miou=6, pixel_accuracy=6) == {"miou": 0.502720, "pixel_accuracy": 0.882249}
    person = next(each for each in record.details["per_class"] if each["class"] == 15)
    assert round(person["iou"], 6) == 0.778779


@pytest.mark.slow(reason="a hundred pictures of 513 x 513")
def test_deeplab_with_absent_classes_as_nothing(settings: Settings) -> None:
    model = model_of("deeplabv3-mnv2", "models/coral")
    record = evaluated(model, coco_100(absent="zero"), settings)
    assert digits(record, miou=6) == {"miou": 0.478781}


def test_anchors_decoded_by_steps_give_the_boxes_that_the_network_decodes_itself(tmp_path: Path) -> None:
    settings = Settings(tmp_path / "home", tmp_path / "cache")
    picture = SHARED / "models/ultraface/1.jpg"
    found = []
    for name in ("ultraface", "ultraface-raw"):
        answer = predict(model_of(name, "models/ultraface"), [picture], settings=settings)[0].answer
        found.append(json.loads(answer) if isinstance(answer, str) else answer)
    own, ours = found
    assert len(own) == len(ours) == 46
    for one, other in zip(own, ours, strict=True):
        assert one["score"] == other["score"] and one["box"] == pytest.approx(other["box"], abs=1e-3)
