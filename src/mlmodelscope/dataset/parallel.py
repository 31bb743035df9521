"""Two or more text files whose lines belong together: sources and references of a translation or a summary."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path

from mlmodelscope.dataset.format import dataset_format
from mlmodelscope.dataset.images import is_hidden
from mlmodelscope.dataset.lines import lines_of
from mlmodelscope.dataset.parts import sample_of
from mlmodelscope.dataset.sample import NamedFile, Unlabelled
from mlmodelscope.errors import DatasetError
from mlmodelscope.plan.plan import PlannedDataset
from mlmodelscope.provision.hashing import list_files

_MOST_LINES = 5_000_000


@dataset_format("parallel", has_targets=True)
def read_parallel(source: NamedFile, labels: NamedFile | None, dataset: PlannedDataset) -> list[Unlabelled]:
    """A text file with a sample a line, and one or more of references (`labels_url`: a file or a folder of them)."""
    if labels is None:
        raise DatasetError(
            f"{dataset.name} names no `labels_url`: the file with a reference for each line, or a folder"
        )
    files = [source, *_references(labels, dataset)]
    found = []
    for number, lines in enumerate(zip_longest(*map(lines_of, files)), 1):
        ended = [file.name for file, line in zip(files, lines, strict=True) if line is None]
        if ended:
            longer = next(file.name for file, line in zip(files, lines, strict=True) if line is not None)
            raise DatasetError(f"{ended[0]} has {number - 1} lines, and {longer} has more: lines must belong together")
        if number > _MOST_LINES:
            raise DatasetError(f"{source.name} has more than {_MOST_LINES:,} lines")
        (_, text), *others = lines
        references = [line for _, line in others]
        found.append(sample_of(f"{number - 1:05d}", {"text": {"text": text}}, None, {"texts": references}))
    return found


def _references(labels: NamedFile, dataset: PlannedDataset) -> Sequence[NamedFile]:
    if not labels.path.is_dir():
        return [labels]
    names = [
        name
        for name in list_files(labels.path)
        if not is_hidden(name) and fnmatch.fnmatchcase(Path(name).name, dataset.include)
    ]
    if not names:
        raise DatasetError(f"{labels.name} holds no file whose name matches `{dataset.include}`")
    return [NamedFile(labels.path / name, name) for name in names]
