"""Datasets in a temporary folder, opened the way an evaluation opens them."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from mlmodelscope.dataset.open import open_dataset
from mlmodelscope.dataset.sample import Dataset
from mlmodelscope.manifest.schema import Labels
from mlmodelscope.plan.plan import PlannedDataset, PlannedFile, PlannedSource, Subset
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.settings import Settings

Source = str | Path


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(Settings(home=tmp_path / "home", cache=tmp_path / "cache", offline=True))


@pytest.fixture
def write(tmp_path: Path) -> Callable[[Mapping[str, bytes | str]], Path]:
    """Files by name below a folder `data`; the folder."""

    def make(files: Mapping[str, bytes | str]) -> Path:
        folder = tmp_path / "data"
        folder.mkdir(exist_ok=True)
        for name, content in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
        return folder

    return make


@pytest.fixture
def open_as(store: ArtifactStore) -> Callable[..., Dataset]:
    """`open_as("list", folder, labels, rule={"offset": 1})`: a dataset of one source, or of several named ones."""

    def run(
        format: str,
        files: Source | list[tuple[str, Source]],
        labels: Source | None = None,
        *,
        classes: Source | None = None,
        rule: Mapping[str, Any] | None = None,
        subset: Mapping[str, Any] | None = None,
        **fields: Any,
    ) -> Dataset:
        def planned(url: Source) -> PlannedFile:
            return PlannedFile(url=str(url), sha256=store.fetch(str(url)).sha256)

        sources = [
            PlannedSource(name=name, files=planned(url), labels=planned(labels) if labels else None)
            for name, url in (files if isinstance(files, list) else [("data", files)])
        ]
        about = {"name": "pets", "version": "1.0.0", "include": "*", "shape": None, "size": None, **fields}
        return open_dataset(
            PlannedDataset(
                format=format,
                sources=tuple(sources),
                labels=Labels(**(rule or {})),
                classes=planned(classes) if classes else None,
                subset=Subset(**{"count": None, "stratified": False, "seed": 0, **(subset or {})}),
                **about,
            ),
            store,
        )

    return run
