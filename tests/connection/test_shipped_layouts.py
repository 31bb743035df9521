"""Every dataset that ships with a layout: connected from made-up data of that form, and its facts as published."""

import pytest

from connection.conftest import Small
from connection.small_data import SMALL, shipped
from mlmodelscope.catalog.source.timm import _RESULTS
from mlmodelscope.catalog.words import _DATASETS
from mlmodelscope.connection.connect import connect
from mlmodelscope.connection.resolve import with_folder
from mlmodelscope.dataset.open import open_dataset
from mlmodelscope.manifest.catalog import find_dataset
from mlmodelscope.manifest.folders import shipped_folder
from mlmodelscope.plan.dataset import plan_dataset
from mlmodelscope.plan.options import Options
from mlmodelscope.preparation import pin
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.settings import Settings


def names_that_ship() -> list[str]:
    folder = shipped_folder()
    assert folder is not None
    places = {path.stem: shipped(path.stem).get("connect", {}) for path in (folder / "datasets").glob("*.yml")}
    return sorted(name for name, place in places.items() if "layouts" in place)


def test_each_has_made_up_data_here() -> None:
    assert sorted(SMALL) == names_that_ship()


@pytest.mark.parametrize("name", sorted(SMALL))
def test_a_folder_of_its_layout_is_connected_and_opens(name: str, small: Small, settings: Settings) -> None:
    manifest, folder = small(name)
    found = connect(manifest, folder, settings)
    resolved, artifacts = with_folder(manifest, settings), ArtifactStore(settings)
    opened = open_dataset(plan_dataset(resolved, Options(), pin(resolved, artifacts)), artifacts)
    assert len(opened.samples) == found.samples == manifest.size
    assert resolved.digest == manifest.digest  # it is the same dataset, wherever it lies


@pytest.mark.parametrize("name", sorted(SMALL))
def test_its_facts_agree_with_each_other(name: str) -> None:
    """A rule that counts pictures or sounds counts as many as there are samples."""
    data = shipped(name)
    assert data["license"] and data["references"] and data["size"]
    files = 50_000 if name == "imagenet-real" else data["size"]  # 3,163 of its pictures have no label
    for layout in data["connect"]["layouts"]:
        for rule in layout["files"]:
            first, last = rule.get("numbers", (1, files))
            assert last - first + 1 == rule.get("count", files) == files
            in_each = rule.get("in_each")
            if isinstance(in_each, int):
                assert in_each * rule["folders"] == files
            elif in_each:
                assert sum(in_each.values()) == data["size"] and len(in_each) == rule["folders"]


def test_datasets_that_claims_name_are_known() -> None:
    for name in sorted({*_DATASETS.values(), *(dataset for dataset, _, _ in _RESULTS.values())}):
        assert find_dataset(name).size
