"""Manifests by name: those that people have put here, and those that come with the package."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from mlmodelscope.errors import ManifestError, Problem, UsageError
from mlmodelscope.ledger.request import Inline, ManifestChoice
from mlmodelscope.manifest.aspects import own_copy
from mlmodelscope.manifest.catalog import find_manifest
from mlmodelscope.manifest.load import parse_document
from mlmodelscope.manifest.reference import REFERENCE_KEYS, parse_reference
from mlmodelscope.manifest.schema import (
    DatasetManifest,
    HardwareManifest,
    ModelManifest,
    ReferenceLog,
    SoftwareManifest,
)
from mlmodelscope.manifest.schema.part import Manifest
from mlmodelscope.manifest.shown_address import holds_secret
from mlmodelscope.manifest.strangers import why_not
from mlmodelscope.manifest.suggest import nearest
from mlmodelscope.manifest.version import Constraint, Version
from mlmodelscope.server.desk import Desk
from mlmodelscope.settings import Settings

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
    check_sent(text, desk.settings)
    manifest = parse_any(text)
    if not isinstance(manifest, sought):
        raise UsageError(f"this is a {type(manifest).__name__}, a {sought.__name__} is asked for")
    return manifest, text


def parse_any(text: str) -> Manifest:
    """A manifest that came from outside: it is taken as it stands, with no folder around it."""
    document = parse_document(text, "<request>", Path("/nonexistent"))
    return own_copy(document.manifest())


def check_sent(text: str, settings: Settings) -> None:
    """Refuse a text that no server may keep or hand to an agent."""
    refuse_secrets(text)
    _refuse_places(text, settings)


def _refuse_places(text: str, settings: Settings) -> None:
    """Only what strangers may name: no files of the server's machine, nor whatever else its libraries could open."""
    data = parse_document(text, "<request>", Path("/nonexistent")).data
    for where, value in _references(data):
        reason = None if value.startswith("debian:") else _why_not(value, settings)
        if reason is not None:
            raise ManifestError(
                Problem(
                    reason,
                    where,
                    "<request>",
                    hint="give its URL, or upload it as an artifact: `mlmodelscope evaluate --server` does",
                )
            )


def _references(data: object, path: str = "") -> Iterator[tuple[str, str]]:
    """(where it stands, what it says) of everything that names a file."""
    if isinstance(data, dict):
        for key, value in data.items():
            where = f"{path}.{key}" if path else str(key)
            if key in REFERENCE_KEYS and isinstance(value, str):
                yield where, value
            yield from _references(value, where)
    elif isinstance(data, list):
        for number, value in enumerate(data):
            yield from _references(value, f"{path}[{number}]")


def _why_not(text: str, settings: Settings) -> str | None:
    try:
        reference = parse_reference(text)
    except ValueError:
        return None  # the schema has said what is wrong with it
    if reference.is_local:
        return f"`{text[:200]}` is a file of your machine, which nobody else has"
    return why_not(reference, settings.stores, settings.packages)


def refuse_secrets(text: str) -> None:
    """A server keeps manifests, shows them to all its readers and hands them to agents: no place for a password."""
    for number, line in enumerate(text.splitlines(), 1):
        if holds_secret(line):
            raise ManifestError(
                Problem(
                    "an address holds a password, a token or a signature, which every reader of this server would see",
                    file="<request>",
                    line=number,
                    column=1,
                    hint="leave it out: agents take credentials from netrc or their environment; or upload the file",
                )
            )
