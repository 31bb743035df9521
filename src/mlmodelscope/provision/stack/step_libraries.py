"""Libraries that a model's steps name, its code imports, or that build it: what a stack lacks is known, and added,
before it is built."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from pathlib import Path

from mlmodelscope.errors import PlanError
from mlmodelscope.manifest.schema import ModelManifest, SoftwareManifest, Stack
from mlmodelscope.plan.imports import imported_packages
from mlmodelscope.plan.stack import builder_packages
from mlmodelscope.provision.stack.known import brings
from mlmodelscope.provision.stack.lock import (
    Lock,
    NoSolution,
    lock_requirements,
    package_of,
    pinned_version,
    without_hashes,
)
from mlmodelscope.provision.stack.provisioner import Progress
from mlmodelscope.provision.stack.resolve import lock_within
from mlmodelscope.settings import Settings
from mlmodelscope_worker.environment import normalise
from mlmodelscope_worker.pipeline.library import PACKAGES


def lacking(model: ModelManifest, software: SoftwareManifest) -> tuple[str, ...]:
    """Packages that steps and code of the model need and that will not be in the stack.

    Only of a closed list of requirements can that be told: others may bring a library as a dependency, and a root file
    system as a package of its own.
    """
    stack = software.stack
    if stack is None or stack.root is not None or not all("--hash=" in line for line in stack.requirements):
        return ()
    brought = {package_of(line) for line in stack.requirements}
    steps = (*(step for each in model.inputs for step in each.processing), *model.answer)
    named = dict.fromkeys(step.parameters.get("library") for step in steps)
    wanted = [PACKAGES[library] for library in named if library in PACKAGES]
    wanted += [(name,) for name in builder_packages(model)]
    wanted += imported_packages(model)
    return tuple(dict.fromkeys(each[0] for each in wanted if not any(normalise(name) in brought for name in each)))


def refuse_lacking(model: ModelManifest, software: SoftwareManifest) -> None:
    """A stack that the user named is built as it is described, or not at all."""
    packages = lacking(model, software)
    if packages:
        raise PlanError(
            f"{software.reference} lacks {', '.join(packages)}, which {model.name} needs",
            hint=f"add {' and '.join(packages)} to `requirements` of a copy of its manifest; a stack that has them is "
            "made where you name none",
        )


def with_libraries(
    model: ModelManifest, software: SoftwareManifest, settings: Settings, progress: Progress
) -> SoftwareManifest:
    """The same stack with what the model's steps need beside it; made once and remembered."""
    packages, stack = lacking(model, software), software.stack
    if not packages or stack is None:
        return software
    here = platform.machine()
    key = json.dumps([software.reference, software.digest, *packages, here])
    remembered = settings.cache / "made-stacks" / f"{hashlib.sha256(key.encode()).hexdigest()}.json"
    if remembered.exists():
        return SoftwareManifest.model_validate_json(remembered.read_text())
    if settings.offline:
        raise PlanError(
            f"{software.reference} lacks {', '.join(packages)}, which {model.name} needs, "
            "and cannot get it without the network",
            hint=f"pip install {' '.join(packages)} brings it where this command runs",
        )
    progress(f"{software.reference} does not have {', '.join(packages)}; adding it for {model.name}")
    locked = _locked(software, stack, packages, only_wheels=settings.public_only)
    made = software.model_copy(
        update={
            "name": "-".join((software.name, *map(normalise, packages))),
            "description": f"{software.reference} with {', '.join(packages)}, which steps or code of models need.",
            "stack": stack.model_copy(update={"requirements": locked.requirements, "architecture": here}),
        }
    )
    text = made.model_dump_json()
    remember(text, remembered)
    return SoftwareManifest.model_validate_json(text)  # a copy would say that it is the file that it was made from


def _locked(software: SoftwareManifest, stack: Stack, packages: tuple[str, ...], *, only_wheels: bool) -> Lock:
    """All that the stack has with the packages beside it; where they do not go together, older companions.

    The framework keeps its release whatever comes beside it.
    """
    asked = [without_hashes(line) for line in stack.requirements]
    here = (platform.machine(),)
    try:
        return lock_requirements(
            [*asked, *packages],
            stack.python,
            here,
            index_url=stack.index_url,
            find_links=stack.find_links,
            only_wheels=only_wheels,
        )
    except NoSolution:
        found = brings(software)
        if found is None:
            raise
    framework = found[0]
    kept = [line for line in asked if package_of(line) == framework]
    others = {package_of(line): pinned_version(line) for line in asked if package_of(line) != framework}
    return lock_within(
        [*kept, *others, *packages],
        stack.python,
        {name: version for name, version in others.items() if version},
        index_url=stack.index_url,
        find_links=stack.find_links,
        only_wheels=only_wheels,
    )


def remember(text: str, place: Path) -> None:
    """Written aside and renamed: another process reads all of it, or nothing."""
    place.parent.mkdir(parents=True, exist_ok=True)
    draft = place.with_name(f"{place.name}.{os.getpid()}.draft")
    draft.write_text(text)
    draft.replace(place)
