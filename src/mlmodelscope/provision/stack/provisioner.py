"""What every kind of stack can do: be built from a recipe, and start a Python with what it needs.

A stack is started through a `Launch`, so that nobody but its provisioner knows whether a process, an emulator, another
system's loader or a container is behind it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from mlmodelscope.plan.plan import StackRecipe

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Needs:
    """What a program wants of the world outside its stack; a stack that is closed off gives just this."""

    environment: Mapping[str, str] = field(default_factory=dict)
    reads: tuple[Path, ...] = ()
    """Files and folders that it reads, by the paths that they have here."""
    writes: tuple[Path, ...] = ()
    folder: Path | None = None
    """Where it starts."""
    modules: Mapping[str, Path] = field(default_factory=dict)
    """Files and packages that a worker imports beside its own, by their place on its path."""
    gpu: bool = False
    network: bool = False


@dataclass(frozen=True)
class Launch:
    """A command, complete, and how to end what it started where killing it is not enough."""

    command: tuple[str, ...]
    environment: Mapping[str, str]
    stop: tuple[str, ...] | None = None
    reads: tuple[Path, ...] = ()
    """Folders without which it does not start."""
    is_confined: bool = False
    """Whether what it starts sees nothing of this machine but what it needs."""

    @property
    def variables(self) -> frozenset[str]:
        """Those of the environment that are the stack's own, not this process's."""
        return frozenset(name for name, value in self.environment.items() if os.environ.get(name) != value)


class Runnable(Protocol):
    """A stack that is there."""

    def launch(self, arguments: tuple[str, ...], needs: Needs) -> Launch:
        """How its Python is started with some arguments."""
        ...


class Provisioner(Protocol):
    """One kind of stack."""

    def build(self, recipe: StackRecipe, folder: Path, progress: Progress) -> None:
        """Fill a folder with what the recipe says."""
        ...

    def launch(self, recipe: StackRecipe, folder: Path, arguments: tuple[str, ...], needs: Needs) -> Launch:
        """Start a Python of the stack that lies in a folder."""
        ...

    def system_packages(self, folder: Path) -> dict[str, str]:
        """Packages of the operating system that came with it."""
        ...

    def is_whole(self, folder: Path) -> bool:
        """Whether what was built is still all there."""
        ...
