"""A model and a dataset that cannot belong together are refused before anything runs; what may be wrong is said."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from mlmodelscope import Options, Settings, evaluate
from mlmodelscope.errors import DatasetError, PlanError
from mlmodelscope.manifest.catalog import find_dataset, find_model
from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.plan.pairing import Classes, check_classes, check_manifests

THOUSAND = [f"thing {number}" for number in range(1000)]
DIGITS = [str(number) for number in range(10)]


@pytest.mark.parametrize(
    ("outputs", "offset", "classes", "said"),
    [
        (1000, 0, 1000, ""),
        (1001, 1, 1000, ""),
        (1001, 0, 1000, "a background class in front needs `label_offset: 1`"),
        (1008, 1, 1000, "net has 1008 outputs, data has 1000 classes and the label offset is 1"),
        (12, 0, 10, "net has 12 outputs, data has 10 classes"),
        (None, 0, 10, ""),
        (10, 0, 0, ""),
    ],
)
def test_what_may_be_right_is_allowed_with_a_warning(outputs: int | None, offset: int, classes: int, said: str) -> None:
    found = check_classes("net", "data", offset, Classes(outputs, classes=THOUSAND[:classes]))
    assert said in "; ".join(found) and bool(found) == bool(said)


@pytest.mark.parametrize(("outputs", "classes"), [(1000, 10), (10, 1000), (1000, 100)])
def test_a_thousand_classes_are_not_ten(outputs: int, classes: int) -> None:
    with pytest.raises(PlanError, match=f"net has {outputs} outputs, data has {classes} classes"):
        check_classes("net", "data", 0, Classes(outputs, classes=THOUSAND[:classes]))


def test_a_list_of_names_tells_as_much_as_outputs_do() -> None:
    with pytest.raises(PlanError, match="1000 class names"):
        check_classes("net", "data", 0, Classes(None, THOUSAND, DIGITS))
    with pytest.raises(PlanError, match="cifar has 10 classes"):
        check_classes("net", "cifar", 0, Classes(1000), "cifar10")
    assert check_classes("net", "data", 1, Classes(None, ["background", *DIGITS], DIGITS)) == ()
    assert check_classes("net", "data", 1, Classes(None, DIGITS, DIGITS)) == ()


def test_some_of_the_models_own_classes_are_only_warned_about() -> None:
    (said,) = check_classes("net", "data", 0, Classes(1000, THOUSAND, THOUSAND[500:510]))
    assert "net has 1000 outputs, data has 10 classes" in said


def test_folders_may_be_there_for_some_classes_only() -> None:
    assert check_classes("net", "data", 0, Classes(10, classes=DIGITS[:3], is_listed=False)) == ()
    (said,) = check_classes("net", "data", 0, Classes(1000, classes=DIGITS, is_listed=False))
    assert "in its folders" in said


def test_lists_without_a_name_in_common_are_doubted() -> None:
    (said,) = check_classes("net", "data", 0, Classes(3, ["cat", "dog", "cow"], ["0", "1", "2"]))
    assert "no class name in common" in said
    assert check_classes("net", "data", 0, Classes(3, ["Cat, tabby", "hot_dog", "cow"], ["cat", "hot dog", "ox"])) == ()


def test_shipped_pairings_are_right_and_colors_of_gray_pictures_are_doubted() -> None:
    lite, cifar = find_model("efficientnet-lite0"), find_model("resnet20-cifar10")
    assert check_manifests(lite, find_dataset("imagenet-70")) == ()
    assert check_manifests(cifar, find_dataset("cifar10-test")) == ()
    (said,) = check_manifests(lite, find_dataset("mnist-test"))
    assert "takes pictures in color, those of mnist-test are gray" in said


Make = Callable[..., object]


def listed(folder: Path, first: int = 0, count: int = 20, classes: int = 10) -> dict[str, object]:
    """Pictures of ten classes, labeled in a file whose numbers begin with `first`."""
    (folder / "listed").mkdir(exist_ok=True)
    lines = ["file,label"]
    for index in range(count):
        name = f"{index:03d}.png"
        Image.new("RGB", (8, 8), (index * 12, 255 - index * 12, index * 5)).save(folder / "listed" / name)
        lines.append(f"{name},{index % classes + first}")
    (folder / "labels.csv").write_text("\n".join(lines) + "\n")
    source = {"url": str(folder / "listed"), "labels_url": str(folder / "labels.csv")}
    return {"name": "listed", "version": "1.0.0", "format": "list", "sources": [source], "size": count}


def test_a_model_of_other_classes_is_refused_before_a_sample_is_seen(
    settings: Settings, make_model: Make, tmp_path: Path
) -> None:
    (tmp_path / "digits.txt").write_text("\n".join(DIGITS))
    dataset = load_manifest({**listed(tmp_path), "classes_url": str(tmp_path / "digits.txt")})
    with pytest.raises(PlanError, match="toy has 1000 outputs, listed has 10 classes"):
        evaluate(make_model({"classes": 1000}), dataset, settings=settings)  # type: ignore[arg-type]
    record = evaluate(make_model({"classes": 11}), dataset, Options(timed_runs=1), settings=settings)  # type: ignore[arg-type]
    assert any("toy has 11 outputs, listed has 10 classes" in note for note in record.notes)


@pytest.mark.parametrize(
    ("first", "label_offset", "hint"),
    [
        (1, 0, "need `labels: {offset: 1}` in the manifest of the dataset listed"),
        (0, 1, "without `label_offset: 1` in the manifest of the model toy, the labels would fit"),
    ],
)
def test_the_hint_names_the_manifest_that_is_at_fault(
    settings: Settings, make_model: Make, tmp_path: Path, first: int, label_offset: int, hint: str
) -> None:
    dataset = load_manifest(listed(tmp_path, first))
    model = make_model(outputs=[{"type": "logits", "label_offset": label_offset}])
    with pytest.raises(DatasetError) as refused:
        evaluate(model, dataset, settings=settings)  # type: ignore[arg-type]
    assert hint in (refused.value.hint or "")
    record = evaluate(model, dataset, Options(timed_runs=1), settings=settings, tolerant=True)  # type: ignore[arg-type]
    assert record.samples == 20 and record.failed == 0
    assert any("2 of 20 samples count as wrong" in note and hint in note for note in record.notes)
