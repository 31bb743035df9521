"""Functions of the original system return one array for each output: read by role, and scored, at every batch size."""

import json
from pathlib import Path
from typing import Any

import pytest

from detector_world import HEIGHT, WIDTH, write_detector
from mlmodelscope import Options, Record, Settings, Store, evaluate, load_manifest, predict
from mlmodelscope.manifest.schema import DatasetManifest, ModelManifest

pytestmark = pytest.mark.usefixtures("few_calls")
V2 = """\
name: own
version: 1.0.0
modality: {modality}
inputs: [{{type: image}}]
outputs: [{{type: {kind}}}]
preprocess: |
  import numpy as np
  from PIL import Image
  def preprocess(ctx, data):
      return np.asarray(Image.open(dataset[int(data)]).convert("RGB"))
run: |
  def run(ctx, data):
      return data[0]
postprocess: |
  import numpy as np
  def postprocess(ctx, data):
{body}
"""
DETECT = """\
probabilities, classes, boxes = [], [], []
for picture in data:
    probabilities.append([0.9, 0.1])
    classes.append([0.0, 1.0])
    boxes.append([[0, 0, 0.5, 0.5], [0.5, 0.5, 1, 1]])
return probabilities, classes, boxes
"""
INSTANCES = """\
probs, labels, boxes, masks = [], [], [], []
for picture in data:
    probs.append([0.9])
    labels.append([0])
    boxes.append([[0, 0, 0.5, 0.5]])
    masks.append(np.ones((1, 14, 14)).tolist())
return probs, labels, boxes, masks
"""
NUMBERED = """\
masks, labels = [], [0]
for picture in data:
    labels.append(0)
    found = np.zeros(picture.shape[:2])
    found[:24, :32] = len(labels) - 1
    masks.append(found.tolist())
return masks, labels
"""


def own(
    folder: Path, body: str, modality: str = "image_object_detection", kind: str = "boundingboxes"
) -> ModelManifest:
    indented = "".join(f"      {line}\n" for line in body.splitlines())
    (folder / "own.yml").write_text(V2.format(modality=modality, kind=kind, body=indented))
    found = load_manifest(folder / "own.yml")
    assert isinstance(found, ModelManifest) and found.preprocess is not None
    return found


def things(folder: Path, pictures: int, **changes: Any) -> DatasetManifest:
    _, dataset = write_detector(folder, pictures)
    found = load_manifest(dataset)
    assert isinstance(found, DatasetManifest)
    return found.model_copy(update=changes)


def rows(settings: Settings, record: Record) -> list[dict[str, Any]]:
    assert record.failed == 0, record.failures
    found: list[dict[str, Any]] = Store(settings).samples(record).to_pylist()
    return found


@pytest.mark.parametrize("batch_size", [1, 2, 3])
def test_a_detectors_columns_are_scored_against_coco(tmp_path: Path, settings: Settings, batch_size: int) -> None:
    """Three outputs and a batch of three samples look alike; the last batch of seven has one."""
    record = evaluate(
        own(tmp_path, DETECT), things(tmp_path, 7), Options(batch_size=batch_size), settings=settings, trust=True
    )
    for row in rows(settings, record):
        assert row["classes"] == [0, 1] and row["scores"] == [0.9, 0.1]
        assert row["boxes"] == [0, 0, WIDTH / 2, HEIGHT / 2, WIDTH / 2, HEIGHT / 2, WIDTH, HEIGHT]
    assert record.metrics["ap"].value == pytest.approx(0.5)  # every cat, no dog


def test_a_detectors_columns_are_shown_of_one_picture(tmp_path: Path, settings: Settings) -> None:
    things(tmp_path, 3)
    pictures = sorted((tmp_path / "things").iterdir())
    for shown in predict(own(tmp_path, DETECT), pictures, settings=settings, trust=True):
        best = json.loads(shown.answer or "[]")[0]
        assert best["box"] == [0, 0, WIDTH / 2, HEIGHT / 2] and (best["class"], best["score"]) == (0, 0.9)


@pytest.mark.parametrize("batch_size", [1, 2, 4])
@pytest.mark.parametrize("body", [INSTANCES, NUMBERED], ids=["in boxes", "numbered on a map"])
def test_instances_are_read_in_both_forms(tmp_path: Path, settings: Settings, batch_size: int, body: str) -> None:
    dataset = things(tmp_path, 5, task="instance_segmentation")
    labels = tmp_path / "things-labels.json"
    told = json.loads(labels.read_text())
    for each in told["annotations"]:
        left, top, width, height = each["bbox"]
        right, bottom = left + width, top + height
        each["segmentation"] = [[left, top, right, top, right, bottom, left, bottom]]
    labels.write_text(json.dumps(told))
    model = own(tmp_path, body, "image_instance_segmentation", "masks")
    record = evaluate(model, dataset, Options(batch_size=batch_size), settings=settings, trust=True)
    for row in rows(settings, record):
        assert row["classes"] == [0] and row["boxes"] == [0, 0, WIDTH / 2, HEIGHT / 2] and len(row["lengths"]) == 1
    assert record.metrics["mask-ap"].value == pytest.approx(0.5)


@pytest.mark.parametrize("batch_size", [1, 2])
def test_maps_and_pictures_are_scored_as_a_models_own(tmp_path: Path, settings: Settings, batch_size: int) -> None:
    from PIL import Image

    for name in ("pictures", "masks"):
        (tmp_path / name).mkdir()
    for number in range(2):
        Image.new("RGB", (8, 6), (10 * number, 20, 30)).save(tmp_path / f"pictures/{number}.png")
        mask = Image.new("L", (8, 6), 0)
        mask.paste(1, (0, 0, 8, 3))
        mask.save(tmp_path / f"masks/{number}.png")
    where = [{"url": str(tmp_path / "pictures"), "labels_url": str(tmp_path / "masks")}]
    truth = {"name": "truth", "version": "1.0.0", "sources": where}
    halves = load_manifest({**truth, "task": "semantic_segmentation", "format": "masks", "measure": {"classes": 2}})
    top = own(tmp_path, "return [[[1] * 8] * 3 + [[0] * 8] * 3 for _ in data]", "image_semantic_segmentation", "masks")
    record = evaluate(top, halves, Options(batch_size=batch_size), settings=settings, trust=True)
    assert len(rows(settings, record)) == 2 and record.metrics["miou"].value == 1
    same = load_manifest(
        {**truth, "sources": [{"url": where[0]["url"]}], "task": "image_enhancement", "format": "pictures"}
    )
    off = own(tmp_path, "return (data.astype('float32') + 1).tolist()", "image_enhancement", "image")
    record = evaluate(
        off.model_copy(update={"measure": {"color": "rgb"}}),
        same,
        Options(batch_size=batch_size),
        settings=settings,
        trust=True,
    )
    assert len(rows(settings, record)) == 2 and record.metrics["psnr"].value == pytest.approx(48.1308, abs=1e-4)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("return [[0.9]], [[0]], [[[0, 0, 1, 1]]] * 2", "postprocess returned 2 rows of boxes for 1 samples"),
        ("return [[0.9]], [[0, 1]], [[[0, 0, 1, 1]]]", "there are 1 boxes and 2 classes"),
        ("return [[float('nan')]], [[0]], [[[0, 0, 1, 1]]]", "not-a-number"),
        ("return [[0.9]], 7, [[[0, 0, 1, 1]]]", "postprocess returned no rows of classes for 1 samples"),
    ],
)
def test_columns_that_cannot_be_read_are_failed_samples(
    tmp_path: Path, settings: Settings, body: str, reason: str
) -> None:
    record = evaluate(own(tmp_path, body), things(tmp_path, 1), settings=settings, trust=True)
    assert reason in record.failures[0].reason


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("return [np.zeros((3, 3))], [0]", "the map of masks is 3x3, the picture 48x64"),
        ("return [np.full((48, 64), 5)], [0, 1]", "the map has the number 5; there are 2 labels"),
        ("return [np.zeros((48, 64))], 'cat'", "the labels are not a list of class numbers"),
    ],
)
def test_numbered_maps_that_cannot_be_read_are_failed_samples(
    tmp_path: Path, settings: Settings, body: str, reason: str
) -> None:
    things(tmp_path, 1)
    model = own(tmp_path, body, "image_instance_segmentation", "masks")
    (shown,) = predict(model, [tmp_path / "things/0000.png"], settings=settings, trust=True)
    assert reason in (shown.error or "")
