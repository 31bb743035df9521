"""Samples that only a manifest's own functions understand: `files`, and `functions`, which know them by number."""

from __future__ import annotations

import fnmatch
import hashlib

from mlmodelscope.dataset.format import dataset_format
from mlmodelscope.dataset.images import is_hidden
from mlmodelscope.dataset.sample import Dataset, NamedFile, Sample, Unlabelled
from mlmodelscope.dataset.subset import choose
from mlmodelscope.errors import DatasetError
from mlmodelscope.plan.plan import PlannedDataset
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.provision.hashing import list_files


@dataset_format("files", labeled=False)
def read_files(source: NamedFile, labels: NamedFile | None, dataset: PlannedDataset) -> list[Unlabelled]:
    """Every file is a sample without a label."""
    return [Unlabelled(name, {"file": path}, None) for name, path in _paths(source, dataset)]


@dataset_format("functions", labeled=False)
def read_nothing(source: NamedFile, labels: NamedFile | None, dataset: PlannedDataset) -> list[Unlabelled]:
    """Samples that only the manifest's own functions know, by their number."""
    raise DatasetError(f"only the functions of {dataset.name} know its samples")


def source_files(dataset: PlannedDataset, artifacts: ArtifactStore) -> dict[str, list[str]]:
    """All files by the name of their source, as DLSpec's first stage gets them; labels as `<source>.labels`."""
    found: dict[str, list[str]] = {}
    for source in dataset.sources:
        for name, file in ((source.name, source.files), (f"{source.name}.labels", source.labels)):
            if file is not None:
                here = NamedFile(artifacts.fetch(file.url, f"sha256:{file.sha256}").path, name)
                # Sources of one name are one source to the functions, none may hide another.
                found.setdefault(name, []).extend(path for _, path in _paths(here, dataset))
    return found


def _paths(source: NamedFile, dataset: PlannedDataset) -> list[tuple[str, str]]:
    if not source.path.is_dir():
        return [(source.name, str(source.path))]
    names = [
        name
        for name in list_files(source.path)
        if fnmatch.fnmatchcase(name.rpartition("/")[2], dataset.include) and not is_hidden(name)
    ]
    if not names:
        raise DatasetError(f"{source.name} holds no file whose name matches `{dataset.include}`")
    return [(name, f"{source.path}/{name}") for name in names]


def numbered(dataset: PlannedDataset, count: int) -> Dataset:
    """The samples of a dataset that only its functions know."""
    if not count:
        raise DatasetError(f"{dataset.name} has no samples: its `init` returned 0")
    if dataset.subset.count is None and dataset.size is not None and count != dataset.size:
        raise DatasetError(f"{dataset.name} should have {dataset.size} samples, its `init` returned {count}")
    identity = dataset.reference
    samples = [
        Sample(str(number), {"number": number}, hashlib.sha256(f"{identity}:{number}".encode()).hexdigest(), None)
        for number in range(count)
    ]
    # `init` is told how many are wanted, but nothing makes it listen.
    return Dataset(choose(samples, dataset.subset), [])
