"""A home and a cache of their own, and a dataset of made-up data in its folder."""

from collections.abc import Callable
from pathlib import Path

import pytest

from connection.small_data import SMALL, shrunk, write_files, write_manifest
from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.manifest.schema import DatasetManifest
from mlmodelscope.settings import Settings

Small = Callable[[str], tuple[DatasetManifest, Path]]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home", cache=tmp_path / "cache", offline=True)


@pytest.fixture
def small(tmp_path: Path) -> Small:
    """The manifest of a dataset with small numbers, and a folder that fits it."""

    def make(name: str) -> tuple[DatasetManifest, Path]:
        size, rules, files = SMALL[name]
        found = load_manifest(write_manifest(tmp_path / "manifests", shrunk(name, size, **rules)))
        assert isinstance(found, DatasetManifest)
        return found, write_files(tmp_path / "data", files)

    return make
