"""A stack for a constraint that no known one satisfies: the framework's newest fitting release, resolved and locked.

What is not the framework is taken from the known stacks around the release: the nearest one, then the nearest newer
one. Their versions are caps, since old frameworks seldom say which releases of their dependencies they no longer work
with; a cap that contradicts what the release demands gives way.
"""

from __future__ import annotations

import hashlib
import platform
import re
from pathlib import Path

from mlmodelscope.errors import StackError
from mlmodelscope.manifest.schema import Framework, SoftwareManifest, Stack
from mlmodelscope.manifest.version import Constraint
from mlmodelscope.provision.stack.known import Known, known_stacks, packages_of
from mlmodelscope.provision.stack.lock import Lock, NoSolution, lock_requirements, package_of, pinned_version
from mlmodelscope.provision.stack.provisioner import Progress
from mlmodelscope.provision.stack.relaxed import refusal
from mlmodelscope.provision.stack.releases import Release, distance, list_releases
from mlmodelscope.provision.stack.resolve import lock_within
from mlmodelscope.provision.stack.step_libraries import remember
from mlmodelscope.settings import Settings

_TRIES = 3
_BESIDE = (
    *("numpy", "pillow", "pip", "absl-py", "flatbuffers", "future", "protobuf", "six", "skops"),
    *("gguf", "jinja2", "sentencepiece", "torch"),
)
"""What a known stack may have without another package asking for it: what steps need, and what frameworks need and do
not declare (jax.export flatbuffers and once absl, Caffe2 protobuf and six, files of scikit-learn skops, transformers
what opens weights, tokenizers and chat templates)."""


def make_software(framework: Framework, settings: Settings, progress: Progress) -> SoftwareManifest | None:
    """A software manifest for a framework's constraint, made once and remembered.

    Nothing where no stack of the framework is known to start from, or without the network; StackError, which names the
    nearest release, where no release fits or the predictor runs none of those that do.
    """
    remembered = _place(framework, settings)
    if remembered.exists():
        return SoftwareManifest.model_validate_json(remembered.read_text())
    known = [each for each in known_stacks(framework) if each.software.stack and not each.software.stack.root]
    if not known or settings.offline:
        return None
    releases, constraint = list_releases(framework), Constraint(framework.version)
    fitting = [each for each in releases if constraint.matches(each.number)]
    if not any(each.is_supported for each in fitting):
        raise refusal(framework, releases, fitting)
    reasons = []
    for release in [each for each in fitting if each.is_supported][:_TRIES]:
        asked = f"{framework.name} {framework.version}"
        progress(f"no known stack has {asked}; making one of {release.package} {release.version}")
        try:
            made = _make(framework, release, known, only_wheels=settings.public_only)
        except StackError as error:
            reasons.append(f"{release.package} {release.version}: {error.message.splitlines()[-1]}")
            continue
        remember(made.model_dump_json(), remembered)
        return made
    raise StackError(f"no stack can be made for {framework.name} {framework.version}:\n" + "\n".join(reasons))


def _make(framework: Framework, release: Release, known: list[Known], *, only_wheels: bool) -> SoftwareManifest:
    around = _around(release, known)
    lock, nearest, python = _locked(release, around, only_wheels)
    base = nearest.software.stack
    assert base is not None
    return SoftwareManifest(
        name=f"{release.package}-{release.version}",
        version="1.0.0",
        description=f"Made for {framework.name} {framework.version}, after {nearest.software.reference}.",
        framework=Framework(name=framework.name, version=framework.version),
        env=nearest.software.env,
        stack=Stack(
            python=python,
            architecture=platform.machine(),
            requirements=lock.requirements,
            system_packages=base.system_packages,
            library_names=base.library_names,
        ),
    )


def _locked(release: Release, around: list[Known], only_wheels: bool) -> tuple[Lock, Known, str]:
    """With all caps of one of the neighbors, or with those of the nearest that the release leaves."""
    beside = _beside(around, release.package)
    for each in around:
        python, asked, caps = _asked(release, each, beside)
        try:
            constraints = [f"{name}<={version}" for name, version in caps.items()]
            lock = lock_requirements(
                asked, python, (platform.machine(),), constraints=constraints, only_wheels=only_wheels
            )
            return lock, each, python
        except NoSolution:
            continue
    python, asked, caps = _asked(release, around[0], beside)
    return lock_within(asked, python, caps, only_wheels=only_wheels), around[0], python


def _beside(around: list[Known], package: str) -> list[str]:
    """What one of the neighbors has that nobody may ask for."""
    stacks = [each.software.stack for each in around]
    names = {package_of(line) for stack in stacks if stack is not None for line in stack.requirements}
    return [name for name in _BESIDE if name in names - {package}]


def _asked(release: Release, neighbor: Known, beside: list[str]) -> tuple[str, list[str], dict[str, str]]:
    """Python, requirements and caps, as a neighbor has them."""
    stack = neighbor.software.stack
    assert stack is not None
    ours = {release.package, neighbor.package, *packages_of(neighbor.software.framework)}
    pins = {package_of(line): pinned_version(line) for line in stack.requirements}
    caps = {name: version for name, version in pins.items() if version and name not in ours}
    return _python(neighbor, release.minors), [f"{release.package}==={release.version}", *beside], caps


def likely_minor(release: Release, known: list[Known]) -> int:
    """The Python 3.x that a stack of a release is made on first."""
    return int(_python(_around(release, known)[0], release.minors).partition(".")[2])


def _around(release: Release, known: list[Known]) -> list[Known]:
    """The nearest known stack, and the nearest newer one where that is another."""

    def away(each: Known) -> tuple[int, ...]:
        return distance(each.version, release.number)

    nearest = min(known, key=away)
    newer = min((each for each in known if each.version > release.number), key=away, default=nearest)
    return [nearest] if newer is nearest else [nearest, newer]


def _python(neighbor: Known, minors: frozenset[int]) -> str:
    """The Python nearest to that of a neighbor: what lies around a framework is of the same years."""
    assert neighbor.software.stack is not None
    number = re.search(r"3\.(\d+)", neighbor.software.stack.python)
    wanted = int(number[1]) if number else max(minors)
    return f"3.{min(minors, key=lambda minor: (abs(minor - wanted), -minor))}"


def _place(framework: Framework, settings: Settings) -> Path:
    key = f"{framework.name.lower()} {framework.version} {platform.machine()}"
    return settings.cache / "made-stacks" / f"{hashlib.sha256(key.encode()).hexdigest()}.json"
