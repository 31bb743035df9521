"""A sample: what it is called, where its content is, and what it should be recognised as."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Word = str | int | float
"""A label as its author wrote it: the number or the name of a class."""


@dataclass(frozen=True, slots=True)
class Sample:
    id: str
    content: Mapping[str, Any]
    """Where the worker finds it; the forms are described in `mlmodelscope_worker/sample.py`."""
    digest: str
    target: Any
    """What is true of it, in the form of its task, as JSON has it: a class number, boxes, a picture …; or None."""

    @property
    def label(self) -> int | None:
        """The class, where that is what is true of it."""
        return self.target if isinstance(self.target, int) else None


@dataclass(frozen=True, slots=True)
class Unlabelled:
    """A sample as a format finds it: its label is still the author's word for it, unless it has a target already."""

    id: str
    content: Mapping[str, Any]
    word: Word | None
    digest: str = ""
    """Left empty for files, which are hashed together."""
    target: Any = None
    """What is true of it, where that is more than a word."""


class Listing(list[Unlabelled]):
    """Samples, and the names of the classes that their targets are numbered by."""

    def __init__(self, samples: Iterable[Unlabelled], classes: Sequence[str]) -> None:
        super().__init__(samples)
        self.classes = list(classes)


@dataclass(frozen=True)
class Dataset:
    samples: list[Sample]
    classes: list[str]
    """Names of the classes by number, where the dataset knows them."""


@dataclass(frozen=True)
class NamedFile:
    """A file or folder: where it lies here, which may be a digest in the cache, and what its author calls it."""

    path: Path
    name: str
