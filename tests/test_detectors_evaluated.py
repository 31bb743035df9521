"""Detectors from manifest to verdict: real boxes, real numbers, and the same ones however they were come by."""

import json
from pathlib import Path
from typing import Any

import pytest

import squares
from mlmodelscope import Options, Record, Settings, Store, evaluate
from mlmodelscope.errors import PlanError, UsageError
from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.plan.claim import parse_claim
from mlmodelscope.prediction import predict
from mlmodelscope.replicate.replication import replicate
from mlmodelscope.sharding import evaluate_shard, join_shards


@pytest.fixture
def world(tmp_path: Path) -> tuple[Any, Any]:
    return load_manifest(squares.model(tmp_path)), load_manifest(squares.dataset(tmp_path))


@pytest.fixture
def record(world: tuple[Any, Any], settings: Settings) -> Record:
    return evaluate(*world, Options(timed_runs=2), settings=settings)


def samples_of(record: Record, settings: Settings) -> bytes:
    store = Store(settings)
    try:
        return store.samples_file(record).read_bytes()
    finally:
        store.close()


def test_a_detector_that_finds_everything_has_all_of_it(record: Record) -> None:
    assert record.failed == 0 and record.class_names == squares.CLASSES
    assert record.metrics["ap"].value == pytest.approx(1.0) and record.metrics["ap"].samples == 12
    assert record.metrics["ap50"].unit == "share" and record.refused.keys() <= {
        "ap-medium",
        "ap-large",
        "ar-medium",
        "ar-large",
    }
    assert [each["class"] for each in record.details["per_class"]] == [0, 1, 2]
    assert record.ruler is not None and "numpy" in record.ruler


def test_boxes_are_kept_in_pixels_of_the_picture(record: Record, settings: Settings) -> None:
    store = Store(settings)
    row = store.samples(record).to_pylist()[0]
    store.close()
    truth = json.loads(row["target"])
    corners = [row["boxes"][at : at + 4] for at in range(0, len(row["boxes"]), 4)]
    assert sorted(corners) == [pytest.approx(box) for box in sorted(truth["boxes"])]
    assert sorted(row["classes"]) == sorted(truth["classes"])


def test_the_answers_do_not_depend_on_the_batch_size(
    world: tuple[Any, Any], record: Record, settings: Settings
) -> None:
    other = evaluate(*world, Options(batch_size=5, timed_runs=2), settings=settings)
    assert samples_of(other, settings) == samples_of(record, settings)
    assert other.metrics == record.metrics


def test_parts_join_to_the_same_bytes_and_numbers(
    world: tuple[Any, Any], record: Record, settings: Settings, tmp_path: Path
) -> None:
    parts = [evaluate_shard(*world, Options(timed_runs=2), number, 3, settings=settings) for number in range(3)]
    store = Store(settings)
    joined = join_shards(parts, store)
    store.close()
    assert samples_of(joined, settings) == samples_of(record, settings) and joined.metrics == record.metrics


def test_a_resized_picture_has_its_boxes_where_they_were(
    world: tuple[Any, Any], tmp_path: Path, settings: Settings
) -> None:
    manifest = squares.model(tmp_path)
    manifest["inputs"][0]["processing"] = {
        "decode": {"color_layout": "RGB"},
        "pad": {"dimensions": [64, 64], "method": "center"},
        "resize": {"dimensions": [32, 32], "method": "nearest"},
        "rescale": 255,
        "layout": "NCHW",
    }
    picture = next((tmp_path / "squares/pictures").glob("*.png"))
    (prediction,) = predict(load_manifest(manifest), [str(picture)], settings=settings)
    boxes = [each["box"] for each in json.loads(prediction.answer or "[]")]
    assert boxes and all(-16 <= left < right <= 48 for left, _, right, _ in boxes)
    assert all(right - left == pytest.approx(8) for left, _, right, _ in boxes)  # a cell of 4 stands for 8 pixels


@pytest.mark.parametrize(
    ("claim", "kind"),
    [
        ("ap=100.0@squares", "reproduced"),
        ("ap=93.0@squares", "better than claimed"),
        ("ap50=100@squares", "reproduced"),
    ],
)
def test_a_claim_on_the_whole_dataset_is_decided(
    world: tuple[Any, Any], settings: Settings, claim: str, kind: str
) -> None:
    assert replicate(*world, claim=parse_claim(claim), explain=False, settings=settings).verdict.kind == kind


def test_a_claim_is_never_confirmed_by_a_part(world: tuple[Any, Any], settings: Settings) -> None:
    done = replicate(*world, Options(limit=6), claim=parse_claim("ap=100.0@squares"), settings=settings)
    assert done.verdict.kind == "undecided" and done.verdict.is_partial


@pytest.mark.parametrize(
    ("step", "change", "pitfall"),
    [
        ("decode", {"decode": {"color_layout": "BGR"}}, "color-layout"),
        ("threshold", {"threshold": 0.25}, "score-threshold"),
        ("nms", {"nms": {"iou": 0.5, "among": "all"}}, None),
    ],
)
def test_the_pitfall_is_named(
    tmp_path: Path, settings: Settings, step: str, change: dict[str, Any], pitfall: str | None
) -> None:
    manifest, data = squares.model(tmp_path), load_manifest(squares.dataset(tmp_path, 30))
    processing = manifest["inputs"][0]["processing"]
    if step in processing:
        processing.update(change)
    else:
        manifest["answer"] = [change if step in each else each for each in manifest["answer"]]
    done = replicate(load_manifest(manifest), data, claim=parse_claim("ap=100.0@squares"), settings=settings)
    if pitfall is None:  # squares never overlap: it changes nothing, and nothing is to be found
        assert done.verdict.kind == "reproduced"
        return
    assert done.verdict.kind == "not reproduced" and done.found is not None
    assert [each.pitfalls for each in done.found.explained][:1] == [(pitfall,)]


def test_a_claim_about_another_tasks_number_is_refused(world: tuple[Any, Any], settings: Settings) -> None:
    with pytest.raises(UsageError, match="top-1 is a number of classification, .* squares is for object_detection"):
        replicate(*world, claim=parse_claim("top1=50@squares"), settings=settings)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"outputs": [{"type": "boxes"}]}, "answers are made of outputs of type"),
        ({"measure": {"rule": "mine"}}, "`measure` of squares: `rule`: `mine` is not one of its values"),
        ({"measure": {"mood": 1}}, "`measure` of squares: `mood`: unknown option"),
    ],
)
def test_what_cannot_be_scored_is_refused_before_anything_runs(
    tmp_path: Path, settings: Settings, changes: dict[str, Any], message: str
) -> None:
    model = load_manifest({**squares.model(tmp_path), **changes})
    with pytest.raises(PlanError) as error:
        evaluate(model, load_manifest(squares.dataset(tmp_path)), settings=settings)
    assert message in error.value.message


def test_an_answer_that_is_no_number_is_a_failed_sample(tmp_path: Path, settings: Settings) -> None:
    manifest = squares.model(tmp_path)
    manifest["inputs"][0]["processing"] = {
        "decode": {"color_layout": "RGB"},
        "rescale": 1e-38,
        "layout": "NCHW",
    }
    record = evaluate(load_manifest(manifest), load_manifest(squares.dataset(tmp_path)), settings=settings)
    assert record.failed == record.samples and "not-a-number" in record.failures[0].reason
    assert "no samples" in record.refused["ap"]
