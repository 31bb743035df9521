"""Old manifests of detectors, segmentations and enhancers run as they are; ONNX files stand in for the old models."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mlmodelscope import Record, Settings, Store, evaluate, load_manifest
from mlmodelscope.manifest.schema import Framework, ModelManifest
from test_tasks_evaluated import BOX, HEIGHT, WIDTH, coco, write_onnx, write_pictures

pytestmark = pytest.mark.usefixtures("few_calls")
OLD = """\
name: old
version: 1.0
framework: {{name: {framework}, version: '>=0.1'}}
inputs:
  - type: image
    parameters: {{layout: CHW, color_mode: RGB, element_type: float32, dimensions: [3, 30, 40]}}
output:
  type: {kind}
  parameters: {{{parameters}}}
model: {{graph_path: same.onnx}}
"""


def evaluated(
    place: Path, settings: Settings, framework: str, kind: str, parameters: str, dataset: dict[str, Any], **outputs: Any
) -> Record:
    write_onnx(place / "same.onnx", **outputs)
    (place / "old.yml").write_text(OLD.format(framework=framework, kind=kind, parameters=parameters))
    model = load_manifest(place / "old.yml")
    assert isinstance(model, ModelManifest)
    model = model.model_copy(update={"framework": Framework(name="onnxruntime", version="*")})
    truth = load_manifest({"name": "truth", "version": "1.0.0", "task": model.task, **dataset})
    record = evaluate(model, truth, settings=settings)
    assert record.failed == 0, record.failures
    return record


def things(place: Path, **more: Any) -> dict[str, Any]:
    names = write_pictures(place / "pictures")
    (place / "labels.json").write_text(json.dumps(coco(names, **more)))
    return {"format": "coco", "sources": [{"url": str(place / "pictures"), "labels_url": str(place / "labels.json")}]}


def rows(settings: Settings, record: Record) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = Store(settings).samples(record).to_pylist()
    return found


def test_gluons_columns_in_pixels_of_the_input(tmp_path: Path, settings: Settings) -> None:
    half = [each / 2 for each in BOX]
    found = {"classes": [[[1], [0], [-1]]], "scores": [[[0.9], [0.2], [-1]]], "boxes": [[half, [0, 0, 2, 2], [-1] * 4]]}
    layers = "classes_layer: classes, probabilities_layer: scores, boxes_layer: boxes"
    record = evaluated(tmp_path, settings, "MXNet", "boundingbox", layers, things(tmp_path), **found)
    assert record.metrics["ap"].value == pytest.approx(1.0)
    assert [row["classes"] for row in rows(settings, record)] == [[1, 0]] * 2  # the row of -1 is no box


def test_tensorflows_shares_with_cocos_ids_and_names_for_all_91(tmp_path: Path, settings: Settings) -> None:
    left, top, right, bottom = BOX
    share = [top / HEIGHT, left / WIDTH, bottom / HEIGHT, right / WIDTH]
    found = {"boxes": [[share, [0, 0, 0, 0]]], "scores": [[0.9, 0]], "classes": [[13, 1]]}
    names = tmp_path / "coco_labels_paper.txt"
    names.write_text("".join(f"name {identity}\n" for identity in range(1, 92)))
    layers = f"classes_layer: classes, probabilities_layer: scores, boxes_layer: boxes, features_url: {names}"
    dataset = things(tmp_path)
    told = json.loads((tmp_path / "labels.json").read_text())
    told["categories"] = [{"id": each, "name": f"class {each}"} for each in range(1, 91) if each not in UNUSED]
    for each in told["annotations"]:
        each["category_id"] = 13
    (tmp_path / "labels.json").write_text(json.dumps(told))
    record = evaluated(tmp_path, settings, "TensorFlow", "boundingbox", layers, dataset, **found)
    assert record.metrics["ap"].value == pytest.approx(1.0)
    assert [row["classes"] for row in rows(settings, record)] == [[11]] * 2  # filling has the score 0
    assert record.class_names[11] == "name 13" and len(record.class_names) == 80


UNUSED = (12, 26, 29, 30, 45, 66, 68, 69, 71, 83)


def test_masks_in_their_boxes(tmp_path: Path, settings: Settings) -> None:
    left, top, right, bottom = BOX
    outline = [[left, top, right, top, right, bottom, left, bottom]]
    share = [top / HEIGHT, left / WIDTH, bottom / HEIGHT, right / WIDTH]
    found = {"boxes": [[share]], "scores": [[0.9]], "classes": [[2]], "masks": np.ones((1, 1, 14, 14))}
    layers = "classes_layer: classes, probabilities_layer: scores, boxes_layer: boxes, masks_layer: masks"
    dataset = things(tmp_path, segmentation=outline)
    record = evaluated(tmp_path, settings, "TensorFlow", "instancesegment", layers, dataset, **found)
    assert record.metrics["mask-ap"].value == pytest.approx(1.0)


def test_a_map_of_scores(tmp_path: Path, settings: Settings) -> None:
    from PIL import Image

    names = write_pictures(tmp_path / "pictures")
    (tmp_path / "masks").mkdir()
    for name in names:
        mask = Image.new("L", (WIDTH, HEIGHT), 0)
        mask.paste(1, (0, 0, WIDTH // 2, HEIGHT))
        mask.save(tmp_path / "masks" / name)
    scores = np.zeros((1, 2, 30, 40))
    scores[:, 0, :, 20:] = scores[:, 1, :, :20] = 1
    where = {"url": str(tmp_path / "pictures"), "labels_url": str(tmp_path / "masks")}
    dataset = {"format": "masks", "sources": [where], "measure": {"classes": 2}}
    record = evaluated(tmp_path, settings, "Caffe", "semanticsegment", "masks_layer: out", dataset, out=scores)
    assert record.metrics["miou"].value == 1


def test_a_picture_of_0_to_1(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    from PIL import Image

    (tmp_path / "pictures").mkdir()
    Image.new("RGB", (40, 30), (51, 102, 205)).save(tmp_path / "pictures/0.png")
    monkeypatch.setitem(globals(), "OLD", OLD.replace("dimensions: [3, 30, 40]", "scale: 255"))
    flat = np.zeros((1, 3, 30, 40)) + np.reshape([51 / 255, 102 / 255, 204 / 255], (1, 3, 1, 1))
    dataset = {"format": "pictures", "sources": [{"url": str(tmp_path / "pictures")}], "measure": {"color": "rgb"}}
    record = evaluated(tmp_path, settings, "PyTorch", "image", "element_type: int64", dataset, out=flat)
    assert record.metrics["psnr"].value == pytest.approx(52.902, abs=0.001)
