"""A planned dataset becomes a list of samples."""

from __future__ import annotations

from mlmodelscope.dataset.classes import class_words, read_classes, to_number
from mlmodelscope.dataset.format import FORMATS, Format
from mlmodelscope.dataset.sample import Dataset, NamedFile, Sample, Unlabelled
from mlmodelscope.dataset.subset import choose
from mlmodelscope.dataset.unpack import IMAGE_ARRAYS, LABEL_ARRAYS, is_npz, unpack
from mlmodelscope.errors import DatasetError
from mlmodelscope.manifest.reference import parse_reference
from mlmodelscope.plan.plan import PlannedDataset, PlannedFile, PlannedSource
from mlmodelscope.provision.artifact import ArtifactStore


def open_dataset(dataset: PlannedDataset, artifacts: ArtifactStore) -> Dataset:
    """Fetch what is missing and list the samples, labelled and in order."""
    form = FORMATS.find(dataset.format)
    if form is None:
        raise DatasetError(
            f"{dataset.name} has the format `{dataset.format}`, which is not known here\nknown: {', '.join(FORMATS)}",
            hint="install the package that adds it",
        )
    found: list[Unlabelled] = []
    for source in dataset.sources:
        try:
            found += _read(source, dataset, form, artifacts)
        except OSError as error:
            raise DatasetError(f"cannot read {error.filename or source.name}: {error.strerror or error}") from None
    _refuse_twins(found)
    classes = _classes(found, dataset, form, artifacts)
    samples = _label(found, classes, dataset, form, artifacts)
    if not samples:
        raise DatasetError(f"{dataset.name} has no samples")
    if dataset.size is not None and len(samples) != dataset.size:
        raise DatasetError(f"{dataset.name} should have {dataset.size} samples and has {len(samples)}")
    return Dataset(choose(samples, dataset.subset), classes)


def _read(source: PlannedSource, dataset: PlannedDataset, form: Format, artifacts: ArtifactStore) -> list[Unlabelled]:
    files = _fetch(source.files, artifacts)
    labels = _fetch(source.labels, artifacts) if source.labels else None
    if labels is None and form.holds_labels and is_npz(files):
        labels = files  # one `.npz` often holds both
    labels = unpack(labels, LABEL_ARRAYS, artifacts) if labels else None
    if form.packed:
        files = unpack(files, IMAGE_ARRAYS, artifacts)
    prefix = f"{source.name}/" if len(dataset.sources) > 1 else ""
    with FORMATS.blaming(form.name, OSError):
        samples = form.read(files, labels, dataset)
        _refuse_others(samples)
    if not prefix:
        return samples
    return [
        Unlabelled(prefix + one.id, {**one.content, "source": source.name}, one.word, one.digest) for one in samples
    ]


def _refuse_others(samples: list[Unlabelled]) -> None:
    """What a format returns is trusted from here on."""
    for each in samples:
        if not isinstance(each, Unlabelled) or not (each.digest or "file" in each.content):
            raise TypeError(f"it lists {str(each)[:80]}, which is not an Unlabelled sample with a file or a digest")


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


def _classes(found: list[Unlabelled], dataset: PlannedDataset, form: Format, artifacts: ArtifactStore) -> list[str]:
    """From the classes file. Without one, classes are numbered in the order of their names, as folders are."""
    if dataset.classes:
        file = _fetch(dataset.classes, artifacts)
        return read_classes(file.path, file.name)
    words = {str(sample.word) for sample in found} if form.names_classes else set()
    return [] if all(map(str.isdecimal, words)) else sorted(words)


def _label(
    found: list[Unlabelled], classes: list[str], dataset: PlannedDataset, form: Format, artifacts: ArtifactStore
) -> list[Sample]:
    words = class_words(classes)
    files = [index for index, sample in enumerate(found) if not sample.digest]
    digests = dict(zip(files, artifacts.digests([found[index].content["file"] for index in files]), strict=True))
    return [
        Sample(
            sample.id,
            sample.content,
            sample.digest or digests[index],
            to_number(sample.word, words, dataset.labels.offset, sample.id, len(classes)) if form.labeled else None,
        )
        for index, sample in enumerate(found)
    ]
