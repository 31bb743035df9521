"""Manifests by name: those that people have put here, and those that come with the package."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from mlmodelscope.errors import ManifestError, UsageError
from mlmodelscope.ledger.request import Inline, ManifestChoice
from mlmodelscope.manifest.aspects import own_copy
from mlmodelscope.manifest.catalog import find_manifest
from mlmodelscope.manifest.load import parse_document
from mlmodelscope.manifest.schema import (
    DatasetManifest,
    HardwareManifest,
    ModelManifest,
    ReferenceLog,
    SoftwareManifest,
)
from mlmodelscope.manifest.schema.part import Manifest
from mlmodelscope.manifest.suggest import nearest
from mlmodelscope.manifest.version import Constraint, Version
from mlmodelscope.server.desk import Desk
from mlmodelscope.server.handle.known_files import with_known_files
from mlmodelscope.server.sent_text import FILE, NOWHERE, refuse_secrets, refused_files, refused_paths

KINDS: dict[str, type[Manifest]] = {
    "model": ModelManifest,
    "dataset": DatasetManifest,
    "software": SoftwareManifest,
    "hardware": HardwareManifest,
    "log": ReferenceLog,
}
Sought = TypeVar("Sought", bound=Manifest)


class Shelf:
    """Finds the manifests of a request and keeps their texts: those are what an agent gets."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._texts: dict[type[Manifest], str] = {}

    def __call__(self, sought: type[Sought], choice: str | Path | Inline | Sought) -> Sought:
        if isinstance(choice, sought):
            return choice
        assert isinstance(choice, (str, Inline))
        manifest, self._texts[sought] = find(self._desk, sought, choice)
        return manifest

    def text_of(self, sought: type[Manifest]) -> str | None:
        return self._texts.get(sought)


def find(desk: Desk, sought: type[Sought], choice: ManifestChoice) -> tuple[Sought, str]:
    """(the manifest, its text); strangers' manifests may not name files of this machine."""
    if isinstance(choice, Inline):
        return _sent(desk, sought, choice.text)
    kind = next(name for name, schema in KINDS.items() if schema is sought)
    name, _, constraint = choice.partition("@")
    rows = [
        row
        for row in desk.manifests.list(kind, name)
        if Constraint(constraint or "*").matches(Version(row["version"]), allow_prerelease=True)
    ]
    if choice.endswith((".yml", ".yaml")) or "/" in choice:
        raise UsageError(f"`{choice}` is a path; send the manifest itself, or the name of one that is here")
    newest = max(rows, key=lambda row: Version(row["version"]), default=None)
    try:
        manifest = find_manifest(sought, choice)
    except UsageError as error:
        if newest is None:
            raise _named_here(desk, kind, name, error) from None
        return _sent(desk, sought, newest["text"])
    if newest is not None and Version(newest["version"]) > Version(manifest.version):
        return _sent(desk, sought, newest["text"])
    text = Path(manifest.file).read_text(encoding="utf-8")
    refuse_secrets(text)
    return manifest, text


def _named_here(desk: Desk, kind: str, name: str, error: UsageError) -> UsageError:
    """The same for whoever asks a server: what was put here is known, too, and a path of theirs is not."""
    what, separator, listed = error.message.partition("\nknown: ")
    if not separator:
        return error
    known = sorted({*filter(None, listed.split(", ")), *(row["name"] for row in desk.manifests.list(kind))})
    hint = nearest(name, known) or f"save its manifest here first, or send its text: `{kind}: {{text: …}}`"
    return UsageError(f"{what}\nknown: {', '.join(known)}", hint=hint)


def _sent(desk: Desk, sought: type[Sought], text: str) -> tuple[Sought, str]:
    text = check_sent(desk, text)
    manifest = parse_any(text)
    if not isinstance(manifest, sought):
        raise UsageError(f"this is a {type(manifest).__name__}, a {sought.__name__} is asked for")
    return manifest, text


def parse_any(text: str) -> Manifest:
    """A manifest that came from outside: it is taken as it stands, with no folder around it."""
    document = parse_document(text, FILE, NOWHERE)
    return own_copy(document.manifest())


def check_sent(desk: Desk, text: str) -> str:
    """The text as a server may keep it and hand it to agents: files that are here are named by their content.

    Refused where it names others: no path of the server's machine is looked up, nor whatever its libraries could open.
    """
    refuse_secrets(text)
    text = with_known_files(desk, text)
    for problem in (*refused_paths(text), *refused_files(text, desk.settings)):
        raise ManifestError(problem)
    return text
