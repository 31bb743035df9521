"""Releases of a framework that package indexes have a wheel of, for this machine and a Python that is likely here."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable
from dataclasses import dataclass

from mlmodelscope.errors import StackError, VersionError
from mlmodelscope.manifest.schema import Framework
from mlmodelscope.manifest.version import Version
from mlmodelscope.plan.framework import framework_word
from mlmodelscope.plan.supported import is_supported
from mlmodelscope.provision.pip_settings import read_index_settings
from mlmodelscope.provision.python_index import list_files
from mlmodelscope.provision.stack.known import packages_of

_WHEEL = re.compile(
    r"(?P<name>[^-]+)-(?P<version>[^-]+)(-\d[^-]*)?-(?P<python>[^-]+)-(?P<abi>[^-]+)-(?P<platform>.+)\.whl"
)
_OLDEST = 6  # of Python 3: what the worker runs on
_NEWEST = 13


@dataclass(frozen=True)
class Release:
    """One release of a package that brings a framework."""

    package: str
    version: str
    minors: frozenset[int]
    """The Pythons 3.x that it has a wheel for."""
    is_supported: bool
    """Whether the predictor runs it."""

    @property
    def number(self) -> Version:
        return Version(self.version)


def list_releases(framework: Framework) -> list[Release]:
    """Every release, by package in the predictor's order, the newest first; StackError where no index answers."""
    word, found = framework_word(framework), []
    settings, refused = read_index_settings(), list[str]()
    for package in packages_of(framework):
        pythons: dict[str, set[int]] = {}
        for file in list_files(package, settings, refused):
            match = _WHEEL.fullmatch(file)
            if match and _runs_here(match["platform"]) and _is_version(match["version"]):
                pythons.setdefault(match["version"], set()).update(_minors(match["python"], match["abi"]))
        for version in sorted((each for each in pythons if pythons[each]), key=_age, reverse=True):
            supported = is_supported(word, package, Version(version))
            found.append(Release(package, version, frozenset(pythons[version]), supported))
    if not found and refused:
        raise StackError(f"no package index answers: {refused[0]}")
    return found


def nearest_version(constraint: str, versions: Iterable[Version]) -> Version | None:
    """Of some versions the one nearest to those that a constraint names; of two equally near ones the newer."""
    finished = sorted(each for each in versions if not each.semantic.prerelease)
    beside = []
    for wanted in _named_versions(constraint):  # 1.4 is nearer to 0.8 than 1.7 is: nothing lies between
        below = [each for each in finished if each <= wanted][-1:]
        above = [each for each in finished if each >= wanted][:1]
        beside += [(distance(each, wanted), _backwards(each), each) for each in (*below, *above)]
    if not beside:
        return finished[-1] if finished else None
    return min(beside, key=lambda each: each[:2])[2]


def _named_versions(constraint: str) -> list[Version]:
    """The versions that a constraint's text names: its ends, or the release that it pins."""
    return [Version(text) for text in re.findall(r"\d+(?:\.\d+)*", constraint)][:8]


def distance(one: Version, other: Version) -> tuple[int, ...]:
    return tuple(abs(mine - theirs) for mine, theirs in zip(numbers(one), numbers(other), strict=True))


def numbers(version: Version) -> tuple[int, int, int]:
    return version.semantic.major, version.semantic.minor, version.semantic.patch


def exactly(version: Version) -> str:
    """The constraint that a release satisfies and its neighbors do not; constraints see three numbers."""
    return "=" + ".".join(map(str, numbers(version)))


def _backwards(version: Version) -> tuple[int, ...]:
    return tuple(-each for each in numbers(version))


def _age(version: str) -> tuple[Version, int]:
    """Repaired files of a release come behind it, though constraints do not tell them apart."""
    post = re.search(r"post[-._]?(\d*)", version)
    return Version(version), int(post[1] or 0) + 1 if post else 0


def _is_version(text: str) -> bool:
    try:
        Version(text)
    except VersionError:
        return False
    return True


def _minors(python: str, abi: str) -> set[int]:
    """The Pythons that a wheel is for, of those that are likely to be had."""
    found: set[int] = set()
    for tag in python.split("."):
        match = re.fullmatch(r"(?:cp|py)3(\d+)?", tag)
        if match:
            first = int(match[1]) if match[1] else _OLDEST
            last = _NEWEST if abi == "abi3" or tag.startswith("py") else first
            found |= set(range(max(first, _OLDEST), last + 1))
    return found


def _runs_here(platforms: str) -> bool:
    return platforms == "any" or any(
        each.startswith(("manylinux", "linux")) and each.endswith(platform.machine()) for each in platforms.split(".")
    )
