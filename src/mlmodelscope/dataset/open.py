"""A planned dataset becomes a list of samples."""

from __future__ import annotations

from mlmodelscope.dataset.arrays import read_arrays
from mlmodelscope.dataset.cifar import read_cifar10, read_cifar100
from mlmodelscope.dataset.classes import class_words, read_classes, to_number
from mlmodelscope.dataset.files import read_files
from mlmodelscope.dataset.images import read_folder, read_imagenet, read_list
from mlmodelscope.dataset.mnist import read_mnist
from mlmodelscope.dataset.rows import read_rows
from mlmodelscope.dataset.sample import Dataset, Format, NamedFile, Sample, Unlabelled
from mlmodelscope.dataset.subset import choose
from mlmodelscope.dataset.unpack import IMAGE_ARRAYS, LABEL_ARRAYS, is_npz, unpack
from mlmodelscope.errors import DatasetError
from mlmodelscope.manifest.reference import parse_reference
from mlmodelscope.plan.plan import PlannedDataset, PlannedFile, PlannedSource
from mlmodelscope.provision.artifact import ArtifactStore

FORMATS: dict[str, Format] = {
    "folder": read_folder,
    "list": read_list,
    "imagenet": read_imagenet,
    "cifar10": read_cifar10,
    "cifar100": read_cifar100,
    "mnist": read_mnist,
    "arrays": read_arrays,
    "rows": read_rows,
    "files": read_files,
}
_PACKED = ("cifar10", "cifar100", "mnist", "arrays")
"""Formats whose files may be compressed; a label file always may."""


def open_dataset(dataset: PlannedDataset, artifacts: ArtifactStore) -> Dataset:
    """Fetch what is missing and list the samples, labelled and in order."""
    found: list[Unlabelled] = []
    for source in dataset.sources:
        try:
            found += _read(source, dataset, artifacts)
        except OSError as error:
            raise DatasetError(f"cannot read {error.filename or source.name}: {error.strerror or error}") from None
    _refuse_twins(found)
    classes = _classes(found, dataset, artifacts)
    samples = _label(found, classes, dataset, artifacts)
    if not samples:
        raise DatasetError(f"{dataset.name} has no samples")
    if dataset.size is not None and len(samples) != dataset.size:
        raise DatasetError(f"{dataset.name} should have {dataset.size} samples and has {len(samples)}")
    return Dataset(choose(samples, dataset.subset), classes)


def _read(source: PlannedSource, dataset: PlannedDataset, artifacts: ArtifactStore) -> list[Unlabelled]:
    files = _fetch(source.files, artifacts)
    labels = _fetch(source.labels, artifacts) if source.labels else None
    if labels is None and dataset.format == "arrays" and is_npz(files):
        labels = files  # one `.npz` often holds both
    labels = unpack(labels, LABEL_ARRAYS, artifacts) if labels else None
    if dataset.format in _PACKED:
        files = unpack(files, IMAGE_ARRAYS, artifacts)
    prefix = f"{source.name}/" if len(dataset.sources) > 1 else ""
    samples = FORMATS[dataset.format](files, labels, dataset)
    if not prefix:
        return samples
    return [
        Unlabelled(prefix + one.id, {**one.content, "source": source.name}, one.word, one.digest) for one in samples
    ]


def _fetch(file: PlannedFile, artifacts: ArtifactStore) -> NamedFile:
    return NamedFile(artifacts.fetch(file.url, f"sha256:{file.sha256}").path, parse_reference(file.url).name)


def _refuse_twins(found: list[Unlabelled]) -> None:
    seen: set[str] = set()
    for sample in found:
        if sample.id in seen:
            raise DatasetError(
                f"there are two samples with the id `{sample.id}`", hint="give each source a `name` of its own"
            )
        seen.add(sample.id)


def _classes(found: list[Unlabelled], dataset: PlannedDataset, artifacts: ArtifactStore) -> list[str]:
    """From the classes file. Without one, classes are numbered in the order of their folders' names."""
    if dataset.classes:
        file = _fetch(dataset.classes, artifacts)
        return read_classes(file.path, file.name)
    words = {str(sample.word) for sample in found if "file" in sample.content}
    return sorted(words) if dataset.format in ("folder", "imagenet") and not all(map(str.isdecimal, words)) else []


def _label(
    found: list[Unlabelled], classes: list[str], dataset: PlannedDataset, artifacts: ArtifactStore
) -> list[Sample]:
    words = class_words(classes)
    files = [index for index, sample in enumerate(found) if not sample.digest]
    digests = dict(zip(files, artifacts.digests([found[index].content["file"] for index in files]), strict=True))
    return [
        Sample(
            sample.id,
            sample.content,
            sample.digest or digests[index],
            None
            if dataset.format == "files"
            else to_number(sample.word, words, dataset.labels.offset, sample.id, len(classes)),
        )
        for index, sample in enumerate(found)
    ]
