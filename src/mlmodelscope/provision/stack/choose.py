"""Which stack a model runs in: the running Python where it will do, one that is described, or one that is known."""

from __future__ import annotations

from mlmodelscope.errors import MLModelScopeError
from mlmodelscope.manifest.catalog import find_manifest, list_catalog
from mlmodelscope.manifest.schema import ModelManifest, SoftwareManifest
from mlmodelscope.manifest.version import Constraint, Version
from mlmodelscope.plan.make import StackDescription, framework_word, misfits, provides, same_framework
from mlmodelscope.plan.plan import StackRecipe
from mlmodelscope.provision.stack.current import describe_current
from mlmodelscope.provision.stack.venv import Progress, VenvStore
from mlmodelscope.settings import Settings
from mlmodelscope_worker.environment import normalise
from mlmodelscope_worker.predictor import PREDICTORS


def choose_stack(
    model: ModelManifest, software: SoftwareManifest | None, settings: Settings, progress: Progress = lambda line: None
) -> tuple[SoftwareManifest | None, StackDescription]:
    """The stack for a model, built where it is not there yet, and the software manifest that describes it."""
    current = describe_current()
    if software is None and not provides(model, None, current):
        software = known_software(model)
        if software is not None:
            progress(f"this Python does not have what {model.name} needs; {software.reference} does")
    if software is None or software.stack is None:
        return software, current
    if not misfits(software, current) and provides(model, software.framework, current):
        return software, current
    return software, VenvStore(settings).build(recipe_of(software), software.reference, progress).description


def recipe_of(software: SoftwareManifest) -> StackRecipe:
    stack = software.stack
    assert stack is not None
    return StackRecipe(
        python=stack.python,
        requirements=stack.requirements,
        find_links=stack.find_links,
        index_url=stack.index_url,
    )


def known_software(model: ModelManifest) -> SoftwareManifest | None:
    """The catalogued stack whose framework satisfies the model's constraint: of several, the newest.

    Where a framework comes in several packages, whose versions cannot be compared, the predictor's first choice wins.
    """
    if model.framework is None:
        return None
    constraint = Constraint(model.framework.version)
    fitting: list[tuple[int, Version, SoftwareManifest]] = []
    for entry in list_catalog("software"):
        try:
            software = find_manifest(SoftwareManifest, entry.path)
        except MLModelScopeError:
            continue  # somebody's broken manifest is not what was asked for
        if software.framework is None or not same_framework(software.framework, model.framework):
            continue
        brought = _brings(software)
        if brought is not None and constraint.matches(brought[1], allow_prerelease=True):
            fitting.append((-brought[0], brought[1], software))
    return max(fitting, key=lambda each: each[:2])[2] if fitting else None


def _brings(software: SoftwareManifest) -> tuple[int, Version] | None:
    """(which of the framework's packages, its version) of a stack, as its requirements pin it."""
    if software.framework is None or software.stack is None:
        return None
    declaration = PREDICTORS.get(framework_word(software.framework))
    names = [normalise(name) for name in declaration.packages] if declaration else []
    for line in software.stack.requirements:
        name, _, version = line.partition(";")[0].partition(" --")[0].partition("==")
        if version and normalise(name.strip()) in names:
            return names.index(normalise(name.strip())), Version(version.strip())
    return None
