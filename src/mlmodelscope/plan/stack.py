"""The stack that a plan runs in: whether it fits, and which of its packages could change an answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mlmodelscope.errors import PlanError
from mlmodelscope.manifest.schema import Framework, ModelManifest, SoftwareManifest, Step
from mlmodelscope.manifest.schema.builder import packages_of_builder
from mlmodelscope.manifest.version import Constraint, Version
from mlmodelscope.plan.framework import framework_word, needs_framework
from mlmodelscope.plan.imports import imported_packages, unknown_imports
from mlmodelscope.plan.plan import PlannedStack, StackRecipe
from mlmodelscope.plan.supported import is_supported, supported_versions
from mlmodelscope.plugins.predictors import PREDICTORS
from mlmodelscope_worker.environment import normalise
from mlmodelscope_worker.pipeline.library import PACKAGES


@dataclass(frozen=True)
class StackDescription:
    """What a stack has, as far as a plan must know."""

    name: str
    python: str
    packages: Mapping[str, str]
    recipe: StackRecipe | None = None
    """How it was built, for a stack that can be built again."""


def plan_stack(
    model: ModelManifest,
    framework: Framework | None,
    predictor: str | None,
    steps: tuple[Step, ...],
    stack: StackDescription,
    software: SoftwareManifest | None,
    carries_code: bool,
    relax: bool = False,
) -> PlannedStack:
    """`relax` takes another release of the framework than the manifest asks for, and keeps which one was asked for."""
    used, relaxed = {"numpy": stack.packages.get("numpy", "")}, None
    if predictor is not None:
        assert framework is not None
        found, relaxed = _framework_version(model, framework, predictor, stack, relax)
        used |= found
    for name in builder_packages(model):
        used[name] = stack.packages.get(normalise(name), "")
    for step in steps:
        library = step.parameters.get("library")
        if library is not None:
            used |= _library_version(library, stack)
    missing = sorted(name for name, version in used.items() if not version)
    if missing:
        raise PlanError(f"{_the(stack)} lacks {', '.join(missing)}", hint=f"pip install {' '.join(missing)}")
    if carries_code:  # code may import anything, so anything may change the answer
        used = dict(stack.packages)
    _refuse_stack(software, stack)
    environment = {**(software.env if software else {}), **model.envvars}
    return PlannedStack(
        name=stack.name,
        python=stack.python,
        packages=used,
        environment=environment,
        recipe=stack.recipe,
        relaxed=relaxed,
    )


def notes_on_stack(model: ModelManifest, stack: PlannedStack) -> tuple[str, ...]:
    """What a reader of the record must know: another release than the one that is pinned, imports nobody brings."""
    notes = []
    if stack.relaxed is not None:
        notes.append(f"{model.name} asks for {stack.relaxed}; `--relax-framework` let {stack.name} run it instead")
    names = unknown_imports(model)
    if names:
        notes.append(f"the code of {model.name} imports {', '.join(names)}, which no package that we know brings")
    return tuple(notes)


def builder_packages(model: ModelManifest) -> tuple[str, ...]:
    """The distributions of the library that builds a model; none for a model that is a file."""
    return packages_of_builder(model.source.builder) if model.source is not None else ()


def _the(stack: StackDescription) -> str:
    return "this Python" if stack.recipe is None else f"the stack {stack.name}"


def refuse_release(model: ModelManifest, framework: Framework, stack: StackDescription, relax: bool) -> None:
    """PlanError where the release of the framework is not what the model asks for, or what the predictor runs."""
    if needs_framework(model, framework) and framework_word(framework) in PREDICTORS:
        _framework_version(model, framework, framework_word(framework), stack, relax)


def _framework_version(
    model: ModelManifest, framework: Framework, predictor: str, stack: StackDescription, relax: bool
) -> tuple[dict[str, str], str | None]:
    """The framework's package with its version; and what was asked for, where that is another version."""
    alternatives = PREDICTORS[predictor].packages
    found = next((name for name in alternatives if normalise(name) in stack.packages), None)
    if found is None:
        if not alternatives:
            return {}, None
        raise PlanError(
            f"{model.name} needs {predictor}, which {_the(stack)} does not have",
            hint=f"pip install {alternatives[0]}, or name a stack that has it: mlmodelscope stacks lists them",
        )
    version = stack.packages[normalise(found)]
    if not is_supported(predictor, found, Version(version)):
        declared = supported_versions(predictor, found)
        raise PlanError(
            f"{_the(stack)} has {found} {version}, and the predictor `{predictor}` runs {declared}",
            hint="name a stack that has such a version: mlmodelscope stacks lists them",
        )
    constraint = Constraint(framework.version)
    if constraint.matches(Version(version), allow_prerelease=True):
        return {found: version}, None
    if relax:
        return {found: version}, f"{framework.name} {constraint}"
    raise PlanError(
        f"{model.name} needs {framework.name} {constraint}, {_the(stack)} has {found} {version}",
        hint=f"pip install '{found}' in a version that satisfies {constraint}, name a stack that has one, or take this "
        "one with --relax-framework",
    )


def _library_version(library: str, stack: StackDescription) -> dict[str, str]:
    """The distribution that brings a library here, with its version; no version where there is none."""
    for name in PACKAGES[library]:
        version = stack.packages.get(normalise(name))
        if version:
            return {name: version}
    return {PACKAGES[library][0]: ""}


def _refuse_stack(software: SoftwareManifest | None, stack: StackDescription) -> None:
    reasons = misfits(software, stack) if software is not None else []
    if reasons:
        assert software is not None
        raise PlanError(
            f"{stack.name} is not what {software.reference} describes\n" + "\n".join(f"- {each}" for each in reasons)
        )


def misfits(software: SoftwareManifest, stack: StackDescription) -> list[str]:
    """In what a stack is not what a software manifest describes."""
    if software.stack is None:
        return []
    root = stack.recipe.root if stack.recipe is not None else None
    if root != software.stack.root:
        return [f"a stack in {software.stack.root} is asked for"]
    if stack.recipe is not None and stack.recipe.requirements == software.stack.requirements:
        return []  # built from it; a wheel may call itself 2.7 where the index says 2.7.post2
    reasons = []
    if not Constraint(software.stack.python).matches(Version(stack.python), allow_prerelease=True):
        reasons.append(f"Python {software.stack.python} is asked for, this is {stack.python}")
    for requirement in software.stack.requirements:
        pinned = requirement.partition(";")[0].partition(" --")[0].strip()
        name, _, version = pinned.partition("==")
        have = stack.packages.get(normalise(name.strip().partition("[")[0]))
        if version and have != version.strip(" ="):
            reasons.append(f"{pinned} is asked for, there is {have or 'none'}")
    return reasons


def provides(model: ModelManifest, framework: Framework | None, stack: StackDescription) -> bool:
    """Whether a stack has the framework that a model needs, in a version that will do."""
    needed = framework or model.framework
    if needed is None or not needs_framework(model, needed):
        return True
    if any(normalise(name) not in stack.packages for name in builder_packages(model)):
        return False
    if any(all(normalise(name) not in stack.packages for name in each) for each in imported_packages(model)):
        return False
    predictor = framework_word(needed)
    if predictor not in PREDICTORS:
        return False
    found = [name for name in PREDICTORS[predictor].packages if normalise(name) in stack.packages]
    if not found:
        return not PREDICTORS[predictor].packages
    version = Version(stack.packages[normalise(found[0])])
    return is_supported(predictor, found[0], version) and Constraint(needed.version).matches(
        version, allow_prerelease=True
    )
