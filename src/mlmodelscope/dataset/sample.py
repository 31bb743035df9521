"""A sample: what it is called, where its content is, and what it should be recognised as."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Sample:
    id: str
    content: Mapping[str, Any]
    """Where the worker finds it; the forms are described in `mlmodelscope_worker/sample.py`."""
    digest: str
    label: int | None


@dataclass(frozen=True, slots=True)
class Unlabelled:
    """A sample as a format finds it: its label is still the author's word for it."""

    id: str
    content: Mapping[str, Any]
    word: str | int | None
    digest: str = ""
    """Left empty for files, which are hashed together."""


@dataclass(frozen=True)
class Dataset:
    samples: list[Sample]
    classes: list[str]
    """Names of the classes by number, where the dataset knows them."""
