"""The four manifests of an evaluation: one rule, whoever looks them up."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mlmodelscope.errors import UsageError
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
