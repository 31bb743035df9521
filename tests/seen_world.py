"""Small worlds for every task whose answers can be seen: manifests, pictures and truth as people write them.

Each function writes `model.yml` and `dataset.yml` into a folder and returns both. Models always answer the same, or
with their input; truths differ, so that some samples are worse than others.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from PIL import Image

from test_tasks_evaluated import write_onnx

HEIGHT, WIDTH = 60, 80
BOX = (16.0, 9.0, 56.0, 45.0)
Files = tuple[Path, Path]


def _write(folder: Path, model: dict[str, Any], dataset: dict[str, Any]) -> Files:
    (folder / "model.yml").write_text(yaml.safe_dump(model, sort_keys=False))
    (folder / "dataset.yml").write_text(yaml.safe_dump(dataset, sort_keys=False))
    return folder / "model.yml", folder / "dataset.yml"


def _pictures(folder: Path, count: int) -> list[str]:
    (folder / "pictures").mkdir(parents=True)
    names = [f"{number}.png" for number in range(count)]
    down, across = np.mgrid[:HEIGHT, :WIDTH]
    for number, name in enumerate(names):
        pixels = np.stack([across * 3, down * 4, np.full_like(down, 40 * number)], axis=-1)
        Image.fromarray(pixels.astype(np.uint8)).save(folder / "pictures" / name)
    return names


def _model(task: str, name: str, **more: Any) -> dict[str, Any]:
    processing = {"decode": {"color_layout": "RGB"}, "resize": {"dimensions": [30, 40]}, "layout": "NCHW"}
    return {
        "name": name,
        "version": "1.0.0",
        "task": task,
        "framework": {"name": "onnxruntime"},
        "inputs": [{"type": "image", "processing": processing}],
        "source": {"graph_path": "same.onnx"},
        **more,
    }


def _dataset(task: str, name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "version": "1.0.0", "task": task, **more}


def _outputs(*roles: str) -> list[dict[str, Any]]:
    return [{"type": role, "layer_name": role} for role in roles]


def _coco(names: list[str], things: Any, **category: Any) -> dict[str, Any]:
    """`things` gives what is in a picture by its number."""
    annotations: list[dict[str, Any]] = []
    for number in range(len(names)):
        for thing in things(number):
            left, top, right, bottom = thing.pop("box")
            box = [left, top, right - left, bottom - top]
            made = {"id": len(annotations), "image_id": number, "bbox": box, "area": box[2] * box[3], "iscrowd": 0}
            annotations.append({**made, **thing})
    return {
        "images": [
            {"id": number, "file_name": name, "height": HEIGHT, "width": WIDTH} for number, name in enumerate(names)
        ],
        "categories": [{"id": 1, "name": "cat", **category}, {"id": 2, "name": "<b>dog</b>", **category}],
        "annotations": annotations,
    }


def write_instances(folder: Path, count: int = 3) -> Files:
    """A dog in every picture that is found, one pixel further each time, and a cat that nobody looks for."""
    names = _pictures(folder, count)

    def things(number: int) -> list[dict[str, Any]]:
        left, top, right, bottom = (each + 6 * number for each in BOX)
        corners = [left, top, right, top, right, bottom, left, bottom]
        dog = {"category_id": 2, "box": (left, top, right, bottom), "segmentation": [corners]}
        cat = {"category_id": 1, "box": (0, 0, 8, 8), "segmentation": [[0, 0, 8, 0, 8, 8, 0, 8]]}
        return [dog, cat] if number % 2 else [dog]

    (folder / "truth.json").write_text(json.dumps(_coco(names, things)))
    left, top, right, bottom = BOX
    share = [top / HEIGHT, left / WIDTH, bottom / HEIGHT, right / WIDTH]
    down, across = np.mgrid[:28, :28]
    round_one = ((down - 13.5) ** 2 + (across - 13.5) ** 2 < 14**2).astype(float)
    write_onnx(
        folder / "same.onnx",
        boxes=[[share, [0.7, 0.7, 0.9, 0.9], [0, 0, 0.2, 0.2]]],
        scores=[[0.9, 0.4, 0.2]],
        classes=[[1, 0, 0]],
        masks=np.stack([round_one, np.ones((28, 28)), np.ones((28, 28))])[None],
    )
    model = _model("instance_segmentation", "cutter", outputs=_outputs("boxes", "scores", "classes", "masks"))
    sources = [{"url": "pictures", "labels_url": "truth.json"}]
    return _write(folder, model, _dataset("instance_segmentation", "things", format="coco", sources=sources))


POINTS = ((24.0, 14.0), (40.0, 12.0), (52.0, 20.0), (30.0, 40.0))
SKELETON = [[1, 2], [2, 3], [1, 4]]


def write_keypoints(folder: Path, count: int = 3) -> Files:
    """Four points of a cat, of which one is not annotated; the truth moves away from the answer."""
    names = _pictures(folder, count)

    def things(number: int) -> list[dict[str, Any]]:
        points = [(x + 3 * number, y, 0 if at == 3 else 2) for at, (x, y) in enumerate(POINTS)]
        return [{"category_id": 1, "box": BOX, "keypoints": [each for point in points for each in point]}]

    names_of_points = ["ear", "nose", "tail", "paw"]
    truth = _coco(names, things, keypoints=names_of_points, skeleton=SKELETON)
    (folder / "truth.json").write_text(json.dumps(truth))
    halved = [[x / 2, y / 2, 0.8] for x, y in POINTS]  # the input is half as large
    write_onnx(folder / "same.onnx", keypoints=[[halved, halved]], scores=[[0.9, 0.1]], classes=[[0, 1]])
    model = _model(
        "keypoint_detection",
        "pointer",
        outputs=_outputs("keypoints", "scores", "classes"),
        answer=[{"keypoints": "xy"}],
        measure={"sigmas": [0.1] * len(POINTS)},
    )
    sources = [{"url": "pictures", "labels_url": "truth.json"}]
    return _write(folder, model, _dataset("keypoint_detection", "people", format="coco", sources=sources))


def write_tagger(folder: Path, count: int = 3) -> Files:
    names = _pictures(folder, count)
    rows = [f"{name},{'cat;dog' if number else 'fish'}\n" for number, name in enumerate(names)]
    (folder / "labels.csv").write_text("file,label\n" + "".join(rows))
    (folder / "classes.txt").write_text("cat\nfish\ndog\n")
    write_onnx(folder / "same.onnx", y=[[3.0, -2.0, 1.0]])
    outputs = [{"type": "logits", "processing": {"sigmoid": None}, "features_url": "classes.txt"}]
    model = _model("multilabel_classification", "tagger", outputs=outputs)
    sources = [{"url": "pictures", "labels_url": "labels.csv"}]
    dataset = _dataset("multilabel_classification", "tags", format="list", classes_url="classes.txt", sources=sources)
    return _write(folder, model, dataset)


def _echo(folder: Path, task: str, name: str, steps: list[Any], output: str, **more: Any) -> dict[str, Any]:
    """A model that answers with its input, without a framework."""
    kind = more.pop("element_type", "float32")
    (folder / "echo.json").write_text(json.dumps({"shape": [None] * 4, "echo": True, "element_type": kind}))
    return {
        "name": name,
        "version": "1.0.0",
        "task": task,
        "framework": {"name": "fake"},
        "inputs": [{"type": "image", "element_type": kind, "processing": steps}],
        "outputs": [{"type": output, "element_type": kind}],
        "source": {"graph_path": "echo.json"},
        **more,
    }


CLASSES = ("background", "cat", "<b>dog</b>")


def write_segmenter(folder: Path, count: int = 3) -> Files:
    """Pictures whose gray levels are classes; masks that lie a little beside them, more so from picture to picture."""
    (folder / "pictures").mkdir(parents=True)
    (folder / "masks").mkdir()
    for number in range(count):
        plane = np.zeros((HEIGHT, WIDTH), np.uint8)
        plane[10:40, 10:40], plane[20:50, 45:70] = 1, 2
        Image.fromarray(plane).save(folder / "pictures" / f"{number}.png")
        truth = np.roll(plane, 4 * number, axis=1)
        truth[:2] = 255
        Image.fromarray(truth).save(folder / "masks" / f"{number}.png")
    (folder / "classes.txt").write_text("\n".join(CLASSES) + "\n")
    steps = [{"decode": {"color_layout": "GRAY"}}, {"layout": "NCHW"}]
    model = _echo(folder, "semantic_segmentation", "painter", steps, "masks", element_type="uint8")
    model["outputs"][0]["features_url"] = "classes.txt"
    sources = [{"url": "pictures", "labels_url": "masks"}]
    more = {"format": "masks", "sources": sources, "classes_url": "classes.txt"}
    return _write(folder, model, _dataset("semantic_segmentation", "scenes", **more))


def write_enhancer(folder: Path, count: int = 3, **measure: Any) -> Files:
    """Pictures that are made smaller and larger again; the finer they are, the more is lost."""
    (folder / "pictures").mkdir(parents=True)
    for number in range(count):
        down, across = np.mgrid[:HEIGHT, :WIDTH]
        squares = ((down // (8 >> number) + across // (8 >> number)) % 2 * 200 + 30).astype(np.uint8)
        pixels = np.stack([squares, np.flip(squares), (across * 3).astype(np.uint8)], axis=-1)
        Image.fromarray(pixels).save(folder / "pictures" / f"{number}.png")
    steps = [{"decode": None}, {"scale": 0.5}, {"scale": 2}, {"cast": "float32"}, {"layout": "NCHW"}]
    model = _echo(folder, "image_enhancement", "sharpener", steps, "image", measure={"color": "rgb", **measure})
    sources = [{"url": "pictures"}]
    return _write(folder, model, _dataset("image_enhancement", "patterns", format="pictures", sources=sources))


WORLDS = {
    "semantic_segmentation": write_segmenter,
    "instance_segmentation": write_instances,
    "keypoint_detection": write_keypoints,
    "image_enhancement": write_enhancer,
    "multilabel_classification": write_tagger,
}
