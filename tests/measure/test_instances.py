"""COCO's numbers of masks are those of pycocotools, to the last digit that is published."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mlmodelscope.measure.instances import MEASURES, RULE
from mlmodelscope.measure.rule import ScoreError

pytest.importorskip("faster_coco_eval")
ORACLES = (
    Path(os.environ.get("MLMODELSCOPE_SHARED") or Path(__file__).parents[2].parent / "shared")
    / "tasks"
    / "metrics_oracles"
)
shared = pytest.mark.skipif(not ORACLES.exists(), reason="needs the oracles of ../shared")


def target_of(data: dict[str, Any], image: dict[str, Any], numbers: dict[int, int]) -> dict[str, Any]:
    """What the dataset format would read, with run lengths compressed."""
    from pycocotools import mask

    own = [each for each in data["annotations"] if each["image_id"] == image["id"]]
    size = [image["height"], image["width"]]
    masks = []
    for each in own:
        segmentation = each["segmentation"]
        if isinstance(segmentation, dict):
            runs = segmentation
            if isinstance(runs["counts"], list):
                runs = mask.frPyObjects(segmentation, *size)
            counts = runs["counts"]
            segmentation = counts if isinstance(counts, str) else counts.decode()
        masks.append(segmentation)
    corners = [[x, y, x + w, y + h] for x, y, w, h in (each["bbox"] for each in own)]
    return {
        "boxes": corners,
        "classes": [numbers[each["category_id"]] for each in own],
        "areas": [each["area"] for each in own],
        "crowd": [bool(each["iscrowd"]) for each in own],
        "masks": masks,
        "size": size,
    }


def answer_of(own: list[dict[str, Any]], numbers: dict[int, int]) -> dict[str, np.ndarray]:
    from pycocotools import mask

    runs = [each["segmentation"]["counts"] for each in own]
    runs = [each.encode() if isinstance(each, str) else each for each in runs]
    boxes = [mask.toBbox(each["segmentation"]) for each in own]
    return {
        "boxes": np.array([[x, y, x + w, y + h] for x, y, w, h in boxes], np.float64).reshape(-1, 4),
        "scores": np.array([each["score"] for each in own], np.float64),
        "classes": np.array([numbers[each["category_id"]] for each in own], np.int32),
        "runs": np.frombuffer(b"".join(runs), np.uint8),
        "lengths": np.array(list(map(len, runs)), np.int32),
    }


def scored(data: dict[str, Any], answers: list[dict[str, Any]]) -> list[bytes]:
    numbers = {each: place for place, each in enumerate(sorted(each["id"] for each in data["categories"]))}
    items = []
    for image in sorted(data["images"], key=lambda each: int(each["id"])):
        own = [each for each in answers if each["image_id"] == image["id"]]
        fields = {"size": [image["height"], image["width"]]}
        items.append((answer_of(own, numbers), fields, target_of(data, image, numbers)))
    found = RULE.score_together(items, {})
    return [each for each in found if isinstance(each, bytes)]


@shared
def test_cocos_own_masks_give_the_published_numbers() -> None:
    pytest.importorskip("pycocotools")
    data = json.loads((ORACLES / "instances_val2014_100.json").read_text())
    answers = json.loads((ORACLES / "instances_val2014_fakesegm100_results.json").read_text())
    found = RULE.numbers(scored(data, answers), MEASURES, None)
    assert [round(found[name], 6) for name in MEASURES if name.startswith("mask")] == [
        *(0.319545, 0.562288, 0.298927, 0.387374, 0.310183, 0.326934),
        *(0.268230, 0.415449, 0.416839, 0.469450, 0.376759, 0.381472),
    ]


def random_pair(seed: int, images: int = 10) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Polygons and crowds as run lengths; answers that are near, twice there, or nonsense."""
    from pycocotools import mask

    chance = np.random.default_rng(seed)
    data: dict[str, Any] = {
        "images": [{"id": number, "width": 160, "height": 120} for number in range(1, images + 1)],
        "categories": [{"id": number, "name": str(number)} for number in (1, 3)],
        "annotations": [],
    }
    answers = []

    def polygon(x: float, y: float, size: float) -> list[float]:
        angles = np.sort(chance.uniform(0, 2 * np.pi, chance.integers(3, 9)))
        radius = size * chance.uniform(0.6, 1, len(angles))
        return [
            float(each)
            for pair in zip(x + radius * np.cos(angles), y + radius * np.sin(angles), strict=True)
            for each in pair
        ]

    def runs_of(shape: list[float]) -> dict[str, Any]:
        found = mask.merge(mask.frPyObjects([shape], 120, 160))
        return {"size": [120, 160], "counts": found["counts"].decode()}

    for image in range(1, images + 1):
        for _ in range(chance.integers(0, 6)):
            x, y, size = chance.uniform(10, 150), chance.uniform(10, 110), chance.uniform(3, 70)
            shape, kind, crowd = polygon(x, y, size), int(chance.choice([1, 3])), bool(chance.random() < 0.2)
            runs = runs_of(shape)
            entry = {"id": len(data["annotations"]) + 1, "image_id": image, "category_id": kind, "iscrowd": int(crowd)}
            entry |= {"bbox": mask.toBbox(runs).tolist(), "area": float(mask.area(runs))}
            data["annotations"].append({**entry, "segmentation": runs if crowd else [shape]})
            for _ in range(chance.integers(0, 3)):
                moved = [float(each) for each in np.array(shape) + chance.normal(0, 1.5, len(shape))]
                answer = {"image_id": image, "category_id": kind, "segmentation": runs_of(moved)}
                answers.append({**answer, "score": round(float(chance.random()), 2)})
        for _ in range(chance.integers(0, 3)):
            wrong = runs_of(polygon(chance.uniform(10, 150), chance.uniform(10, 110), chance.uniform(3, 40)))
            answer = {"image_id": image, "category_id": 1, "segmentation": wrong}
            answers.append({**answer, "score": round(float(chance.random()), 2)})
    return data, answers


@pytest.mark.parametrize("seed", range(6))
def test_random_masks_give_the_numbers_of_pycocotools(seed: int, tmp_path: Path) -> None:
    coco = pytest.importorskip("pycocotools.coco")
    from pycocotools.cocoeval import COCOeval

    data, answers = random_pair(seed)
    gt, dt = tmp_path / "gt.json", tmp_path / "dt.json"
    gt.write_text(json.dumps(data))
    dt.write_text(json.dumps(answers))
    found = RULE.numbers(scored(data, answers), MEASURES, None)
    known = coco.COCO(str(gt))
    for kind, prefix in (("segm", "mask-"), ("bbox", "")):
        read = known.loadRes(str(dt))
        if kind == "bbox":  # what pycocotools does with answers that have boxes
            for each in read.dataset["annotations"]:
                each["area"] = each["bbox"][2] * each["bbox"][3]
        reference = COCOeval(known, read, kind)
        reference.evaluate()
        reference.accumulate()
        reference.summarize()
        names = [name for name in MEASURES if name.startswith("mask-") == (prefix == "mask-")]
        for name, expected in zip(names, reference.stats, strict=True):
            assert found.get(name, -1) == pytest.approx(expected, abs=1e-12), name


def test_masks_of_another_picture_size_fail_their_sample_alone() -> None:
    pytest.importorskip("pycocotools")
    data, answers = random_pair(1, images=2)
    numbers = {1: 0, 3: 1}
    targets = [target_of(data, image, numbers) for image in data["images"]]
    own = [answer_of([each for each in answers if each["image_id"] == number], numbers) for number in (1, 2)]
    first, second = RULE.score_together(
        [(own[0], {"size": [60, 80]}, targets[0]), (own[1], {"size": [120, 160]}, targets[1])], {}
    )
    assert isinstance(first, ScoreError) and "80 x 60" in str(first) and isinstance(second, bytes)


def test_a_target_without_masks_cannot_be_scored() -> None:
    nothing = {
        "boxes": np.zeros((0, 4)),
        "scores": np.zeros(0),
        "classes": np.zeros(0, np.int32),
        "runs": np.zeros(0, np.uint8),
        "lengths": np.zeros(0, np.int32),
    }
    with pytest.raises(ScoreError, match="no masks"):
        RULE.score(nothing, {"size": [5, 5]}, {"boxes": [[0, 0, 1, 1]], "classes": [0]}, {})
