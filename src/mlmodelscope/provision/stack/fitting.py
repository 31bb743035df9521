"""Which stacks on this machine can run a model, and what its manifest is in each of them."""

from __future__ import annotations

from collections.abc import Iterator

from mlmodelscope.errors import MLModelScopeError
from mlmodelscope.manifest.catalog import find_manifest, list_catalog
from mlmodelscope.manifest.schema import ModelManifest, SoftwareManifest
from mlmodelscope.plan.framework import framework_word
from mlmodelscope.plan.readers import model_read_by, readers_of
from mlmodelscope.plan.stack import provides
from mlmodelscope.provision.stack.choose import recipe_of
from mlmodelscope.provision.stack.current import describe_current
from mlmodelscope.provision.stack.known import is_for_this_machine
from mlmodelscope.provision.stack.store import StackStore, digest_of
from mlmodelscope.settings import Settings

CURRENT = "current"
_ASKED_FOR = ("tensorrt",)
"""Frameworks that need a GPU: taken where their stack is asked for by name."""


def fitting_stacks(model: ModelManifest, settings: Settings) -> Iterator[str]:
    """The running Python, and the known stacks that are built already and read the model's file."""
    if provides(model, None, describe_current()):
        yield CURRENT
    own = framework_word(model.framework) if model.framework is not None else None
    readers = {name for name in readers_of(model) if name == own or name not in _ASKED_FOR}
    built = {each.digest for each in StackStore(settings).list()}
    for entry in list_catalog("software"):
        try:
            software = find_manifest(SoftwareManifest, entry.path)
        except MLModelScopeError:
            continue  # somebody's broken manifest is not what was asked for
        if software.framework is None or software.stack is None or not is_for_this_machine(software.stack.architecture):
            continue
        if framework_word(software.framework) in readers and digest_of(recipe_of(software)) in built:
            yield software.name


def model_for_stack(model: ModelManifest, name: str) -> ModelManifest:
    """The model as the stack's framework runs it; PlanError where that does not read it."""
    if name == CURRENT or name.startswith("image:"):
        return model
    return model_read_by(model, find_manifest(SoftwareManifest, name))[0]
