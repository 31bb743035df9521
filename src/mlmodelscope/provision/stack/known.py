"""The stacks that are known: what each brings, and which satisfies a constraint."""

from __future__ import annotations

import platform
import re
from dataclasses import dataclass

from mlmodelscope.errors import MLModelScopeError
from mlmodelscope.manifest.catalog import find_manifest, list_catalog
from mlmodelscope.manifest.schema import Framework, ModelManifest, SoftwareManifest
from mlmodelscope.manifest.version import Constraint, Version
from mlmodelscope.plan.framework import framework_word, same_framework
from mlmodelscope.plan.match import normal_architecture
from mlmodelscope.plan.stack import builder_packages
from mlmodelscope.plan.supported import is_supported
from mlmodelscope.plugins.predictors import PREDICTORS
from mlmodelscope.provision.stack.lock import package_of
from mlmodelscope_worker.builder.libraries import LIBRARIES
from mlmodelscope_worker.environment import normalise

_BUILDERS = {normalise(name) for library in LIBRARIES.values() for name in library.packages}


@dataclass(frozen=True)
class Known:
    """A catalogued stack, and the framework's package that it pins."""

    software: SoftwareManifest
    package: str
    version: Version

    @property
    def libraries(self) -> set[str]:
        """The libraries that build models, as far as the stack has them."""
        assert self.software.stack is not None
        brought = {package_of(line) for line in self.software.stack.requirements}
        return brought & _BUILDERS

    @property
    def order(self) -> tuple[int, Version]:
        """The best last. Versions of several packages cannot be compared: the predictor's first choice wins."""
        return -packages_of(self.software.framework).index(self.package), self.version


def known_software(model: ModelManifest) -> SoftwareManifest | None:
    """The catalogued stack whose framework satisfies the model's constraint: of several, the newest."""
    if model.framework is None:
        return None
    constraint, word = Constraint(model.framework.version), framework_word(model.framework)
    fitting = [
        each
        for each in known_stacks(model.framework)
        if constraint.matches(each.version, allow_prerelease=True) and is_supported(word, each.package, each.version)
    ]
    wanted = {normalise(name) for name in builder_packages(model)}
    ready = [each for each in fitting if wanted <= each.libraries]
    # Who needs no library gets the stack without, and who needs one gets what brings it, if there is such a stack.
    return max(ready or fitting, key=lambda each: (each.order, -len(each.libraries))).software if fitting else None


def known_stacks(framework: Framework) -> list[Known]:
    """Those of a framework that this machine can run by itself: emulation is for those who ask for it."""
    return known_by_framework(framework).get(framework_word(framework), [])


def known_by_framework(only: Framework | None = None) -> dict[str, list[Known]]:
    """The same for every framework, or for one, by the predictor's name."""
    found: dict[str, list[Known]] = {}
    for entry in list_catalog("software"):
        try:
            software = find_manifest(SoftwareManifest, entry.path)
        except MLModelScopeError:
            continue  # somebody's broken manifest is not what was asked for
        if software.framework is None or not (only is None or same_framework(software.framework, only)):
            continue
        if software.stack is not None and is_for_this_machine(software.stack.architecture):
            brought = brings(software)
            if brought is not None:
                found.setdefault(framework_word(software.framework), []).append(Known(software, *brought))
    return found


def packages_of(framework: Framework | None) -> list[str]:
    """The distributions that bring a framework."""
    declaration = PREDICTORS.get(framework_word(framework)) if framework is not None else None
    return [normalise(name) for name in declaration.packages] if declaration else []


def is_for_this_machine(architecture: str | None) -> bool:
    return architecture is None or normal_architecture(architecture) == normal_architecture(platform.machine())


def brings(software: SoftwareManifest) -> tuple[str, Version] | None:
    """(the framework's package, its version) of a stack, as its requirements pin it."""
    if software.framework is None or software.stack is None:
        return None
    names = packages_of(software.framework)
    for line in software.stack.requirements:
        name, _, version = line.partition(";")[0].partition(" --")[0].partition("==")
        if version and normalise(name.strip()) in names:
            return normalise(name.strip()), Version(version.strip(" ="))
    for package in software.stack.system_packages:  # Debian's python3-caffe is Caffe; its release fixes the version
        name = normalise(package.partition("=")[0].removeprefix("python3-"))
        number = re.search(r"\d[\d.]*", software.framework.version)
        if name in names and number:
            return name, Version(number[0].rstrip("."))
    return None
