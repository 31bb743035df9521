"""COCO's numbers of keypoints are those of pycocotools, to the last digit that is published."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mlmodelscope.measure.keypoints import MEASURES, RULE
from mlmodelscope.measure.rule import ScoreError
from pycoco import reference_numbers

ORACLES = (
    Path(os.environ.get("MLMODELSCOPE_SHARED") or Path(__file__).parents[2].parent / "shared")
    / "tasks"
    / "metrics_oracles"
)
shared = pytest.mark.skipif(not ORACLES.exists(), reason="needs the oracles of ../shared")


def scored(data: dict[str, Any], answers: list[dict[str, Any]], options: dict[str, Any] | None = None) -> list[bytes]:
    items = []
    for image in sorted(each["id"] for each in data["images"]):
        own = [each for each in data["annotations"] if each["image_id"] == image]
        said = [each for each in answers if each["image_id"] == image]
        target = {
            "boxes": [[x, y, x + w, y + h] for x, y, w, h in (each["bbox"] for each in own)],
            "classes": [0] * len(own),
            "areas": [each["area"] for each in own],
            "crowd": [bool(each["iscrowd"]) for each in own],
            "keypoints": [each["keypoints"] for each in own],
        }
        boxes = [[x, y, x + w, y + h] for x, y, w, h in (each["bbox"] for each in said)]
        made = {
            "boxes": np.array(boxes, np.float64).reshape(-1, 4),
            "scores": np.array([each["score"] for each in said], np.float64),
            "classes": np.zeros(len(said), np.int32),
            "keypoints": np.array([each["keypoints"] for each in said], np.float64).reshape(len(said), -1, 3),
        }
        if not said:
            made["keypoints"] = np.zeros((0, 17, 3))
        items.append((made, {}, target))
    return [each for each in RULE.score_together(items, options or {}) if isinstance(each, bytes)]


@shared
def test_the_published_keypoints_give_the_published_numbers() -> None:
    data = json.loads((ORACLES / "keypoints_gt_dataset.json").read_text())
    answers = json.loads((ORACLES / "keypoints_dt_dataset.json").read_text())
    found = RULE.numbers(scored(data, answers), MEASURES, None)
    assert [round(found[name], 6) for name in MEASURES] == [
        *(0.504884, 0.722772, 0.633663, 0.466337, 0.750495),
        *(0.518182, 0.727273, 0.636364, 0.466667, 0.75),
    ]


def random_pair(seed: int, images: int = 8) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """People, some with no point annotated and some crowds; answers that are near, twice there, or nonsense."""
    chance = np.random.default_rng(seed)
    data: dict[str, Any] = {
        "images": [{"id": number, "width": 640, "height": 480} for number in range(1, images + 1)],
        "categories": [{"id": 1, "name": "person", "keypoints": list(map(str, range(17)))}],
        "annotations": [],
    }
    answers = []
    for image in range(1, images + 1):
        for _ in range(chance.integers(1, 7)):
            x, y, w, h = *chance.uniform(0, 400, 2), *chance.uniform(20, 200, 2)
            points = np.stack([chance.uniform(x, x + w, 17), chance.uniform(y, y + h, 17)], axis=1)
            seen = chance.integers(0, 3, 17) * int(chance.random() < 0.85)
            listed = np.concatenate([points, seen[:, None]], axis=1) * (seen[:, None] > 0)
            entry = {"id": len(data["annotations"]) + 1, "image_id": image, "category_id": 1, "bbox": [x, y, w, h]}
            entry |= {"area": float(w * h * 0.6), "iscrowd": int(chance.random() < 0.1)}
            entry |= {"keypoints": listed.ravel().tolist(), "num_keypoints": int((seen > 0).sum())}
            data["annotations"].append(entry)
            for _ in range(chance.integers(0, 3)):
                moved = np.concatenate([points + chance.normal(0, 4, (17, 2)), np.ones((17, 1))], axis=1)
                answers.append({"image_id": image, "category_id": 1, "keypoints": moved.ravel().tolist()})
        for _ in range(chance.integers(0, 20)):
            wrong = np.concatenate([chance.uniform(0, 480, (17, 2)), np.ones((17, 1))], axis=1)
            answers.append({"image_id": image, "category_id": 1, "keypoints": wrong.ravel().tolist()})
    for each in answers:
        low, high = (edge(np.array(each["keypoints"]).reshape(-1, 3)[:, :2], axis=0) for edge in (np.min, np.max))
        each |= {"score": round(float(chance.random()), 2), "bbox": [*low.tolist(), *(high - low).tolist()]}
    return data, answers


@pytest.mark.parametrize("seed", range(6))
def test_random_keypoints_give_the_numbers_of_pycocotools(seed: int, tmp_path: Path) -> None:
    data, answers = random_pair(seed)
    expected_numbers = reference_numbers(data, answers, "keypoints", tmp_path)
    found = RULE.numbers(scored(data, answers), MEASURES, None)
    for name, expected in zip(MEASURES, expected_numbers, strict=True):
        assert found.get(name, -1) == pytest.approx(expected, abs=1e-12), name


def test_other_sigmas_are_other_numbers_and_their_count_must_be_that_of_the_points() -> None:
    data, answers = random_pair(0)
    usual = RULE.numbers(scored(data, answers), ("oks-ap",), None)["oks-ap"]
    strict = RULE.numbers(scored(data, answers, {"sigmas": [0.02] * 17}), ("oks-ap",), None)["oks-ap"]
    assert strict < usual
    assert scored(data, answers, {"sigmas": [0.02] * 5}) == []


def test_a_target_without_keypoints_cannot_be_scored() -> None:
    nothing = {"boxes": np.zeros((0, 4)), "scores": np.zeros(0), "classes": np.zeros(0, np.int32)}
    with pytest.raises(ScoreError, match="no keypoints"):
        RULE.score({**nothing, "keypoints": np.zeros((0, 17, 3))}, {}, {"boxes": [[0, 0, 1, 1]], "classes": [0]}, {})


def test_a_picture_without_anybody_is_scored() -> None:
    nothing = {"boxes": np.zeros((0, 4)), "scores": np.zeros(0), "classes": np.zeros(0, np.int32)}
    score = RULE.score({**nothing, "keypoints": np.zeros((0, 17, 3))}, {}, {"boxes": [], "classes": []}, {})
    assert RULE.numbers([score], MEASURES, None) == {}
