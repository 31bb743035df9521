"""A dataset format: a function that lists samples, and what it wants done before and after."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter

from mlmodelscope.dataset.sample import NamedFile, Unlabelled
from mlmodelscope.manifest.formats import BUILT_IN, GROUP
from mlmodelscope.plan.plan import PlannedDataset
from mlmodelscope.plugins.registry import Registry
from mlmodelscope_worker.registry import add

Read = Callable[[NamedFile, NamedFile | None, PlannedDataset], list[Unlabelled]]
"""The files of a source and those of its labels become samples."""


@dataclass(frozen=True)
class Format:
    name: str
    read: Read
    packed: bool = False
    """Whether its files may be compressed, or arrays of an `.npz`; a label file always may."""
    holds_labels: bool = False
    """Whether an `.npz` of samples holds their labels as well."""
    labeled: bool = True
    """Whether each sample has a label: the number or the name of a class."""
    has_targets: bool = False
    """Whether what is true of a sample is more than a class; then samples come with it."""
    counts_classes: bool = False
    """Whether a target is told how many classes `classes_url` lists (`labels.classes`)."""
    names_classes: bool = False
    """Whether labels are the names of classes, which are numbered in their order where no file lists them."""

    @property
    def meaning(self) -> str:
        return (self.read.__doc__ or "").partition("\n")[0]


FORMATS: Registry[Format] = Registry("dataset format", GROUP, {}, Format, attrgetter("read"), built_in=BUILT_IN)


def dataset_format(
    name: str,
    *,
    packed: bool = False,
    holds_labels: bool = False,
    labeled: bool = True,
    has_targets: bool = False,
    counts_classes: bool = False,
    names_classes: bool = False,
) -> Callable[[Read], Read]:
    """Register a function that reads a format; the first line of its docstring says what the format is."""

    def register(read: Read) -> Read:
        made = Format(
            name,
            read,
            packed=packed,
            holds_labels=holds_labels,
            labeled=labeled and not has_targets,
            has_targets=has_targets,
            counts_classes=counts_classes,
            names_classes=names_classes,
        )
        add(FORMATS.things, name, made, FORMATS.code)
        return read

    return register
