"""The four manifests of an evaluation: one rule, whoever looks them up."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mlmodelscope.errors import ManifestError, UsageError
from mlmodelscope.manifest.aspects import CURRENT, find_aspects, find_in_text, parse_text
from mlmodelscope.manifest.schema import DatasetManifest, ModelManifest, SoftwareManifest

SOFTWARE = "name: tiny\nversion: 1.0.0\nstack: {requirements: [numpy==2.0.0]}\n"
HOOKED = "name: hooked\nversion: 1.0.0\nenv: {LD_PRELOAD: /tmp/x.so}\n"


def test_what_is_not_named_is_what_the_model_names(
    make_model: Callable, make_dataset: Callable, make_pictures: Callable
) -> None:
    asked: list[Any] = []

    def find(sought: type, choice: Any) -> Any:
        asked.append((sought, choice))
        return choice if isinstance(choice, sought) else make_dataset(make_pictures())

    model = make_model(dataset="pictures")
    assert find_aspects(model, find=find).dataset.name == "pictures"
    assert asked == [(ModelManifest, model), (DatasetManifest, "pictures")]


def test_a_model_without_a_dataset_needs_one(make_model: Callable) -> None:
    with pytest.raises(UsageError, match="no dataset is named, and toy names none"):
        find_aspects(make_model())


@pytest.mark.parametrize(
    ("software", "word", "carries_code"),
    [
        ("current", "current", False),
        ("image:python:3.12", "image:python:3.12", True),
        (SOFTWARE, None, True),
        (HOOKED, None, True),
        (None, None, False),
    ],
)
def test_software_is_a_manifest_the_running_python_or_an_image(
    make_model: Callable,
    make_dataset: Callable,
    tmp_path: Path,
    software: str | None,
    word: str | None,
    carries_code: bool,
) -> None:
    found = find_aspects(make_model(), make_dataset(tmp_path), software, find=find_in_text)
    assert (found.software_word, found.carries_code) == (word, carries_code)
    assert (found.software is CURRENT) == (word == "current")


def test_a_text_of_the_catalogue_is_the_catalogues_own_manifest() -> None:
    own = find_aspects("efficientnet-lite0", "imagenet-70").model
    text = Path(own.file).read_text()
    assert find_in_text(ModelManifest, text).file == own.file
    assert find_in_text(ModelManifest, text.replace("version: 1.0.0", "version: 1.0.1")).file == "<request>"
    assert parse_text(ModelManifest, text).file != own.file


def test_another_kind_of_manifest_is_refused() -> None:
    with pytest.raises(UsageError, match="this is a SoftwareManifest, a ModelManifest is asked for"):
        find_in_text(ModelManifest, SOFTWARE)
    assert isinstance(find_in_text(SoftwareManifest, SOFTWARE), SoftwareManifest)


@pytest.fixture
def beside(tmp_path: Path) -> Path:
    """A model's manifest, and manifests beside it that it names."""
    folder = tmp_path / "models"
    (folder / "own").mkdir(parents=True)
    (folder / "own" / "stack.yml").write_text("name: beside\nversion: 1.0.0\nkind: software\n")
    (folder / "data.yml").write_text(
        "{name: pictures, version: 1.0.0, kind: dataset, task: general, format: list, sources: [{url: images, "
        f"checksum: 'sha256:{'0' * 64}'}}]}}"
    )
    (folder / "machine.yml").write_text("{name: any, version: 1.0.0, kind: hardware}")
    model = folder / "model.yml"
    model.write_text(
        "{name: toy, version: 1.0.0, task: general, framework: {name: fake}, source: {graph_path: toy.json}, "
        "inputs: [{type: image}], outputs: [{type: general}], "
        "software: own/stack.yml, dataset: data.yml, hardware: ./machine.yml}"
    )
    return model


def test_manifests_that_a_manifest_names_lie_beside_it(
    beside: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere" / "own"
    elsewhere.mkdir(parents=True)
    (elsewhere / "stack.yml").write_text("name: elsewhere\nversion: 1.0.0\nkind: software\n")
    for folder, name in (
        (elsewhere.parent, beside),
        (beside.parent.parent, "models/model.yml"),
        (beside.parent, "model.yml"),
    ):
        monkeypatch.chdir(folder)
        found = find_aspects(name)
        assert (found.software.name, found.dataset.name, found.hardware.name) == ("beside", "pictures", "any")
    monkeypatch.chdir(elsewhere.parent)
    assert find_aspects(beside, software="own/stack.yml").software.name == "elsewhere"  # what a user says is theirs


def test_a_manifest_that_is_not_beside_the_model_is_named_in_full(
    beside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (beside.parent / "own" / "stack.yml").unlink()
    monkeypatch.chdir(beside.parent.parent)
    with pytest.raises(ManifestError, match="there is no such file") as error:
        find_aspects("models/model.yml")
    assert str(beside.parent / "own" / "stack.yml") in str(error.value)
