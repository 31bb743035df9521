"""A dataset format: `TOYGRID`, height and width, and for each sample a byte for its label before its pixels."""

from mlmodelscope.dataset.format import dataset_format
from mlmodelscope.dataset.raw import digest, slice_of
from mlmodelscope.dataset.sample import Unlabelled
from mlmodelscope.errors import DatasetError

MAGIC = b"TOYGRID"


@dataset_format("toygrid")
def read(source, labels, dataset):
    """One file of small gray pictures with their labels."""
    content = source.path.read_bytes()
    if not content.startswith(MAGIC):
        raise DatasetError(f"{source.name} is not a toy grid")
    height, width = content[len(MAGIC) : len(MAGIC) + 2]
    length = 1 + height * width
    samples = []
    for start in range(len(MAGIC) + 2, len(content), length):
        place = slice_of(source.path, start + 1, [height, width, 1], "uint8", "HWC", "GRAY")
        pixels = content[start + 1 : start + length]
        samples.append(Unlabelled(f"{len(samples):04d}", place, content[start], digest(pixels)))
    return samples
