"""Host and worker killed at random moments: the work is finished all the same, with the same answers."""

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from PIL import Image

from mlmodelscope import Record, Settings, Store
from processes import children_of

# At chosen moments, tests/test_evaluate.py kills in every run.
pytestmark = pytest.mark.nightly

MODEL = """
name: toy
version: 1.0.0
task: {task}
framework: {{name: fake}}
inputs:
  - type: image
    element_type: {element_type}
    processing: {steps}
outputs: {outputs}
source: {{graph_path: toy.json}}
"""
DATASET = "{{name: pictures, version: 1.0.0, task: {task}, format: {form}, sources: [{source}]}}"
_FLOATS = "{decode: , resize: {dimensions: [64, 64]}, mean: 127.5, rescale: 127.5, layout: NCHW}"


@dataclass(frozen=True)
class Work:
    """A model of one task without a framework, and pictures for it."""

    model: Mapping[str, object]
    dataset: Mapping[str, str]
    graph: Mapping[str, object]


WORKS = {
    "classification": Work(
        {"element_type": "float32", "steps": _FLOATS, "outputs": "[{type: logits, processing: [softmax]}]"},
        {"form": "folder", "source": "{url: pictures}"},
        {"shape": [None, 3, 64, 64]},
    ),
    "object_detection": Work(
        {
            "element_type": "float32",
            "steps": _FLOATS,
            "outputs": "[{type: boxes, layer_name: boxes}, {type: scores, layer_name: scores},"
            " {type: classes, layer_name: classes}]",
        },
        {"form": "yolo", "source": "{url: pictures, labels_url: labels}"},
        {"shape": [None, 3, 64, 64], "classes": 2, "boxes": 4},
    ),
    "semantic_segmentation": Work(
        {
            "element_type": "uint8",
            "steps": "{decode: {color_layout: GRAY}, layout: NCHW}",
            "outputs": "[{type: masks, element_type: uint8}]",
        },
        {"form": "masks", "source": "{url: pictures, labels_url: masks}"},
        {"shape": [None] * 4, "echo": True, "element_type": "uint8"},
    ),
    "image_enhancement": Work(
        {
            "element_type": "float32",
            "steps": "[decode, {crop_multiple: 2}, {scale: 0.5}, {scale: 2}, {layout: NCHW}]",
            "outputs": "[{type: image}]",
        },
        {"form": "pictures", "source": "{url: pictures}"},
        {"shape": [None] * 4, "echo": True},
    ),
}


@pytest.fixture(params=sorted(WORKS))
def place(request: pytest.FixtureRequest, tmp_path: Path, make_pictures: Callable[..., Path]) -> Path:
    work = WORKS[request.param]
    pictures = make_pictures(600, side=200)
    for folder in ("labels", "masks"):
        (tmp_path / folder).mkdir()
    for each in sorted(pictures.rglob("*.*")):
        name = each.relative_to(pictures)
        (tmp_path / "labels" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "labels" / name).with_suffix(".txt").write_text("0 0.25 0.25 0.5 0.5\n")
        if request.param == "semantic_segmentation":
            (tmp_path / "masks" / name).parent.mkdir(exist_ok=True)
            Image.open(each).convert("L").save((tmp_path / "masks" / name).with_suffix(".png"))
    (tmp_path / "toy.json").write_text(json.dumps(work.graph))
    (tmp_path / "toy.yml").write_text(MODEL.format(task=request.param, **work.model))
    (tmp_path / "pictures.yml").write_text(DATASET.format(task=request.param, **work.dataset))
    return tmp_path


def start(place: Path, home: str) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "MLMODELSCOPE_HOME": str(place / home), "MLMODELSCOPE_CACHE": str(place / "cache")}
    command = [sys.executable, "-m", "mlmodelscope", "evaluate", "toy.yml", "pictures.yml", "--json"]
    with (place / "log").open("w") as log:
        return subprocess.Popen(command, cwd=place, env=environment, stdout=subprocess.DEVNULL, stderr=log)


def finished(place: Path, home: str) -> tuple[Record, bytes]:
    store = Store(Settings(place / home, place / "cache"))
    record = store.get("latest")
    return record, (store.folder(record.id) / "samples.parquet").read_bytes()


@pytest.mark.parametrize("seed", [1, 2])
def test_the_host_may_be_killed_at_any_moment(place: Path, seed: int) -> None:
    assert start(place, "undisturbed").wait() == 0
    chance = random.Random(seed)
    for _ in range(5):
        process = start(place, "disturbed")
        try:
            process.wait(timeout=chance.uniform(0.4, 2.2))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    assert start(place, "disturbed").wait() == 0, (place / "log").read_text()
    (record, samples), (_, expected) = finished(place, "disturbed"), finished(place, "undisturbed")
    assert (record.samples, record.failed) == (600, 0)
    assert samples == expected


@pytest.mark.parametrize("seed", [3, 4])
def test_the_worker_may_be_killed_at_any_moment(place: Path, seed: int) -> None:
    assert start(place, "undisturbed").wait() == 0
    chance = random.Random(seed)
    process = start(place, "disturbed")
    for _ in range(3):
        try:
            process.wait(timeout=chance.uniform(0.4, 1.2))
            break
        except subprocess.TimeoutExpired:
            for worker in children_of(process.pid):
                os.kill(worker, signal.SIGKILL)
    assert process.wait() == 0, (place / "log").read_text()
    (record, samples), (_, expected) = finished(place, "disturbed"), finished(place, "undisturbed")
    assert (record.samples, record.failed) == (600, 0)
    assert samples == expected
