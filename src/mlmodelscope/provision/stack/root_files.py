"""What lies where in a root file system."""

from __future__ import annotations

import re
from pathlib import Path

from mlmodelscope.errors import StackError
from mlmodelscope.manifest.version import Version
from mlmodelscope.provision.stack.architecture import Architecture

_PYTHON = re.compile(r"python3\.\d+")
_SHARED = re.compile(r"lib.+\.so(\.|$)")
_LINEAR_ALGEBRA = ("openblas", "blis", "atlas", "blas", "lapack")
"""Libraries that come in several makes, each in a folder of its own; a system's scripts would link the best."""


def find_python(root: Path) -> Path:
    """The newest Python of a root file system."""
    found = [path for path in (root / "usr" / "bin").glob("python3.*") if _PYTHON.fullmatch(path.name)]
    if not found:
        raise StackError("the root file system has no Python 3", hint="name its package, python3")
    return max(found, key=lambda path: Version(path.name.removeprefix("python")))


def library_path(root: Path, architecture: Architecture) -> list[Path]:
    """Folders with shared libraries, relative to the root; of several makes of one library the fastest first."""
    usual = [Path("lib") / architecture.triplet, Path("usr/lib") / architecture.triplet, Path("usr/lib")]
    beside = [
        each.relative_to(root)
        for each in sorted((root / "usr/lib" / architecture.triplet).glob("*"))
        if each.is_dir() and any(_SHARED.match(file.name) for file in each.iterdir())
    ]
    return [*sorted(filter(_is_linear_algebra, beside), key=_rank), *usual, *_others(beside)]


def module_path(folder: Path) -> list[Path]:
    """Folders with Python packages: our own first, then the system's."""
    places = (folder / "packages", folder / "root" / "usr" / "lib" / "python3" / "dist-packages")
    return [place for place in places if place.is_dir()]


def _is_linear_algebra(folder: Path) -> bool:
    return folder.name.startswith(_LINEAR_ALGEBRA)


def _rank(folder: Path) -> tuple[int, str]:
    return next(number for number, make in enumerate(_LINEAR_ALGEBRA) if folder.name.startswith(make)), folder.name


def _others(folders: list[Path]) -> list[Path]:
    return [each for each in folders if not _is_linear_algebra(each)]
