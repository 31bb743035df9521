"""What an agent publishes: its machine, the stacks it has or can build, the frameworks in them, cached models."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer

from mlmodelscope.errors import MLModelScopeError
from mlmodelscope.manifest.catalog import find_manifest, list_catalog
from mlmodelscope.manifest.schema import ModelManifest, SoftwareManifest
from mlmodelscope.plan.framework import framework_word
from mlmodelscope.plugins.predictors import PREDICTORS
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.provision.machine import Description, available_cores, describe
from mlmodelscope.provision.machine.cpu import cpu_name
from mlmodelscope.provision.stack import StackStore, describe_current, recipe_of, worker_digest
from mlmodelscope.provision.stack.known import brings, is_for_this_machine
from mlmodelscope.settings import Settings
from mlmodelscope_worker import __version__
from mlmodelscope_worker.environment import normalise


class Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Offer(Part):
    """A stack, and a framework in it."""

    stack: str = Field(description="`current` is the Python that the agent runs in.")
    framework: str
    version: str
    state: Literal["built", "buildable"]


Release = Annotated[str, Field(max_length=100)]
Makes = Annotated[dict[str, Annotated[tuple[Release, ...], Field(max_length=1000)]], Field(max_length=100)]


class AgentDescription(Part):
    id: str
    version: str = Field(description="Of MLModelScope.")
    worker_digest: str = Field(description="Digest of the worker's source: the same answers come from the same worker.")
    python: str
    machine: Description
    cpu: str = Field(description="What records call the processor.")
    offers: tuple[Offer, ...] = ()
    makes: Makes = Field(
        default={},
        description="Releases of frameworks that it has no stack of and can make one of, by framework.",
    )
    models: tuple[str, ...] = Field(default=(), description="Models whose files are there already.")
    labels: dict[str, str] = {}
    slots: int = Field(default=1, description="Evaluations that may run side by side; timed ones run alone.")
    trusts: bool = Field(default=False, description="Whether it runs code in manifests for those who may ask for it.")
    remote: str | None = Field(default=None, description="Address of a server that it speaks for.")
    away: str | None = Field(default=None, description="Why it can do nothing just now: that server does not answer.")

    # Without a return type: pydantic would take it for the schema that the API publishes.
    @model_serializer(mode="wrap")
    def _for_older_servers(self, write: SerializerFunctionWrapHandler):  # type: ignore[no-untyped-def]
        """Servers of older releases refuse what they do not know."""
        written = write(self)
        if not self.makes:
            written.pop("makes", None)
        return written


def describe_agent(
    settings: Settings,
    *,
    name: str | None = None,
    labels: dict[str, str] | None = None,
    slots: int | None = None,
    trusts: bool = False,
) -> AgentDescription:
    return AgentDescription(
        id=name or f"{socket.gethostname()}-{os.getuid()}",
        version=__version__,
        worker_digest=worker_digest(),
        python=describe_current().python,
        machine=describe(),
        cpu=cpu_name(Path("/")),
        offers=tuple(_offers(settings)),
        models=tuple(_models(settings)),
        labels=labels or {},
        slots=slots or max(1, available_cores() // 2),
        trusts=trusts,
    )


def _models(settings: Settings) -> list[str]:
    """Those of this machine's catalogue whose files need not be fetched."""
    store, found = ArtifactStore(settings), set()
    for entry in list_catalog("models"):
        try:
            source = find_manifest(ModelManifest, entry.path).source
        except MLModelScopeError:
            continue
        if source is None:
            continue
        files = [(source.graph_path, source.graph_checksum), (source.weights_path, source.weights_checksum)]
        if all(store.is_at_hand(path, checksum) for path, checksum in files if path):
            found.add(entry.name)
    return sorted(found)


def _offers(settings: Settings) -> list[Offer]:
    current = describe_current().packages
    found = []
    for name, declaration in PREDICTORS.all().items():
        version = next((current[normalise(each)] for each in declaration.packages if normalise(each) in current), None)
        if not declaration.packages:  # nothing to install
            version = __version__
        if version is not None:
            found.append(Offer(stack="current", framework=name, version=version, state="built"))
    store = StackStore(settings)
    for entry in list_catalog("software"):
        try:
            software = find_manifest(SoftwareManifest, entry.path)
        except MLModelScopeError:
            continue  # somebody's broken manifest is nothing to offer
        if software.framework is None or software.stack is None or not is_for_this_machine(software.stack.architecture):
            continue
        brought = brings(software)
        if brought is None:
            continue
        state: Literal["built", "buildable"] = "built" if store.find(recipe_of(software)) else "buildable"
        word = framework_word(software.framework)
        found.append(Offer(stack=software.name, framework=word, version=str(brought[1]), state=state))
    return found
