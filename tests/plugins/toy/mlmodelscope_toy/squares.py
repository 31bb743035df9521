"""A dataset format with targets: `TOYSQUARES`, height and width, and a count before the pixels of each picture."""

from mlmodelscope.dataset.format import dataset_format
from mlmodelscope.dataset.raw import digest, slice_of
from mlmodelscope.dataset.sample import Unlabelled
from mlmodelscope.errors import DatasetError

MAGIC = b"TOYSQUARES"


@dataset_format("toysquares", has_targets=True)
def read(source, labels, dataset):
    """One file of small gray pictures, each with the number of its squares."""
    content = source.path.read_bytes()
    if not content.startswith(MAGIC):
        raise DatasetError(f"{source.name} has no toy squares")
    height, width = content[len(MAGIC) : len(MAGIC) + 2]
    length = 1 + height * width
    samples = []
    for start in range(len(MAGIC) + 2, len(content), length):
        place = slice_of(source.path, start + 1, [height, width, 1], "uint8", "HWC", "GRAY")
        pixels, target = content[start + 1 : start + length], {"count": content[start]}
        samples.append(Unlabelled(f"{len(samples):04d}", place, None, digest(pixels), target))
    return samples
