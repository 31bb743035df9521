"""Files that nobody could tell from others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mlmodelscope.lint.finding import Finding
from mlmodelscope.lint.rule import rule
from mlmodelscope.lint.subject import DataPath, Subject
from mlmodelscope.manifest.schema import DatasetSource
from mlmodelscope.manifest.source import spell_path

_KINDS = ("model", "dataset")
_WEAK = ("md5", "sha1")


@dataclass(frozen=True)
class NamedFile:
    """A file that a manifest names."""

    path: DataPath
    """Of the reference in the current format."""
    what: str
    reference: str
    checksum_key: str
    checksum: str | None

    @property
    def checksum_path(self) -> DataPath:
        return (*self.path[:-1], self.checksum_key)


@rule("M040", "missing-checksum", "warning", _KINDS)
def missing_checksum(subject: Subject) -> Iterator[Finding]:
    """A file has no checksum.

    Nobody can tell whether the file is the one that the numbers were measured with: an address can deliver something
    else tomorrow. The first evaluation remembers what it got, but cannot know whether that was right. An information
    only where the file lies beside the manifest.

    Wrong:

        source:
          graph_path: https://example.org/resnet50.onnx

    Right:

        source:
          graph_path: https://example.org/resnet50.onnx
          graph_checksum: sha256:fe2e9cbd3d6df85726cd7785e03a4fbfa19c0269c260ce0e8b19306c8bf923fc
    """
    empty = {key for _, key, _ in _empty(subject)}
    for file in named_files(subject):
        told = file.checksum_key in empty or ("checksum" in empty and file.checksum_key == "graph_checksum")
        if file.checksum is None and not told:
            local = subject.local(file.reference) is not None
            yield subject.finding(
                file.path,
                f"{file.what} has no checksum",
                f"`{file.checksum_key}: sha256:…` says which file is meant",
                severity="info" if local else None,
            )


@rule("M041", "empty-checksum", "warning")
def empty_checksum(subject: Subject) -> Iterator[Finding]:
    """A checksum is left empty.

    The key is there and its value is not: the author meant to say which file it is, and did not. It counts as no
    checksum, so nobody can tell whether the file is the right one.

    Wrong:

        source:
          graph_path: https://example.org/resnet50.onnx
          graph_checksum:

    Right:

        source:
          graph_path: https://example.org/resnet50.onnx
          graph_checksum: sha256:fe2e9cbd3d6df85726cd7785e03a4fbfa19c0269c260ce0e8b19306c8bf923fc
    """
    for place, key, path in _empty(subject):
        yield subject.finding_at(place, f"`{key}` is empty", spell_path(path))


@rule("M042", "weak-checksum", "info", _KINDS)
def weak_checksum(subject: Subject) -> Iterator[Finding]:
    """A checksum can be forged.

    md5 and sha1 notice an accident, but two different files with the same sum can be made on purpose. Prefer sha256.

    Wrong:

        graph_checksum: md5:328f68f37ae0c180191e96c9b73a813e

    Right:

        graph_checksum: sha256:fe2e9cbd3d6df85726cd7785e03a4fbfa19c0269c260ce0e8b19306c8bf923fc
    """
    for file in named_files(subject):
        algorithm = (file.checksum or "").partition(":")[0]
        if algorithm in _WEAK:
            yield subject.finding(
                file.checksum_path, f"the checksum of {file.what} is {algorithm}, which can be forged"
            )


def named_files(subject: Subject) -> list[NamedFile]:
    """Every file that an evaluation with this manifest would fetch."""
    files: list[NamedFile] = []

    def add(path: DataPath, what: str, reference: str | None, key: str, checksum: str | None) -> None:
        if reference:
            files.append(NamedFile(path, what, reference, key, checksum))

    if subject.kind == "model":
        source = subject.model.source
        if source is not None:
            add(("source", "graph_path"), "the model", source.graph_path, "graph_checksum", source.graph_checksum)
            weights = (source.weights_path, "weights_checksum", source.weights_checksum)
            add(("source", "weights_path"), "the file of weights", *weights)
        firmware = subject.model.firmware
        if firmware is not None:
            add(("firmware", "url"), "the firmware", firmware.url, "checksum", firmware.checksum)
        for index, output in enumerate(subject.model.outputs):
            path = ("outputs", index, "features_url")
            add(path, "the list of classes", output.features_url, "features_checksum", output.features_checksum)
    elif subject.kind == "dataset":
        dataset = subject.dataset
        listed: list[tuple[DataPath, Sequence[DatasetSource]]] = [(("sources",), dataset.sources)]
        listed += [(("splits", name, "sources"), split.sources) for name, split in dataset.splits.items()]
        for start, sources in listed:
            for index, each in enumerate(sources):
                add((*start, index, "url"), f"the source `{each.name}`", each.url, "checksum", each.checksum)
                labels = (each.labels_url, "labels_checksum", each.labels_checksum)
                add((*start, index, "labels_url"), "the file of labels", *labels)
                names = (each.names_url, "names_checksum", each.names_checksum)
                add((*start, index, "names_url"), "the list of names", *names)
        add(("classes_url",), "the list of classes", dataset.classes_url, "classes_checksum", dataset.classes_checksum)
    return files


def _empty(subject: Subject) -> list[tuple[tuple[int, int], str, DataPath]]:
    return [
        (holder.places[key], key, path)
        for holder, key, path in subject.entries
        if (key == "checksum" or key.endswith("_checksum")) and _is_blank(holder[key]) and path[0] != "attributes"
    ]


def _is_blank(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())
