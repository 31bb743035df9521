"""A server's catalogue in place of this machine's: manifests by name, all of a kind, and texts checked there."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

from mlmodelscope.client.client import Client
from mlmodelscope.errors import ManifestError, UsageError
from mlmodelscope.manifest.load import Document, parse_document
from mlmodelscope.manifest.schema import KINDS
from mlmodelscope.manifest.schema.part import Manifest
from mlmodelscope.manifest.version import Constraint, Version

Sought = TypeVar("Sought", bound=Manifest)
_NOWHERE = Path("/nonexistent")


class Shelf:
    """What a server has; a manifest's file is called by its address there."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def document(self, kind: str, name: str) -> Document:
        """A manifest by `name` or `name@constraint`: its newest version that fits."""
        wanted, _, constraint_text = name.partition("@")
        constraint = Constraint(constraint_text or "*")
        versions = [Version(each["version"]) for each in self._client.manifest(kind, wanted)["items"]]
        fitting = [each for each in versions if constraint.matches(each, allow_prerelease=True)]
        if not fitting:
            there = ", ".join(str(each) for each in sorted(versions))
            raise UsageError(f"no version of {wanted} satisfies {constraint}; there is {there}")
        return self._open(kind, wanted, str(max(fitting)))

    def document_of_any_kind(self, name: str) -> Document:
        for kind in KINDS:
            try:
                return self.document(kind, name)
            except UsageError as error:
                if not error.message.startswith("there is no "):
                    raise
        raise UsageError(f"there is no manifest `{name}` on the server", hint="mlmodelscope models lists some")

    def find(self, sought: type[Sought], name: str) -> Sought:
        kind = next(word for word, schema in KINDS.items() if schema is sought)
        manifest = self.document(kind, name).manifest()
        assert isinstance(manifest, sought)
        return manifest

    def text(self, kind: str, name: str, version: str) -> str:
        """A manifest as it was put there."""
        found: str = self._client.manifest(kind, name, version)["text"]
        return found

    def all(self, kind: str) -> list[Manifest]:
        """Every manifest of a kind; those that this release cannot read are left out."""
        found = []
        for each in self._client.manifests(kind):
            try:
                found.append(self._open(kind, each["name"], each["version"]).manifest())
            except ManifestError:
                continue
        return found

    def _open(self, kind: str, name: str, version: str) -> Document:
        found: dict[str, Any] = self._client.manifest(kind, name, version)
        return parse_document(found["text"], f"{self._client.url}/manifests/{kind}/{name}/{version}", _NOWHERE)
