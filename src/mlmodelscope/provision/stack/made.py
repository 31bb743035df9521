"""A stack for a constraint that no known one satisfies: the framework's newest fitting release, resolved and locked.

What is not the framework is taken from the nearest known stack, whose versions are the newest that are allowed: old
frameworks seldom say which releases of their dependencies they no longer work with.
"""

from __future__ import annotations

import hashlib
import platform
import re
from collections.abc import Iterator
from pathlib import Path

from mlmodelscope.errors import StackError
from mlmodelscope.manifest.schema import Framework, SoftwareManifest, Stack
from mlmodelscope.manifest.version import Constraint, Version
from mlmodelscope.provision.pip_settings import read_index_settings
from mlmodelscope.provision.python_index import list_files
from mlmodelscope.provision.stack.known import Known, known_stacks, packages_of
from mlmodelscope.provision.stack.lock import lock_requirements
from mlmodelscope.provision.stack.provisioner import Progress
from mlmodelscope.settings import Settings
from mlmodelscope_worker.environment import normalise

_WHEEL = re.compile(
    r"(?P<name>[^-]+)-(?P<version>[^-]+)(-\d[^-]*)?-(?P<python>[^-]+)-(?P<abi>[^-]+)-(?P<platform>.+)\.whl"
)
_TRIES = 3
_OLDEST = 6  # of Python 3: what the worker runs on


def make_software(framework: Framework, settings: Settings, progress: Progress) -> SoftwareManifest | None:
    """A software manifest for a framework's constraint, made once and remembered; nothing where no release fits."""
    remembered = _place(framework, settings)
    if remembered.exists():
        return SoftwareManifest.model_validate_json(remembered.read_text())
    known = [each for each in known_stacks(framework) if each.software.stack and not each.software.stack.root]
    if not known or settings.offline:
        return None
    reasons = []
    for package, version, minors in list(_releases(framework))[:_TRIES]:
        progress(f"no known stack has {framework.name} {framework.version}; making one of {package} {version}")
        nearest = min(known, key=lambda each: _distance(each.version, Version(version)))
        try:
            python = _python(nearest, minors)
            made = _make(framework, package, version, python, nearest, only_wheels=settings.public_only)
        except StackError as error:
            reasons.append(f"{package} {version}: {error.message.splitlines()[-1]}")
            continue
        remembered.parent.mkdir(parents=True, exist_ok=True)
        draft = remembered.with_suffix(".draft")
        draft.write_text(made.model_dump_json())
        draft.replace(remembered)
        return made
    if reasons:
        raise StackError(f"no stack can be made for {framework.name} {framework.version}:\n" + "\n".join(reasons))
    return None


def _make(
    framework: Framework, package: str, version: str, python: str, nearest: Known, *, only_wheels: bool
) -> SoftwareManifest:
    base = nearest.software.stack
    assert base is not None
    others = [
        (name, pinned) for name, pinned in map(_pin, base.requirements) if pinned and normalise(name) != nearest.package
    ]
    beside = [f"{name}<={pinned}" for name, pinned in others if normalise(name) in ("numpy", "pillow", "pip")]
    bounds = [f"{name}<={pinned}" for name, pinned in others]
    here = platform.machine()
    lock = lock_requirements(
        [f"{package}==={version}", *beside], python, (here,), constraints=bounds, only_wheels=only_wheels
    )
    return SoftwareManifest(
        name=f"{package}-{version}",
        version="1.0.0",
        description=f"Made for {framework.name} {framework.version}, after {nearest.software.reference}.",
        framework=Framework(name=framework.name, version=framework.version),
        env=nearest.software.env,
        stack=Stack(
            python=python,
            architecture=here,
            requirements=lock.requirements,
            system_packages=base.system_packages,
            library_names=base.library_names,
        ),
    )


def _releases(framework: Framework) -> Iterator[tuple[str, str, set[int]]]:
    """(package, version, Pythons 3.x) of every release that fits and has a wheel for this machine, the newest first."""
    constraint = Constraint(framework.version)
    for package in packages_of(framework):
        pythons: dict[str, set[int]] = {}
        for file in list_files(package, read_index_settings()):
            match = _WHEEL.fullmatch(file)
            if match and _runs_here(match["platform"]):
                pythons.setdefault(match["version"], set()).update(_minors(match["python"], match["abi"]))
        versions = [each for each in pythons if pythons[each] and constraint.matches(Version(each))]
        for version in sorted(versions, key=Version, reverse=True):
            yield package, version, pythons[version]


def _python(nearest: Known, minors: set[int]) -> str:
    """The Python nearest to that of the nearest stack: what lies around a framework is of the same years."""
    assert nearest.software.stack is not None
    number = re.search(r"3\.(\d+)", nearest.software.stack.python)
    wanted = int(number[1]) if number else max(minors)
    return f"3.{min(minors, key=lambda minor: (abs(minor - wanted), -minor))}"


def _minors(python: str, abi: str) -> set[int]:
    """The Pythons that a wheel is for, of those that are likely to be had."""
    newest = 13
    found: set[int] = set()
    for tag in python.split("."):
        match = re.fullmatch(r"(?:cp|py)3(\d+)?", tag)
        if match:
            first = int(match[1]) if match[1] else _OLDEST
            last = newest if abi == "abi3" or tag.startswith("py") else first
            found |= set(range(max(first, _OLDEST), last + 1))
    return found


def _runs_here(platforms: str) -> bool:
    return platforms == "any" or any(
        each.startswith(("manylinux", "linux")) and each.endswith(platform.machine()) for each in platforms.split(".")
    )


def _pin(line: str) -> tuple[str, str]:
    name, _, version = line.partition(";")[0].partition(" --")[0].partition("==")
    return name.strip().partition("[")[0], version.strip(" =")


def _distance(one: Version, other: Version) -> tuple[int, ...]:
    return tuple(abs(mine - theirs) for mine, theirs in zip(_numbers(one), _numbers(other), strict=True))


def _numbers(version: Version) -> tuple[int, int, int]:
    first, second, third = ([int(each) for each in re.findall(r"\d+", str(version))[:3]] + [0, 0, 0])[:3]
    return first, second, third


def _place(framework: Framework, settings: Settings) -> Path:
    key = f"{framework.name.lower()} {framework.version} {platform.machine()}"
    return settings.cache / "made-stacks" / f"{hashlib.sha256(key.encode()).hexdigest()}.json"
