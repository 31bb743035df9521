"""Importers by name. One file each: what it recognises by content, and how it reads that."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any

from mlmodelscope.author.draft import Draft
from mlmodelscope.model_file.model_file import ModelFile
from mlmodelscope.plugins.registry import Registry
from mlmodelscope_worker.registry import add


@dataclass(frozen=True)
class Context:
    """What an importer may ask for beside its own file."""

    file: str
    """For messages and comments."""
    model: ModelFile | None = None
    model_name: str | None = None
    """Which of several models a file describes; the first by default."""
    launcher: str | None = None
    path: Path | None = None
    """Where the file lies."""
    so_far: Draft | None = None
    """What the importers before this one found."""


Recognise = Callable[[Mapping[str, Any]], bool]
Read = Callable[[Mapping[str, Any], Context], Draft]


@dataclass(frozen=True)
class Importer:
    name: str
    meaning: str
    recognise: Recognise
    read: Read


IMPORTERS: dict[str, Importer] = {}
REGISTRY: Registry[Importer] = Registry("importer", "importers", IMPORTERS, Importer, attrgetter("read"))


def importer(name: str, recognise: Recognise) -> Callable[[Read], Read]:
    """Register a reader; the first line of its docstring is its documentation."""

    def register(read: Read) -> Read:
        made = Importer(name, (read.__doc__ or "").split("\n")[0], recognise, read)
        add(IMPORTERS, name, made, REGISTRY.code)
        return read

    return register
