"""MNIST's and Fashion-MNIST's idx files: images in one, labels in the other."""

from __future__ import annotations

import math
import struct

from mlmodelscope.dataset.format import dataset_format
from mlmodelscope.dataset.raw import digest, read_blocks, refuse_other_shape, slice_of
from mlmodelscope.dataset.sample import NamedFile, Unlabelled
from mlmodelscope.errors import DatasetError
from mlmodelscope.plan.plan import PlannedDataset


@dataset_format("mnist", packed=True)
def read_mnist(source: NamedFile, labels: NamedFile | None, dataset: PlannedDataset) -> list[Unlabelled]:
    """MNIST and Fashion-MNIST: an idx file of images and one of labels."""
    if labels is None:
        raise DatasetError("an MNIST source needs a `labels_url`")
    count, height, width = _sizes(source, 3)
    (labelled,) = _sizes(labels, 1)
    if labelled != count:
        raise DatasetError(f"{labels.name} has {labelled} labels for {count} samples")
    refuse_other_shape(source, (height, width, 1), dataset)
    words = labels.path.read_bytes()[8:]
    length = height * width
    return [
        Unlabelled(
            f"{index:05d}",
            slice_of(source.path, 16 + index * length, [height, width, 1], "uint8", "HWC", "GRAY"),
            words[index],
            digest(block),
        )
        for index, block in enumerate(read_blocks(source.path, 16, length))
    ]


def _sizes(file: NamedFile, dimensions: int) -> tuple[int, ...]:
    with file.path.open("rb") as opened:
        head = opened.read(4 + 4 * dimensions)
    if len(head) < 4 + 4 * dimensions or head[:4] != bytes((0, 0, 8, dimensions)):
        raise DatasetError(f"{file.name} is not an idx file of {dimensions} dimension(s) of bytes")
    sizes = struct.unpack(f">{dimensions}I", head[4:])
    if file.path.stat().st_size != len(head) + math.prod(sizes):
        raise DatasetError(f"{file.name} has not the size that its header promises")
    return sizes
