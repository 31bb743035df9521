"""Measures that the measuring process computes: who has which, and what becomes of rows and intervals."""

import json
from pathlib import Path

import numpy as np
import pytest

from mlmodelscope.errors import MetricError
from mlmodelscope.measure.coco_sums import SUMS
from mlmodelscope.task.array_answer import Array, ArrayAnswer
from mlmodelscope.task.measure import MEASURES, counterpart, find_measure
from mlmodelscope.task.task import Terms, task_named

BOXES = ("ap", "ap50", "ap75", "ap-small", "ap-medium", "ap-large")
BOXES += ("ar1", "ar10", "ar100", "ar-small", "ar-medium", "ar-large")
MASKS = ("mask-ap", "mask-ap50", "mask-ap75", "mask-ap-small", "mask-ap-medium", "mask-ap-large")
MASKS += ("mask-ar1", "mask-ar10", "mask-ar100", "mask-ar-small", "mask-ar-medium", "mask-ar-large")
POINTS = ("oks-ap", "oks-ap50", "oks-ap75", "oks-ap-medium", "oks-ap-large")
POINTS += ("oks-ar", "oks-ar50", "oks-ar75", "oks-ar-medium", "oks-ar-large")
LABELS = ("label-ap", "label-f1-micro", "label-f1-macro", "hamming-loss", "label-exact-match")
VOC = ("voc-ap", "voc-ap11")


@pytest.mark.parametrize(
    ("task", "names"),
    [
        ("object_detection", {*BOXES, *VOC}),
        ("instance_segmentation", {*MASKS, *BOXES}),
        ("keypoint_detection", {*POINTS}),
        ("multilabel_classification", {*LABELS}),
    ],
)
def test_every_task_has_its_measures_and_the_first_stands_for_all(task: str, names: set[str]) -> None:
    found = [each.name for each in task_named(task).measures]
    assert set(found) == names and found[0] == task_named(task).headline[0]


def test_the_ruler_computes_what_is_declared() -> None:
    assert set(SUMS) == {*BOXES, *MASKS, *POINTS}


@pytest.mark.parametrize(
    ("published", "name"),
    [("mAP", "ap"), ("segm_AP", "mask-ap"), ("keypoint-ap", "oks-ap"), ("micro-F1", "label-f1-micro")],
)
def test_measures_are_found_by_what_papers_call_them(published: str, name: str) -> None:
    found = find_measure(published)
    assert found is not None and found.name == name


def test_no_two_measures_of_a_task_share_a_name() -> None:
    for task in {name for each in MEASURES.all().values() for name in each.tasks}:
        of_it = [each for each in MEASURES.all().values() if task in each.tasks]
        names = [name for each in of_it for name in (each.name, *each.aliases)]
        assert len(names) == len(set(names)), task
    names = [each.name for each in MEASURES.all().values()]
    assert not set(names) & {alias for each in MEASURES.all().values() for alias in each.aliases}


def test_a_name_that_several_tasks_use_is_the_number_of_the_task() -> None:
    for task, name in (("classification", "top1"), ("multiple_choice", "choice-accuracy")):
        found = find_measure("accuracy", (task,))
        assert found is not None and found.name == name
        assert counterpart(MEASURES["top1"], task) is found
    assert counterpart(MEASURES["psnr"], "multiple_choice") is MEASURES["psnr"]


def _array(values: object, kind: str) -> Array:
    made = np.asarray(values, kind)
    return Array(made.dtype.str, made.shape, made.tobytes())


def box_answer(*boxes: tuple[list[float], float]) -> ArrayAnswer:
    arrays = {
        "boxes": _array([box for box, _ in boxes], "<f8") if boxes else Array("<f8", (0, 4), b""),
        "scores": _array([score for _, score in boxes], "<f8"),
        "classes": _array([0 for _ in boxes], "<i4"),
    }
    return ArrayAnswer(arrays, {"size": [50, 50]})


def test_boxes_of_instances_are_measured_from_the_rows_of_instances() -> None:
    """`ap` is a measure of two tasks: it reads the rows of both."""
    pytest.importorskip("faster_coco_eval")
    target = {"boxes": [[0, 0, 10, 10]], "classes": [0], "masks": [[[0, 0, 10, 0, 10, 10, 0, 10]]], "size": [50, 50]}
    plain = box_answer(([0, 0, 10, 10], 0.9))
    tally = task_named("instance_segmentation").tally(Terms({"max_detections": 100}))
    (bad,) = tally.take([({**target, "boxes": []}, plain)])
    assert bad.error is not None
    from mlmodelscope_worker.output.rle import encode

    counts = encode(0, 0, np.ones((10, 10), bool), 50, 50)
    runs = {"runs": Array("|u1", (len(counts),), counts), "lengths": _array([len(counts)], "<i4")}
    (scored,) = tally.take([(target, ArrayAnswer({**plain.arrays, **runs}, plain.fields))])
    outcome = tally.outcome()
    assert scored.score is not None and {*outcome.numbers, *outcome.refused} == {*MASKS, *BOXES}
    assert "faster-coco-eval" in outcome.ruler
    assert MEASURES["ap"].number([scored.score]) == MEASURES["mask-ap"].number([scored.score]) == 1.0


def test_a_record_of_detections_has_the_measures_of_its_rule_alone() -> None:
    target = {"boxes": [[0, 0, 10, 10]], "classes": [0]}
    for rule, names in (("coco", {*BOXES}), ("voc", {*VOC})):
        tally = task_named("object_detection").tally(Terms({"rule": rule, "iou": 0.5, "plus_one": True}))
        tally.take([(target, box_answer(([0, 0, 10, 10], 0.9))), (target, box_answer())])
        outcome = tally.outcome()
        assert {*outcome.numbers, *outcome.refused} == names and outcome.ruler["numpy"]


def test_intervals_hold_their_number_and_differences_have_a_sign() -> None:
    target = {"boxes": [[0, 0, 40, 40]], "classes": [0]}
    pairs = [(target, box_answer(([0, 0, 40, 30 + at % 10], 0.5 + at / 100))) for at in range(30)]
    worse = [(target, box_answer(([0, 0, 40, 22 + at % 10], 0.5 + at / 100))) for at in range(30)]
    tally = task_named("object_detection").tally(Terms({}))
    before, after = ([each.score for each in tally.take(part)] for part in (pairs, worse))
    found = MEASURES["ap"].interval(before)
    assert 0 <= found.low < found.value < found.high <= 1
    value, spread = MEASURES["ap"].difference(before, after)
    assert value < 0 < spread


def test_several_labels_are_kept_and_shown_best_first() -> None:
    task = task_named("multilabel_classification")
    answer = ArrayAnswer({"scores": _array([0.25, 0.75], "<f4")})
    row = task.values({"classes": [1, 1, 0]}, answer, b"x")
    assert json.loads(row["target"]) == {"classes": [0, 1]}
    assert task.plain(row) == [{"class": 1, "score": 0.75}, {"class": 0, "score": 0.25}]


def test_docs_name_every_task() -> None:
    folder = Path(__file__).parents[2] / "docs" / "tasks"
    told = "".join(path.read_text() for path in folder.glob("*.md"))
    for name in ("object_detection", "instance_segmentation", "keypoint_detection", "multilabel_classification"):
        assert f"task: {name}" in told


def test_what_masks_need_is_named_before_anything_is_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MetricError, match="instance_segmentation needs faster_coco_eval") as error:
        task_named("instance_segmentation").tally(Terms({}))
    assert error.value.hint is not None and "pip install" in error.value.hint
