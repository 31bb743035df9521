"""Samples that a list names, out of a folder that holds others as well: VOC's sets, for example."""

from __future__ import annotations

from pathlib import PurePosixPath

from mlmodelscope.dataset.sample import Listing, NamedFile, Unlabelled
from mlmodelscope.dataset.text import read_lines, read_text
from mlmodelscope.errors import DatasetError

_SHOWN = 10


def listed_names(file: NamedFile) -> list[str]:
    """The first word of each line that has one; the second, where there is one, is a mark such as VOC's 1 and -1."""
    names = [line.split()[0] for line in read_lines(read_text(file)) if line.strip()]
    if not names:
        raise DatasetError(f"{file.name} lists no names")
    return names


def only_listed(samples: list[Unlabelled], names: NamedFile, dataset: str) -> list[Unlabelled]:
    """The samples whose id is listed, with its ending or without; each name on the list must have one."""
    wanted = dict.fromkeys(listed_names(names))
    found, seen = [], set()
    for each in samples:
        stem = str(PurePosixPath(each.id).with_suffix("")) if each.id else ""
        name = each.id if each.id in wanted else stem
        if name in wanted:
            found.append(each)
            seen.add(name)
    missing = [name for name in wanted if name not in seen]
    if missing:
        shown = ", ".join(name[:100] for name in missing[:_SHOWN])
        raise DatasetError(f"{len(missing)} names of {names.name} are not among the files of {dataset}: {shown}")
    return Listing(found, samples.classes) if isinstance(samples, Listing) else found
