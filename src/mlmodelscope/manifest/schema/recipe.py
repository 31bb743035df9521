"""The texts of a stack's recipe: each is handed to a package manager, so each must be what it is called and no more."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, Field

_PINNED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*===?[A-Za-z0-9][A-Za-z0-9.+!_-]*(?: --hash=sha256:[0-9a-f]{64})*")
"""What locked recipes are made of: nothing needs to be parsed for these."""
_HASH = re.compile(r"\s+--hash=(?:sha256:[0-9a-f]{64}|sha384:[0-9a-f]{96}|sha512:[0-9a-f]{128})(?=\s|$)")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\u0085\u2028\u2029]")
_PACKAGE = re.compile(r"[a-z0-9][a-z0-9+.-]+(?::[a-z0-9-]+)?(?:=[A-Za-z0-9][A-Za-z0-9.+~:-]*)?")
_LIBRARY = re.compile(r"[A-Za-z0-9_+-][A-Za-z0-9._+-]*")


def hashes_of(line: str) -> tuple[str, ...]:
    return tuple(each.strip().removeprefix("--hash=") for each in _HASH.findall(line))


def without_hashes(line: str) -> str:
    return _HASH.sub("", line).strip()


def _requirement(line: str) -> str:
    if _PINNED.fullmatch(line):
        return line
    if _CONTROL.search(line):
        raise ValueError("a requirement is one line, with no control characters")
    from packaging.requirements import InvalidRequirement, Requirement  # few manifests have such a line

    bare = without_hashes(line)
    if bare.startswith("-") or " --" in bare:
        raise ValueError(f"`{bare}` has an option of pip's; a requirement is a package, its version and hashes")
    try:
        Requirement(bare)
    except InvalidRequirement:
        raise ValueError(
            f"`{bare}` is no requirement: a package and its version, such as `numpy==1.26.4`, is one; a path is not"
        ) from None
    return line


def _package(name: str) -> str:
    if not _PACKAGE.fullmatch(name):
        raise ValueError(
            f"`{name}` is no name of a Debian package: those are of small letters, digits and + . -, "
            "with `:architecture` and `=version` behind them where needed"
        )
    return name


def _library(name: str) -> str:
    if not _LIBRARY.fullmatch(name):
        raise ValueError(f"`{name}` is no file name of a library, such as `libmpi.so.12`: it has no folder in it")
    return name


RequirementText = Annotated[str, Field(min_length=1, max_length=65_536), AfterValidator(_requirement)]
PackageText = Annotated[str, Field(min_length=2, max_length=300), AfterValidator(_package)]
LibraryText = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_library)]
