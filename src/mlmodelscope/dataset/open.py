"""A planned dataset becomes a list of samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from mlmodelscope.dataset.classes import class_words, read_classes, to_number, to_numbers
from mlmodelscope.dataset.format import FORMATS, Format
from mlmodelscope.dataset.listed import only_listed
from mlmodelscope.dataset.sample import Dataset, Listing, NamedFile, Sample, Unlabelled
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
    listed: list[str] | None = None
    for source in dataset.sources:
        try:
            part = _read(source, dataset, form, artifacts)
            found += part
            if isinstance(part, Listing):
                _refuse_other_classes(listed, part.classes, dataset, source)
                listed = part.classes
        except OSError as error:
            raise DatasetError(f"cannot read {error.filename or source.name}: {error.strerror or error}") from None
    _refuse_twins(found)
    classes = listed if listed is not None else _classes(found, dataset, form, artifacts)
    if form.has_targets and listed is None:
        _refuse_beyond(found, classes, dataset)
    if form.counts_classes and classes:
        found = _counted(found, len(classes))
    samples = _label(found, classes, dataset, form, artifacts)
    if not samples:
        raise DatasetError(f"{dataset.name} has no samples")
    if dataset.size is not None and len(samples) != dataset.size:
        raise DatasetError(f"{dataset.name} should have {dataset.size} samples and has {len(samples)}")
    return Dataset(choose(samples, dataset.subset), classes)


def _counted(found: list[Unlabelled], classes: int) -> list[Unlabelled]:
    """Targets that know how many classes there are; what they share stays one object."""
    known: dict[int, dict[str, Any]] = {}
    for each in found:
        labels = each.target["labels"]
        known.setdefault(id(labels), {**labels, "classes": classes})
    return [replace(each, target={**each.target, "labels": known[id(each.target["labels"])]}) for each in found]


def _refuse_beyond(found: list[Unlabelled], classes: list[str], dataset: PlannedDataset) -> None:
    """A number that no class has, where the classes are listed."""
    for sample in found if classes else ():
        beyond = [number for number in (sample.target or {}).get("classes", ()) if number >= len(classes)]
        if beyond:
            raise DatasetError(
                f"`{sample.id}` of {dataset.name} has the class {beyond[0]}, which does not exist: "
                f"its `classes_url` lists {len(classes)}"
            )


def _refuse_other_classes(
    known: list[str] | None, classes: list[str], dataset: PlannedDataset, source: PlannedSource
) -> None:
    """Numbers mean nothing where two sources count other classes."""
    if known is not None and known != classes:
        raise DatasetError(f"the sources of {dataset.name} have other classes: {source.name} has {len(classes)}")


def _read(source: PlannedSource, dataset: PlannedDataset, form: Format, artifacts: ArtifactStore) -> list[Unlabelled]:
    files = _fetch(source.files, artifacts)
    labels = _fetch(source.labels, artifacts) if source.labels else None
    if labels is None and form.holds_labels and is_npz(files):
        labels = files  # one `.npz` often holds both
    labels = unpack(labels, LABEL_ARRAYS, artifacts) if labels else None
    if form.packed:
        files = unpack(files, IMAGE_ARRAYS, artifacts)
    with FORMATS.blaming(form.name, OSError):
        samples = form.read(files, labels, dataset)
        _refuse_others(samples)
    if source.names is not None:
        samples = only_listed(samples, _fetch(source.names, artifacts), dataset.name)
    if len(dataset.sources) == 1:
        return samples
    named = [_of_source(one, source.name) for one in samples]
    return Listing(named, samples.classes) if isinstance(samples, Listing) else named


def _of_source(one: Unlabelled, source: str) -> Unlabelled:
    """A sample of one of several sources; where samples are scored in groups, a source is one."""
    target = one.target
    if isinstance(target, dict) and target.get("group") == "":
        target = {**target, "group": source}
    return replace(one, id=f"{source}/{one.id}", content={**one.content, "source": source}, target=target)


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
    if dataset.labels.label_columns:
        return list(dataset.labels.label_columns)
    has_names = form.names_classes and "classes" not in dataset.truth
    words = {str(sample.word) for sample in found if sample.word is not None} if has_names else set()
    return [] if all(map(str.isdecimal, words)) else sorted(words)


def _label(
    found: list[Unlabelled], classes: list[str], dataset: PlannedDataset, form: Format, artifacts: ArtifactStore
) -> list[Sample]:
    target = _target_of(classes, dataset, form)
    found, targets = _samples_of(found, [target(sample) for sample in found], dataset)
    files = [index for index, sample in enumerate(found) if not sample.digest]
    digests = dict(zip(files, artifacts.digests([found[index].content["file"] for index in files]), strict=True))
    return [
        Sample(
            sample.id,
            sample.content,
            sample.digest or digests[index],
            targets[index],
        )
        for index, sample in enumerate(found)
    ]


def _samples_of(
    found: list[Unlabelled], targets: list[Any], dataset: PlannedDataset
) -> tuple[list[Unlabelled], list[Any]]:
    """Without those whose class does not compete, and without those that none of several labels is right for."""
    rule, kept = dataset.labels, list(range(len(found)))
    if rule.outside == "skip":
        competing = set(rule.among)
        if not competing:
            raise DatasetError(
                f"{dataset.name} says `outside: skip`, and not which classes compete: `among` lists them"
            )
        kept = [at for at in kept if not isinstance(targets[at], int) or targets[at] in competing]
    if rule.several == "any_is_right":
        bare = next((found[at].id for at in kept if targets[at] == []), None)
        if bare is not None and rule.missing == "refuse":
            raise DatasetError(
                f"the sample `{bare}` has no label",
                hint="`missing: skip` in the dataset's `labels` leaves such samples out",
            )
        kept = [at for at in kept if targets[at] != []]
    return [found[at] for at in kept], [targets[at] for at in kept]


def _target_of(classes: list[str], dataset: PlannedDataset, form: Format) -> Callable[[Unlabelled], Any]:
    """What is true of a sample: what its format found, the class that its label means, or the classes of several."""
    if not form.labeled:
        return lambda sample: sample.target
    words, rule = class_words(classes), dataset.labels
    if "classes" in dataset.truth:
        return lambda sample: {
            "classes": to_numbers(sample.word, words, rule.offset, sample.id, len(classes), rule.separator)
        }
    if rule.several == "any_is_right":
        return lambda sample: to_numbers(sample.word, words, rule.offset, sample.id, len(classes), rule.separator)
    return lambda sample: (
        sample.target
        if dataset.task and sample.word is None  # its task decides what is true of it
        else to_number(sample.word, words, rule.offset, sample.id, len(classes))
    )
