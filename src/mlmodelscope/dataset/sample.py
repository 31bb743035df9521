"""A sample: what it is called, where its content is, and what it should be recognised as."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mlmodelscope.task.class_answer import ClassAnswer, label_of

Word = str | int | float
"""A label as its author wrote it: the number or the name of a class."""


@dataclass(frozen=True, slots=True)
class Sample:
    id: str
    content: Mapping[str, Any]
    """Where the worker finds it; the forms are described in `mlmodelscope_worker/sample.py`."""
    digest: str
    target: Any
    """What is true of it, in the form of its task, as JSON has it: a class number, a list of those that are all right,
    boxes, a picture …; or None."""

    @property
    def label(self) -> int | None:
        """The class, where that is what is true of it; of several that are right, the first."""
        first = self.target[0] if isinstance(self.target, list) and self.target else self.target
        return first if isinstance(first, int) else None

    def label_for(self, answer: ClassAnswer | None) -> int | None:
        """The class that it counts as, given what a model answered."""
        return None if self.label is None else label_of(self.target, answer)


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
