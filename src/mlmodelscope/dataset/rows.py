"""One large image whose rows are the samples, and a JSON list of labels."""

from __future__ import annotations

from mlmodelscope.dataset.format import dataset_format
from mlmodelscope.dataset.raw import digest
from mlmodelscope.dataset.sample import NamedFile, Unlabelled
from mlmodelscope.dataset.text import read_json, read_text
from mlmodelscope.errors import DatasetError
from mlmodelscope.plan.plan import PlannedDataset
from mlmodelscope.provision.hashing import hash_file
from mlmodelscope_worker.pipeline.header import ImageError, size

_HEAD_BYTES = 1 << 20


@dataset_format("rows")
def read_rows(source: NamedFile, labels: NamedFile | None, dataset: PlannedDataset) -> list[Unlabelled]:
    """One image with a sample in each row, and a JSON list of labels."""
    if labels is None or dataset.shape is None:
        raise DatasetError("a dataset of rows needs a `labels_url` and a `shape`")
    words = read_json(read_text(labels), labels)
    if not isinstance(words, list):
        raise DatasetError(f"{labels.name} is not a JSON list of numbers")
    _refuse_other_size(source, labels, len(words), dataset)
    image = hash_file(source.path)
    color = "GRAY" if dataset.shape[2] == 1 else "RGB"
    return [
        Unlabelled(
            f"{index:05d}",
            {"row": str(source.path), "index": index, "shape": list(dataset.shape), "color": color},
            word,
            digest(f"{image}#{index}".encode()),
        )
        for index, word in enumerate(words)
    ]


def _refuse_other_size(source: NamedFile, labels: NamedFile, count: int, dataset: PlannedDataset) -> None:
    """An image has a row for each label and in it a pixel for each of a sample's, as far as its header tells."""
    assert dataset.shape is not None
    with source.path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    try:
        found = size(head)
    except ImageError as error:
        raise DatasetError(f"{source.name} is no image: {error}") from None
    if found is None:
        raise DatasetError(f"{source.name} is no image of a known kind")
    if found[0] != count:
        raise DatasetError(f"{labels.name} has {count} labels for {found[0]} samples")
    pixels = dataset.shape[0] * dataset.shape[1]
    if found[1] != pixels:
        raise DatasetError(f"{source.name} has {found[1]} pixels a row, and {dataset.name} says {pixels}")
