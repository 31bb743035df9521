"""A planned dataset becomes a list of samples."""

from __future__ import annotations

import gzip
import shutil
import zipfile
from pathlib import Path

from mlmodelscope.dataset import formats_arrays, formats_files
from mlmodelscope.dataset.formats_arrays import Format
from mlmodelscope.dataset.labels import class_words, read_classes, to_number
from mlmodelscope.dataset.sample import Dataset, Sample, Unlabelled
from mlmodelscope.dataset.subset import choose
from mlmodelscope.errors import ArtifactError, DatasetError
from mlmodelscope.plan.plan import PlannedDataset, PlannedFile
from mlmodelscope.provision.artifact import ArtifactStore

FORMATS: dict[str, Format] = {
    "folder": formats_files.read_folder,
    "list": formats_files.read_list,
    "imagenet": formats_files.read_imagenet,
    "cifar10": formats_arrays.read_cifar10,
    "cifar100": formats_arrays.read_cifar100,
    "mnist": formats_arrays.read_mnist,
    "arrays": formats_arrays.read_arrays,
    "rows": formats_arrays.read_rows,
}

_MAX_UNPACKED = 64 << 30
_ARRAY_NAMES = ("images", "x_test", "x", "data", "arr_0")
_LABEL_NAMES = ("labels", "y_test", "y", "targets", "arr_1")


def open_dataset(dataset: PlannedDataset, artifacts: ArtifactStore) -> Dataset:
    """Fetch what is missing and list the samples, labelled and in order."""
    found: list[Unlabelled] = []
    for source in dataset.sources:
        files = _unpacked(_fetch(source.files, artifacts), artifacts, _ARRAY_NAMES)
        labels = _unpacked(_fetch(source.labels, artifacts), artifacts, _LABEL_NAMES) if source.labels else None
        prefix = f"{source.name}/" if len(dataset.sources) > 1 else ""
        for sample in FORMATS[dataset.format](files, labels, dataset):
            found.append(Unlabelled(prefix + sample.id, sample.content, sample.word, sample.digest))
    classes = read_classes(_fetch(dataset.classes, artifacts)) if dataset.classes else _folders(found, dataset)
    samples = _label(found, classes, dataset, artifacts)
    if dataset.size is not None and len(samples) != dataset.size:
        raise DatasetError(f"{dataset.name} should have {dataset.size} samples and has {len(samples)}")
    return Dataset(choose(samples, dataset.subset), classes)


def _fetch(file: PlannedFile, artifacts: ArtifactStore) -> Path:
    return artifacts.fetch(file.url, f"sha256:{file.sha256}").path


def _folders(found: list[Unlabelled], dataset: PlannedDataset) -> list[str]:
    """Without a classes file, classes are numbered in the order of their folders' names."""
    words = {str(sample.word) for sample in found if "file" in sample.content}
    return sorted(words) if dataset.format in ("folder", "imagenet") and not all(map(str.isdigit, words)) else []


def _label(
    found: list[Unlabelled], classes: list[str], dataset: PlannedDataset, artifacts: ArtifactStore
) -> list[Sample]:
    words = class_words(classes)
    files = [index for index, sample in enumerate(found) if not sample.digest]
    digests = dict(zip(files, artifacts.digests([Path(found[index].content["file"]) for index in files]), strict=True))
    return [
        Sample(
            sample.id,
            sample.content,
            sample.digest or digests[index],
            to_number(sample.word, words, dataset.labels.offset, sample.id),
        )
        for index, sample in enumerate(found)
    ]


def _unpacked(path: Path, artifacts: ArtifactStore, names: tuple[str, ...]) -> Path:
    """A gzip file, or an array out of an `.npz` file, as a plain file in the cache."""
    if path.is_dir():
        return path
    with path.open("rb") as file:
        magic = file.read(4)
    if magic[:2] == b"\x1f\x8b":
        return artifacts.derive(f"gunzip:{artifacts.digests([path])[0]}", lambda draft: _gunzip(path, draft))
    if magic == b"PK\x03\x04":
        return artifacts.derive(
            f"npz:{names[0]}:{artifacts.digests([path])[0]}", lambda draft: _unzip(path, draft, names)
        )
    return path


def _gunzip(path: Path, draft: Path) -> None:
    try:
        with gzip.open(path) as source, draft.open("wb") as out:
            while block := source.read(1 << 20):
                out.write(block)
                if out.tell() > _MAX_UNPACKED:
                    raise ArtifactError(f"{path.name} unpacks to more than {_MAX_UNPACKED} bytes and is refused")
    except (gzip.BadGzipFile, EOFError) as error:
        raise ArtifactError(f"{path.name} is damaged: {error}") from None


def _unzip(path: Path, draft: Path, names: tuple[str, ...]) -> None:
    try:
        with zipfile.ZipFile(path) as packed:
            have = {info.filename.removesuffix(".npy"): info for info in packed.infolist()}
            name = next((name for name in names if name in have), None)
            if name is None:
                raise DatasetError(f"{path.name} has the arrays {', '.join(have)}, none of {', '.join(names)}")
            if have[name].file_size > _MAX_UNPACKED:
                raise ArtifactError(f"{path.name} unpacks to more than {_MAX_UNPACKED} bytes and is refused")
            with packed.open(have[name]) as source, draft.open("wb") as out:
                shutil.copyfileobj(source, out)
    except zipfile.BadZipFile as error:
        raise ArtifactError(f"{path.name} is damaged: {error}") from None
