"""Which stack a model runs in: the running Python where it will do, one that is described, or one that is known."""

from __future__ import annotations

from mlmodelscope.errors import MLModelScopeError
from mlmodelscope.manifest.catalog import find_manifest, list_catalog
from mlmodelscope.manifest.schema import ModelManifest, SoftwareManifest
from mlmodelscope.manifest.version import Constraint, Version
from mlmodelscope.plan.make import StackDescription, misfits, provides, same_framework
from mlmodelscope.plan.plan import StackRecipe
from mlmodelscope.provision.stack.current import describe_current
from mlmodelscope.provision.stack.venv import Progress, VenvStore
from mlmodelscope.settings import Settings


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
    """The newest catalogued stack whose framework satisfies the model's constraint."""
    if model.framework is None:
        return None
    constraint = Constraint(model.framework.version)
    fitting: list[tuple[Version, SoftwareManifest]] = []
    for entry in list_catalog("software"):
        try:
            software = find_manifest(SoftwareManifest, entry.path)
        except MLModelScopeError:
            continue  # somebody's broken manifest is not what was asked for
        version = _framework_version(software)
        if software.stack is None or version is None or software.framework is None:
            continue
        if same_framework(software.framework, model.framework) and constraint.matches(version, allow_prerelease=True):
            fitting.append((version, software))
    return max(fitting, key=lambda each: each[0])[1] if fitting else None


def _framework_version(software: SoftwareManifest) -> Version | None:
    """A stack brings one version; a manifest that only says a constraint brings none in particular."""
    if software.framework is None:
        return None
    try:
        return Version(software.framework.version)
    except MLModelScopeError:
        return None
