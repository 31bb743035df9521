"""Manifests by name: those that people have put here, and those that come with the package."""

from __future__ import annotations

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
from mlmodelscope.manifest.suggest import nearest
from mlmodelscope.manifest.version import Constraint, Version
from mlmodelscope.server.desk import Desk

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
        return parse(sought, choice.text)
    kind = next(name for name, schema in KINDS.items() if schema is sought)
    name, _, constraint = choice.partition("@")
    rows = [
        row
        for row in desk.manifests.list(kind, name)
        if Constraint(constraint or "*").matches(Version(row["version"]), allow_prerelease=True)
    ]
    if rows:
        return parse(sought, max(rows, key=lambda row: Version(row["version"]))["text"])
    if choice.endswith((".yml", ".yaml")) or "/" in choice:
        raise UsageError(f"`{choice}` is a path; send the manifest itself, or the name of one that is here")
    try:
        manifest = find_manifest(sought, choice)
    except UsageError as error:
        raise _named_here(desk, kind, name, error) from None
    return manifest, Path(manifest.file).read_text(encoding="utf-8")


def _named_here(desk: Desk, kind: str, name: str, error: UsageError) -> UsageError:
    """The same for whoever asks a server: what was put here is known, too, and a path of theirs is not."""
    what, separator, listed = error.message.partition("\nknown: ")
    if not separator:
        return error
    known = sorted({*filter(None, listed.split(", ")), *(row["name"] for row in desk.manifests.list(kind))})
    hint = nearest(name, known) or f"save its manifest here first, or send its text: `{kind}: {{text: …}}`"
    return UsageError(f"{what}\nknown: {', '.join(known)}", hint=hint)


def parse(sought: type[Sought], text: str) -> tuple[Sought, str]:
    manifest = parse_any(text)
    if not isinstance(manifest, sought):
        raise UsageError(f"this is a {type(manifest).__name__}, a {sought.__name__} is asked for")
    return manifest, text


def parse_any(text: str) -> Manifest:
    """A manifest that came from outside: it is taken as it stands, with no folder around it."""
    document = parse_document(text, "<request>", Path("/nonexistent"))
    _refuse_local_files(document.data)
    return own_copy(document.manifest())


def _refuse_local_files(data: object, path: str = "") -> None:
    if isinstance(data, dict):
        for key, value in data.items():
            where = f"{path}.{key}" if path else str(key)
            if key in REFERENCE_KEYS and isinstance(value, str) and _is_local(value):
                raise ManifestError(
                    Problem(
                        f"`{value}` is a file of your machine, which nobody else has",
                        where,
                        "<request>",
                        hint="give its URL, or upload it as an artifact: `mlmodelscope evaluate --server` does",
                    )
                )
            _refuse_local_files(value, where)
    elif isinstance(data, list):
        for number, value in enumerate(data):
            _refuse_local_files(value, f"{path}[{number}]")


def _is_local(text: str) -> bool:
    try:
        return not text.startswith("debian:") and parse_reference(text).is_local
    except ValueError:
        return False
