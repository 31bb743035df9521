"""COCO's and VOC's numbers are those of the reference implementations, to the last digit that is published."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mlmodelscope.measure.detection import MEASURES, RULE
from mlmodelscope.measure.rule import ScoreError
from mlmodelscope.task.task import task_named
from pycoco import reference_numbers

ORACLES = Path(os.environ.get("MLMODELSCOPE_SHARED") or Path(__file__).parents[2].parent / "shared") / "tasks"
shared = pytest.mark.skipif(not ORACLES.exists(), reason="needs the oracles of ../shared")


def truths(data: dict[str, Any]) -> tuple[dict[int, dict[str, Any]], dict[int, int]]:
    numbers = {each: place for place, each in enumerate(sorted(each["id"] for each in data["categories"]))}
    found: dict[int, dict[str, Any]] = {
        each["id"]: {"boxes": [], "classes": [], "areas": [], "crowd": []} for each in data["images"]
    }
    for each in data["annotations"]:
        left, top, width, height = each["bbox"]
        target = found[each["image_id"]]
        target["boxes"].append([left, top, left + width, top + height])
        target["classes"].append(numbers[each["category_id"]])
        target["areas"].append(each["area"])
        target["crowd"].append(bool(each["iscrowd"]))
    return found, numbers


def arrays(boxes: Any, scores: Any, classes: Any) -> dict[str, np.ndarray]:
    return {
        "boxes": np.asarray(boxes, np.float64).reshape(-1, 4),
        "scores": np.asarray(scores, np.float64),
        "classes": np.asarray(classes, np.int32),
    }


def scored(gt: Path, dt: Path, options: dict[str, Any] | None = None) -> list[bytes]:
    targets, numbers = truths(json.loads(gt.read_text()))
    answers: dict[int, list[dict[str, Any]]] = {identity: [] for identity in targets}
    for each in json.loads(dt.read_text()):
        answers[each["image_id"]].append(each)
    found = []
    for identity in sorted(targets):
        boxes = [(x, y, x + w, y + h) for x, y, w, h in (each["bbox"] for each in answers[identity])]
        made = arrays(
            boxes,
            [each["score"] for each in answers[identity]],
            [numbers[each["category_id"]] for each in answers[identity]],
        )
        found.append(RULE.score(made, {}, targets[identity], options or {}))
    return found


NAMES = (
    *("ap", "ap50", "ap75", "ap-small", "ap-medium", "ap-large"),
    *("ar1", "ar10", "ar100", "ar-small", "ar-medium", "ar-large"),
    *("voc-ap", "voc-ap11"),
)


def test_the_ruler_computes_what_the_task_declares() -> None:
    assert set(NAMES) == set(MEASURES) == {each.name for each in task_named("object_detection").measures}


NO_CROWD = [
    *(0.503647, 0.696973, 0.571667, 0.593252, 0.557991, 0.489363),
    *(0.386813, 0.593680, 0.595353, 0.654764, 0.603130, 0.553744),
]


@shared
@pytest.mark.parametrize("source", ["a file without them", "options"])
def test_crowds_dropped_and_areas_of_boxes_give_the_published_numbers(source: str) -> None:
    place = ORACLES / "voc_ap" / "tests" / "test_coco_eval"
    if source == "options":
        gt = ORACLES / "metrics_oracles" / "instances_val2014_100.json"
        scores = scored(gt, place / "cocoapi_results.json", {"crowd": "drop", "area": "box"})
    else:
        scores = scored(place / "gts" / "sampled_gts_bbox_area.json", place / "cocoapi_results.json")
    found = RULE.numbers(scores, MEASURES, None)
    assert [round(found[name], 6) for name in MEASURES if name in found] == NO_CROWD


@shared
def test_cocos_own_example_gives_the_published_numbers() -> None:
    place = ORACLES / "metrics_oracles"
    found = RULE.numbers(
        scored(place / "instances_val2014_100.json", place / "instances_val2014_fakebbox100_results.json"),
        MEASURES,
        None,
    )
    assert [round(found[name], 6) for name in MEASURES if name in found] == [
        *(0.504581, 0.696973, 0.572982, 0.585626, 0.519400, 0.501398),
        *(0.386813, 0.593680, 0.595353, 0.639811, 0.566421, 0.564291),
    ]


def random_pair(seed: int, images: int = 12) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Pictures with things in them, crowds among them, and answers that are near, twice there, or nonsense."""
    chance = np.random.default_rng(seed)
    data: dict[str, Any] = {
        "images": [{"id": number, "width": 640, "height": 480} for number in range(1, images + 1)],
        "categories": [{"id": number, "name": str(number)} for number in (1, 3, 7)],
        "annotations": [],
    }
    answers = []
    for image in range(1, images + 1):
        for _ in range(chance.integers(0, 8)):
            x, y = chance.uniform(0, 500, 2)
            w, h = chance.uniform(5, 140, 2)
            kind = int(chance.choice([1, 3, 7]))
            crowd = bool(chance.random() < 0.15)
            identity = len(data["annotations"]) + 1
            area = float(w * h * chance.uniform(0.5, 1))
            data["annotations"].append(
                {
                    "id": identity,
                    "image_id": image,
                    "category_id": kind,
                    "bbox": [x, y, w, h],
                    "area": area,
                    "iscrowd": int(crowd),
                }
            )
            for _ in range(chance.integers(0, 3)):
                move = chance.normal(0, 6, 4)
                box = [x + move[0], y + move[1], max(1, w + move[2]), max(1, h + move[3])]
                answers.append(
                    {
                        "image_id": image,
                        "category_id": kind,
                        "bbox": list(map(float, box)),
                        "score": round(float(chance.random()), 2),
                    }
                )
        for _ in range(chance.integers(0, 5)):
            box = [*chance.uniform(0, 500, 2), *chance.uniform(5, 140, 2)]
            kind = int(chance.choice([1, 3, 7]))
            answers.append(
                {
                    "image_id": image,
                    "category_id": kind,
                    "bbox": list(map(float, box)),
                    "score": round(float(chance.random()), 2),
                }
            )
    return data, answers


@pytest.mark.parametrize("seed", range(8))
def test_random_pictures_give_the_numbers_of_pycocotools(seed: int, tmp_path: Path) -> None:
    expected_numbers = reference_numbers(*random_pair(seed), "bbox", tmp_path)
    found = RULE.numbers(scored(tmp_path / "gt.json", tmp_path / "dt.json"), MEASURES, None)
    names = [name for name in MEASURES if not name.startswith("voc")]
    for name, expected in zip(names, expected_numbers, strict=True):
        assert found.get(name, -1) == pytest.approx(expected, abs=1e-12), name


VOC = {
    0.1: (0.3333333333, 0.3371980676),
    0.3: (0.2683982684, 0.2456866805),
    0.5: (0.0303030303, 0.0222222222),
    0.75: (0.0, 0.0),
}


@shared
@pytest.mark.parametrize("iou", VOC)
def test_vocs_rule_gives_the_published_numbers(iou: float) -> None:
    place = ORACLES / "voc_ap" / "tests" / "test_case_1"
    scores = []
    for truth in sorted((place / "gts").glob("*.txt")):
        rows = [line.split() for line in truth.read_text().splitlines() if line.strip()]
        target = {
            "boxes": [[float(x), float(y), float(x) + float(w), float(y) + float(h)] for _, x, y, w, h in rows],
            "classes": [0 for _ in rows],
        }
        said = [line.split() for line in (place / "dets" / truth.name).read_text().splitlines() if line.strip()]
        made = arrays(
            [[float(x), float(y), float(x) + float(w), float(y) + float(h)] for _, _, x, y, w, h in said],
            [float(score) for _, score, *_ in said],
            [0] * len(said),
        )
        scores.append(RULE.score(made, {}, target, {"rule": "voc", "iou": iou, "plus_one": True}))
    found = RULE.numbers(scores, ("voc-ap", "voc-ap11"), None)
    assert (found["voc-ap11"], found["voc-ap"]) == pytest.approx(VOC[iou], abs=1e-9)


def test_the_points_of_vocs_curve_and_difficult_things_are_options() -> None:
    target = {"boxes": [[0, 0, 9, 9], [20, 20, 29, 29]], "classes": [0, 0], "difficult": [False, True]}
    made = arrays([[0, 0, 9, 9], [40, 40, 49, 49]], [0.9, 0.8], [0, 0])

    def voc(**options: Any) -> dict[str, float]:
        return RULE.numbers([RULE.score(made, {}, target, {"rule": "voc", **options})], ("voc-ap", "voc-ap11"), None)

    assert voc() == {"voc-ap": 1.0, "voc-ap11": 1.0}
    counted = voc(difficult="count")
    assert counted["voc-ap"] == 0.5 and counted["voc-ap11"] == pytest.approx(6 / 11)
    eleven = voc(difficult="count", points="eleven")
    assert eleven["voc-ap"] == eleven["voc-ap11"] == counted["voc-ap11"]


def test_a_class_that_is_nowhere_to_be_found_counts_for_nothing_and_one_that_is_missed_for_zero() -> None:
    nothing = arrays([], [], [])
    target = {"boxes": [[0, 0, 50, 50]], "classes": [4]}
    assert RULE.numbers([RULE.score(nothing, {}, target, {})], ("ap", "ap50"), None) == {"ap": 0.0, "ap50": 0.0}
    empty = {"boxes": [], "classes": []}
    assert RULE.numbers([RULE.score(nothing, {}, empty, {})], ("ap",), None) == {}


def test_weights_count_samples_as_often_as_they_say() -> None:
    data, answers = random_pair(3)
    targets, numbers = truths(data)
    scores = []
    for identity in sorted(targets):
        own = [each for each in answers if each["image_id"] == identity]
        boxes = [(x, y, x + w, y + h) for x, y, w, h in (each["bbox"] for each in own)]
        made = arrays(boxes, [each["score"] for each in own], [numbers[each["category_id"]] for each in own])
        scores.append(RULE.score(made, {}, targets[identity], {}))
    weights = np.array([0, 1, 2, 1, 0, 3, 1, 1, 0, 2, 1, 0], float)
    repeated = [score for score, weight in zip(scores, weights, strict=True) for _ in range(int(weight))]
    once, again = RULE.numbers(scores, ("ap", "ar100"), weights), RULE.numbers(repeated, ("ap", "ar100"), None)
    assert once == pytest.approx(again, abs=0.02)  # equal scores of repeated samples come in another order


def test_pictures_scored_together_are_scored_as_each_alone() -> None:
    data, answers = random_pair(5)
    targets, numbers = truths(data)
    items = []
    for identity in sorted(targets):
        own = [each for each in answers if each["image_id"] == identity]
        boxes = [(x, y, x + w, y + h) for x, y, w, h in (each["bbox"] for each in own)]
        made = arrays(boxes, [each["score"] for each in own], [numbers[each["category_id"]] for each in own])
        items.append((made, {}, targets[identity]))
    damaged = (arrays([[0, 0, 1, 1]], [0.5, 0.4], [0]), {}, targets[1])
    together = RULE.score_together([*items[:3], damaged, *items[3:]], {})
    assert isinstance(together.pop(3), ScoreError)
    assert together == [RULE.score(*each, {}) for each in items]


def test_more_detections_than_a_hundred_count_where_they_are_allowed() -> None:
    made = arrays([[0, 0, 5, 5]] * 120 + [[50, 50, 90, 90]], np.linspace(1, 0.1, 121), [0] * 121)
    target = {"boxes": [[50, 50, 90, 90]], "classes": [0]}
    few, many = (RULE.score(made, {}, target, {"max_detections": most}) for most in (100, 300))
    assert RULE.numbers([few], ("ap50",), None)["ap50"] == 0 < RULE.numbers([many], ("ap50",), None)["ap50"]
