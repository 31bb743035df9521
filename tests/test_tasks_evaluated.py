"""Instances, keypoints and several labels, from manifests to a record, by models that always answer the same."""

import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from mlmodelscope import Record, Settings, Store, evaluate
from mlmodelscope.manifest.load import load_manifest

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
HEIGHT, WIDTH = 60, 80
BOX = [16.0, 9.0, 56.0, 45.0]


def write_onnx(path: Path, **outputs: Any) -> None:
    """A model that gives these arrays, whatever it sees; 0 x the input is added, as graphs need a use of it."""
    helper, kind = onnx.helper, onnx.TensorProto.FLOAT
    nodes = [
        helper.make_node("ReduceMean", ["x"], ["mean"], keepdims=0),
        helper.make_node("Mul", ["mean", "none"], ["zero"]),
    ]
    weights = [onnx.numpy_helper.from_array(np.zeros((), np.float32), "none")]
    for name, value in outputs.items():
        weights.append(onnx.numpy_helper.from_array(np.asarray(value, np.float32), f"{name}_known"))
        nodes.append(helper.make_node("Add", [f"{name}_known", "zero"], [name]))
    told = [helper.make_tensor_value_info(name, kind, np.shape(value)) for name, value in outputs.items()]
    graph = helper.make_graph(
        nodes, "same", [helper.make_tensor_value_info("x", kind, [1, 3, "height", "width"])], told, weights
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    onnx.save(model, path)


def write_pictures(folder: Path, count: int = 2) -> list[str]:
    from PIL import Image

    folder.mkdir()
    names = [f"{number}.png" for number in range(count)]
    for number, name in enumerate(names):
        Image.new("RGB", (WIDTH, HEIGHT), (40 * number, 90, 200)).save(folder / name)
    return names


def coco(names: list[str], **more: Any) -> dict[str, Any]:
    left, top, right, bottom = BOX
    box = [left, top, right - left, bottom - top]
    annotations = [
        {"id": number, "image_id": number, "category_id": 7, "bbox": box, "area": box[2] * box[3], "iscrowd": 0, **more}
        for number in range(len(names))
    ]
    return {
        "images": [
            {"id": number, "file_name": name, "height": HEIGHT, "width": WIDTH} for number, name in enumerate(names)
        ],
        "categories": [{"id": 3, "name": "cat"}, {"id": 7, "name": "dog"}],
        "annotations": annotations,
    }


def evaluated(
    place: Path, settings: Settings, model: dict[str, Any], dataset: dict[str, Any], outputs: dict[str, Any]
) -> Record:
    write_onnx(place / "same.onnx", **outputs)
    processing = {"decode": {"color_layout": "RGB"}, "resize": {"dimensions": [30, 40]}, "layout": "NCHW"}
    common = {
        "name": "same",
        "version": "1.0.0",
        "framework": {"name": "onnxruntime"},
        "inputs": [{"type": "image", "processing": processing}],
        "source": {"graph_path": "same.onnx"},
    }
    (place / "model.yml").write_text(yaml.safe_dump({**common, **model}, sort_keys=False))
    source = {"name": "seen", "version": "1.0.0", "task": model["task"], **dataset}
    (place / "dataset.yml").write_text(yaml.safe_dump(source, sort_keys=False))
    return evaluate(load_manifest(place / "model.yml"), load_manifest(place / "dataset.yml"), settings=settings)


def outputs_of(*roles: str) -> list[dict[str, Any]]:
    return [{"type": role, "layer_name": role} for role in roles]


@pytest.mark.parametrize("answer", [None, [{"boxes": {"order": "yxyx", "unit": "share"}}, {"paste_masks": 0.5}]])
def test_instances_in_their_boxes(tmp_path: Path, settings: Settings, few_calls: None, answer: Any) -> None:
    pytest.importorskip("faster_coco_eval")
    left, top, right, bottom = BOX
    corners = [left, top, right, top, right, bottom, left, bottom]
    truth = coco(write_pictures(tmp_path / "seen"), segmentation=[corners])
    (tmp_path / "truth.json").write_text(json.dumps(truth))
    share = [top / HEIGHT, left / WIDTH, bottom / HEIGHT, right / WIDTH]
    model = {"task": "instance_segmentation", "outputs": outputs_of("boxes", "scores", "classes", "masks")}
    if answer is not None:
        model["answer"] = answer
    outputs = {
        "boxes": [[share, [0, 0, 0.1, 0.1]]],
        "scores": [[0.9, 0.2]],
        "classes": [[1, 0]],
        "masks": np.ones((1, 2, 28, 28)),
    }
    dataset = {"format": "coco", "sources": [{"url": "seen", "labels_url": "truth.json"}]}
    record = evaluated(tmp_path, settings, model, dataset, outputs)
    assert record.failed == 0 and record.metrics["mask-ap"].value == record.metrics["ap"].value == 1.0
    row = Store(settings).samples(record).to_pylist()[0]
    from mlmodelscope.task.task import task_named

    first = task_named("instance_segmentation").plain(row)[0]
    decoded = pytest.importorskip("faster_coco_eval.core.mask").decode({**first["mask"]})
    assert decoded.shape == (HEIGHT, WIDTH) and decoded.sum() == (right - left) * (bottom - top)


def test_instances_of_prototypes(tmp_path: Path, settings: Settings, few_calls: None) -> None:
    pytest.importorskip("faster_coco_eval")
    left, top, right, bottom = BOX
    truth = coco(write_pictures(tmp_path / "seen"), segmentation=[[left, top, right, top, right, bottom, left, bottom]])
    (tmp_path / "truth.json").write_text(json.dumps(truth))
    rows = np.zeros((1, 8, 5))  # center, size, two classes, two coefficients; a column for each box
    rows[0, :, 0] = [18, 13.5, 20, 18, 0.1, 0.9, 1, 0]
    model = {
        "task": "instance_segmentation",
        "outputs": outputs_of("tensor", "prototypes"),
        "answer": [
            {"split_rows": {"classes": 2, "layout": "columns", "rest": "coefficients"}},
            {"boxes": "cxcywh"},
            "best_class",
            {"threshold": 0.25},
            {"nms": 0.5},
            "mask_prototypes",
            {"paste_masks": {"over": "input", "crop": True}},
        ],
    }
    shared = np.stack([np.full((15, 20), 4.0), np.full((15, 20), -4.0)])[None]
    dataset = {"format": "coco", "sources": [{"url": "seen", "labels_url": "truth.json"}]}
    record = evaluated(tmp_path, settings, model, dataset, {"tensor": rows, "prototypes": shared})
    assert record.failed == 0 and record.metrics["mask-ap"].value == 1.0


def test_keypoints(tmp_path: Path, settings: Settings, few_calls: None) -> None:
    points = [[20.0 + at, 12.0 + at] for at in range(17)]
    truth = coco(write_pictures(tmp_path / "seen"), keypoints=[each for x, y in points for each in (x, y, 2)])
    (tmp_path / "truth.json").write_text(json.dumps(truth))
    halved = np.array([[[x / 2, y / 2, 0.8] for x, y in points]])[None]  # the input is half as large
    model = {
        "task": "keypoint_detection",
        "outputs": outputs_of("keypoints", "scores", "classes"),
        "answer": [{"keypoints": "xy"}],
    }
    dataset = {"format": "coco", "sources": [{"url": "seen", "labels_url": "truth.json"}]}
    outputs = {"keypoints": halved, "scores": [[0.9]], "classes": [[1]]}
    record = evaluated(tmp_path, settings, model, dataset, outputs)
    assert record.failed == 0 and record.metrics["oks-ap"].value == 1.0


def test_several_labels(tmp_path: Path, settings: Settings, few_calls: None) -> None:
    names = write_pictures(tmp_path / "seen", 3)
    (tmp_path / "labels.csv").write_text(
        "file,label\n" + "\n".join(f"{name},cat;dog" for name in names[:2]) + "\n2.png,\n"
    )
    (tmp_path / "classes.txt").write_text("cat\nfish\ndog\n")
    model = {"task": "multilabel_classification"}
    model["outputs"] = [{"type": "logits", "processing": {"sigmoid": None}}]  # type: ignore[assignment]
    sources = [{"url": "seen", "labels_url": "labels.csv"}]
    dataset = {"format": "list", "classes_url": "classes.txt", "sources": sources}
    record = evaluated(tmp_path, settings, model, dataset, {"y": [[3.0, -2.0, 1.0]]})
    assert record.failed == 0 and record.metrics["label-exact-match"].value == pytest.approx(2 / 3)
    assert (
        record.metrics["hamming-loss"].value == pytest.approx(2 / 9)
        and record.metrics["hamming-loss"].better == "lower"
    )
    assert record.metrics["label-f1-micro"].value == pytest.approx(0.8)


def test_logits_of_several_labels_fail_with_what_to_do(tmp_path: Path, settings: Settings, few_calls: None) -> None:
    (tmp_path / "truth.json").write_text(json.dumps(coco(write_pictures(tmp_path / "seen"))))
    model: dict[str, Any] = {"task": "multilabel_classification", "outputs": [{"type": "logits"}]}
    dataset = {"format": "coco", "sources": [{"url": "seen", "labels_url": "truth.json"}]}
    record = evaluated(tmp_path, settings, model, dataset, {"y": [[3.0, -2.0]]})
    assert record.failed == 2 and "`sigmoid`" in record.failures[0].reason


DOCS = Path(__file__).parents[1] / "docs" / "tasks"
SHARED = Path(os.environ.get("MLMODELSCOPE_SHARED") or Path(__file__).parents[2] / "shared")


def manifests(page: str, folder: Path) -> None:
    """The examples of a page, each as the file that its first line names."""
    for text in re.findall(r"```yaml\n(.*?)```", (DOCS / page).read_text(), re.DOTALL):
        (folder / text.split("\n", 1)[0].removeprefix("# ")).write_text(text)


def run_example(place: Path, settings: Settings, model: str, dataset: str) -> Record:
    return evaluate(load_manifest(place / model), load_manifest(place / dataset), settings=settings)


def instances(place: Path) -> None:
    left, top, right, bottom = BOX
    names = write_pictures(place / "pictures")
    corners = [left, top, right, top, right, bottom, left, bottom]
    points = [each for at in range(17) for each in (20.0 + at, 12.0 + at, 2)]
    truth = coco(names, segmentation=[corners], keypoints=points)
    for name in ("instances.json", "person_keypoints.json"):
        (place / name).write_text(json.dumps(truth))
    (place / "tags.csv").write_text("".join(["file,label\n", *(f"{name},cat;dog\n" for name in names)]))
    (place / "classes.txt").write_text("cat\nfish\ndog\n")


def test_the_examples_of_instances_run(tmp_path: Path, settings: Settings, few_calls: None) -> None:
    pytest.importorskip("faster_coco_eval")
    manifests("instances-and-keypoints.md", tmp_path)
    instances(tmp_path)
    wide, high = 1088 / WIDTH, 800 / HEIGHT
    outputs: dict[str, Any] = {"boxes": np.array([BOX]) * [wide, high, wide, high], "labels": [2.0], "scores": [0.8]}
    write_onnx(tmp_path / "mask-rcnn.onnx", **outputs, masks=np.ones((1, 1, 28, 28)))
    record = run_example(tmp_path, settings, "mask-rcnn.yml", "instances.yml")
    assert record.failed == 0 and record.metrics["mask-ap"].value == pytest.approx(1.0)
    rows = np.zeros((1, 116, 50))
    rows[0, [0, 1, 2, 3, 5, 84], 7] = [36 * 8, 27 * 640 / 60, 40 * 8, 36 * 640 / 60, 0.9, 1]
    shared = np.zeros((1, 32, 160, 160))
    shared[0, 0] = 5.0
    write_onnx(tmp_path / "yolov8n-seg.onnx", output0=rows, output1=shared)
    record = run_example(tmp_path, settings, "yolov8-seg.yml", "instances.yml")
    assert record.failed == 0 and record.metrics["mask-ap"].value == record.metrics["ap"].value == pytest.approx(1.0)


def test_the_example_of_keypoints_runs(tmp_path: Path, settings: Settings, few_calls: None) -> None:
    manifests("instances-and-keypoints.md", tmp_path)
    instances(tmp_path)
    data = json.loads((tmp_path / "person_keypoints.json").read_text())
    data["categories"] = [{"id": 7, "name": "person", "keypoints": [str(at) for at in range(17)]}]
    (tmp_path / "person_keypoints.json").write_text(json.dumps(data))
    rows = np.zeros((1, 56, 9))
    points = [each for at in range(17) for each in ((20 + at) * 8, (12 + at) * 640 / 60, 0.7)]
    rows[0, :, 4] = [36 * 8, 27 * 640 / 60, 40 * 8, 36 * 640 / 60, 0.9, *points]
    write_onnx(tmp_path / "yolov8n-pose.onnx", output0=rows)
    record = run_example(tmp_path, settings, "yolov8-pose.yml", "people.yml")
    assert record.failed == 0 and record.metrics["oks-ap"].value == pytest.approx(1.0)


def test_the_example_of_several_labels_runs(tmp_path: Path, settings: Settings, few_calls: None) -> None:
    manifests("multilabel.md", tmp_path)
    instances(tmp_path)
    write_onnx(tmp_path / "tagger.onnx", y=[[3.0, -2.0, 1.0]])
    record = run_example(tmp_path, settings, "tagger.yml", "tags.yml")
    assert record.failed == 0 and record.metrics["label-ap"].value == 1.0


@pytest.mark.skipif(not SHARED.exists(), reason="needs the model and the pictures of ../shared")
@pytest.mark.slow(reason="128 photographs are decoded and detected")
def test_the_example_of_detection_gives_the_numbers_of_the_page(
    tmp_path: Path, settings: Settings, few_calls: None
) -> None:
    pytest.importorskip("cv2")
    manifests("detection.md", tmp_path)
    data = SHARED / "tasks" / "detection"
    for source in (SHARED / "models/onnx/FastestDet.onnx", data / "images", data / "gt_coco_val2017_first128.json"):
        (tmp_path / source.name).symlink_to(source)
    record = run_example(tmp_path, settings, "fastestdet.yml", "coco-first-128.yml")
    assert record.metrics["ap"].value == pytest.approx(0.190669, abs=2e-5)
    assert record.metrics["ap50"].value == pytest.approx(0.356739, abs=2e-5)
