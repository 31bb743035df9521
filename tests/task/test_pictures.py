"""Segmentation and enhancement from a manifest to the record, without a framework."""

import io
import json
import shutil
import zlib
from base64 import b64decode
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

from mlmodelscope import Options, Settings, evaluate, load_manifest
from mlmodelscope.errors import PlanError
from mlmodelscope.manifest.schema import ModelManifest
from mlmodelscope.record.record import Record
from mlmodelscope.record.store import Store
from mlmodelscope.sharding import evaluate_shard, join_shards
from mlmodelscope.task.levels import Levels
from mlmodelscope.task.png import read_levels
from mlmodelscope.task.quality import quality_of
from mlmodelscope.task.shape import named_by
from mlmodelscope.task.task import task_named

pytestmark = pytest.mark.usefixtures("few_calls")


def echo(folder: Path, task: str, steps: list[Any], output: str, **more: Any) -> ModelManifest:
    """A model that answers with its input."""
    kind = more.pop("element_type", "float32")
    shape = [None, None, None, None]
    (folder / "echo.json").write_text(json.dumps({"shape": shape, "echo": True, "element_type": kind}))
    found = load_manifest(
        {
            "name": "echo",
            "version": "1.0.0",
            "task": task,
            "framework": {"name": "fake"},
            "inputs": [{"type": "image", "element_type": kind, "processing": steps}],
            "outputs": [{"type": output, "element_type": kind}],
            "source": {"graph_path": str(folder / "echo.json")},
            **more,
        }
    )
    assert isinstance(found, ModelManifest)
    return found


def write(path: Path, pixels: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.asarray(pixels, np.uint8)).save(path)


def dataset(folder: Path, form: str, labels: Path | None = None, **more: Any) -> Any:
    source = {"url": str(folder), **({"labels_url": str(labels)} if labels else {})}
    task = {"masks": "semantic_segmentation", "pictures": "image_enhancement"}[form]
    return load_manifest(
        {"name": "tiny", "version": "1.0.0", "task": task, "format": form, "sources": [source], **more}
    )


MAP = [{"decode": {"color_layout": "GRAY"}}, {"layout": "NCHW"}]


@pytest.fixture
def tiny(tmp_path: Path) -> tuple[Path, Path]:
    """Pictures whose gray levels are classes, and masks that agree in all but one pixel of the first."""
    chance = np.random.default_rng(0)
    for number in range(4):
        plane = chance.integers(0, 3, (6, 8))
        write(tmp_path / f"pictures/{number}.png", plane)
        plane[0, 0] = 255 if number else (plane[0, 0] + 1) % 3
        write(tmp_path / f"masks/{number}.png", plane)
    return tmp_path / "pictures", tmp_path / "masks"


def segmented(folder: Path, tiny: tuple[Path, Path], settings: Settings, **more: Any) -> Record:
    model = echo(folder, "semantic_segmentation", MAP, "masks", element_type="uint8")
    return evaluate(model, dataset(tiny[0], "masks", tiny[1], **more), Options(), settings=settings)


def test_a_segmenter_gets_its_numbers(tmp_path: Path, tiny: tuple[Path, Path], settings: Settings) -> None:
    record = segmented(tmp_path, tiny, settings)
    assert record.failed == 0
    assert record.metrics["pixel-accuracy"].value == pytest.approx(188 / 189)  # three pixels are void
    assert set(record.metrics) == {"miou", "pixel-accuracy", "mean-accuracy", "fw-iou", "dice"}
    assert record.metrics["miou"].low < record.metrics["miou"].value <= record.metrics["miou"].high  # type: ignore[operator]
    assert sum(each["pixels"] for each in record.details["per_class"]) == 189


def test_a_tables_maps_are_pictures_and_its_targets_are_no_paths(
    tmp_path: Path, tiny: tuple[Path, Path], settings: Settings
) -> None:
    record = segmented(tmp_path, tiny, settings)
    (path,) = settings.home.rglob("samples.parquet")
    first = pq.read_table(path).to_pylist()[0]
    assert first["target"] == '{"mask": "0.png"}' and first["size"] == [6, 8] and first["no_class"] == 255
    assert first["accuracy"] == pytest.approx(47 / 48) and first["map"][:4] == b"\x89PNG"
    plain = task_named("semantic_segmentation").plain(first)
    assert plain["height"] == 6 and plain["png"].startswith("iVBOR")
    assert record.ruler is not None and "numpy" in record.ruler


def test_truth_and_answer_of_a_row_can_be_seen(tmp_path: Path, tiny: tuple[Path, Path], settings: Settings) -> None:
    segmented(tmp_path, tiny, settings)
    (path,) = settings.home.rglob("samples.parquet")
    row = pq.read_table(path).to_pylist()[1]
    target = {"mask": {"file": str(tiny[1] / "1.png")}, "labels": {"map": [[0, 0], [1, 2]], "other": 1}}
    shapes = task_named("semantic_segmentation").shapes(row, target, named_by(["a", "b", "c"]))
    assert [(each.side, each.name) for each in shapes] == [("truth", "a, b, c"), ("answer", "a, b, c")]
    assert quality_of(row["score"]) == pytest.approx(row["miou"])
    assert [each.side for each in task_named("semantic_segmentation").shapes(row, None, str)] == ["answer"]


@pytest.mark.parametrize("mode", ["L", "P"])
def test_masks_are_read_whatever_filters_they_have(mode: str) -> None:
    plane = np.cumsum(np.random.default_rng(0).integers(0, 3, (40, 30)), axis=1).astype(np.uint8)
    made = io.BytesIO()
    picture = Image.fromarray(plane)
    if mode == "P":
        picture.putpalette(list(range(256)) * 3)
    picture.save(made, "PNG", optimize=True)
    assert read_levels(made.getvalue()) == Levels(plane.tobytes(), 30, 40)
    for damaged in (made.getvalue()[:100], b"", b"GIF89a", made.getvalue()[:40] + bytes(60)):
        assert read_levels(damaged) is None


def test_damaged_masks_are_failed_samples(tmp_path: Path, tiny: tuple[Path, Path], settings: Settings) -> None:
    write(tiny[1] / "1.png", np.zeros((5, 8)))
    plane = np.asarray(Image.open(tiny[1] / "2.png")).copy()
    plane[3, 3] = 77
    write(tiny[1] / "2.png", plane)
    (tmp_path / "classes.txt").write_text("a\nb\nc\n")
    record = segmented(tmp_path, tiny, settings, classes_url=str(tmp_path / "classes.txt"))
    reasons = {each.sample: each.reason for each in record.failures}
    assert reasons.keys() == {"1.png", "2.png"} and record.failed == 2
    assert "its mask is 8 x 5 pixels, the picture is 8 x 6" in reasons["1.png"]
    assert "the value 77, which is class 77 and does not exist: there are 3" in reasons["2.png"]


def test_parts_join_where_the_masks_are_not(tmp_path: Path, tiny: tuple[Path, Path], settings: Settings) -> None:
    whole = segmented(tmp_path, tiny, settings)
    model = echo(tmp_path, "semantic_segmentation", MAP, "masks", element_type="uint8")
    data = dataset(tiny[0], "masks", tiny[1])
    parts = [evaluate_shard(model, data, Options(), number, 2, settings=settings) for number in (0, 1)]
    shutil.rmtree(tiny[1])
    store = Store(Settings(home=tmp_path / "server", cache=tmp_path / "cache"))
    joined = join_shards(parts, store)
    assert joined.failed == 0 and joined.details == whole.details
    assert {name: each.value for name, each in joined.metrics.items()} == {
        name: each.value for name, each in whole.metrics.items()
    }
    assert not list((tmp_path / "server" / "shards").glob("truth-*"))
    store.close()


def test_an_enhancer_gets_its_numbers(tmp_path: Path, settings: Settings) -> None:
    chance = np.random.default_rng(0)
    for number in range(3):
        smooth = np.kron(chance.integers(0, 256, (5, 6, 3)), np.ones((6, 6, 1)))
        write(tmp_path / f"pictures/{number}.png", smooth)
    steps = [
        {"decode": None},
        {"crop_multiple": 4},
        {"scale": 0.5},
        {"scale": 2},
        {"cast": "float32"},
        {"layout": "NCHW"},
    ]
    model = echo(tmp_path, "image_enhancement", steps, "image", measure={"color": "rgb", "border": 2})
    record = evaluate(model, dataset(tmp_path / "pictures", "pictures"), Options(), settings=settings)
    assert record.failed == 0 and 15 < record.metrics["psnr"].value < 40 and record.metrics["psnr"].unit == "dB"
    assert 0 < record.metrics["ssim"].value < 1 and record.metrics["ssim"].unit == "number"
    (path,) = settings.home.rglob("samples.parquet")
    table = pq.read_table(path).to_pylist()
    assert np.mean([row["psnr"] for row in table]) == pytest.approx(record.metrics["psnr"].value)
    seen = task_named("image_enhancement").shapes(table[0], None, str)
    assert [each.kind for each in seen] == ["picture"] and 0 < quality_of(table[0]["score"]) < 1  # type: ignore[operator]
    assert table[0]["size"] == [28, 36, 3] and task_named("image_enhancement").plain(table[0])["form"] == "png"


def test_an_answer_of_floats_is_shown_as_bytes() -> None:
    levels = np.array([-5.0, 0.4, 99.6, 300.0, np.nan, 7.0], np.float32)
    row = {"picture": zlib.compress(levels.tobytes()), "form": "float32", "size": [2, 3, 1]}
    (shape,) = task_named("image_enhancement").shapes(row, None, str)
    assert read_levels(b64decode(shape.png)) == Levels(bytes([0, 0, 100, 255, 0, 7]), 3, 2)  # type: ignore[union-attr]
    assert not task_named("image_enhancement").shapes({**row, "size": [2, 4, 1]}, None, str)


def test_denoising_compares_with_the_picture_before_the_noise(tmp_path: Path, settings: Settings) -> None:
    write(tmp_path / "pictures/0.png", np.full((64, 64, 3), 128))
    steps = [{"decode": None}, {"noise": {"sigma": 25}}, {"layout": "NCHW"}]
    model = echo(tmp_path, "image_enhancement", steps, "image", measure={"color": "rgb"})
    record = evaluate(model, dataset(tmp_path / "pictures", "pictures"), Options(), settings=settings)
    assert record.metrics["psnr"].value == pytest.approx(20.17, abs=0.15)  # 20 log10(255 / 25)


def test_a_pair_of_pictures_that_do_not_fit_is_a_failed_sample(tmp_path: Path, settings: Settings) -> None:
    write(tmp_path / "low/0.png", np.zeros((6, 6, 3)))
    write(tmp_path / "high/0.png", np.zeros((9, 6, 3)))
    model = echo(tmp_path, "image_enhancement", [{"decode": None}, {"cast": "float32"}, {"layout": "NCHW"}], "image")
    record = evaluate(model, dataset(tmp_path / "low", "pictures", tmp_path / "high"), Options(), settings=settings)
    assert "its answer is 6 x 6 pixels" in record.failures[0].reason and not record.metrics


def test_an_unknown_option_is_refused(tmp_path: Path, tiny: tuple[Path, Path], settings: Settings) -> None:
    with pytest.raises(PlanError, match="unknown option `ignore`"):
        segmented(tmp_path, tiny, settings, measure={"ignore": 255})


MEASURED = ("miou", "pixel-accuracy", "mean-accuracy", "fw-iou", "dice", "psnr", "ssim")


@pytest.mark.parametrize(("name", "unit"), [("psnr", "dB"), ("ssim", "number"), ("miou", "share"), ("dice", "share")])
def test_units(name: str, unit: str) -> None:
    from mlmodelscope.task.measure import MEASURES

    assert MEASURES[name].unit.name == unit and MEASURES[name].is_better_higher and name in MEASURED
