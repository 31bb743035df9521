"""Files that a sent manifest names by a path, where the server has what they hold: by checksum, never by that path.

A path of another machine is not looked up here, whatever it says. What counts is the sha256 beside it: that of a file
which somebody has uploaded, or which a manifest of the package names and the package brings along. Such a file is for
all who may read the server, so it becomes an artifact, which agents fetch like any other.
"""

from __future__ import annotations

import secrets
import shutil
from functools import cache
from pathlib import Path

from mlmodelscope.errors import MLModelScopeError
from mlmodelscope.ledger.artifacts import Artifacts
from mlmodelscope.manifest.folders import shipped_folder
from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.manifest.reference import REFERENCE_KEYS, artifact_reference
from mlmodelscope.provision.cache import Cache, uploads_of
from mlmodelscope.provision.hashing import hash_file
from mlmodelscope.server.desk import Desk
from mlmodelscope.server.sent_text import Named, named_files, with_references

OWNER = "mlmodelscope"
"""Of artifacts that come with the package."""


def with_known_files(desk: Desk, text: str) -> str:
    """The text in which files whose content is here are named by it."""
    found = {named: reference for named in named_files(text) if (reference := reference_of(desk, named))}
    for named in found:
        assert named.sha256 is not None
        keep_shipped(desk, named.sha256)
    return with_references(text, found)


def reference_of(desk: Desk, named: Named) -> str | None:
    """How agents get what a path stands for; None where it is no path, or its content is not here."""
    if not named.is_local or named.span is None or named.sha256 is None or "#" in named.reference:
        return None
    is_here = is_uploaded(desk, named.sha256) or named.sha256 in shipped_files()
    return artifact_reference(named.sha256, named.name) if is_here else None


def is_uploaded(desk: Desk, digest: str) -> bool:
    return desk.artifacts.find(digest) is not None and _place(desk).file(digest).is_file()


def keep_shipped(desk: Desk, digest: str) -> bool:
    """Whether the package has it; then it is among the artifacts, even after somebody has deleted it there."""
    source = shipped_files().get(digest)
    if source is None:
        return False
    if not is_uploaded(desk, digest):
        _keep(desk.artifacts, _place(desk), source, digest)
    return True


def _keep(artifacts: Artifacts, place: Cache, source: Path, digest: str) -> None:
    draft = place.file(digest).with_name(f"{digest}.{secrets.token_hex(4)}")  # two may ask for it at once
    draft.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, draft)
    if hash_file(draft) != digest:  # the package's folder has changed since it was read
        draft.unlink()
        return
    place.put_file(draft, digest)
    artifacts.add(digest, source.stat().st_size, source.name, OWNER)


@cache
def shipped_files() -> dict[str, Path]:
    """Files of the package's own catalog that its models name, by sha256; no files of the operator's folders."""
    folder = shipped_folder()
    if folder is None:
        return {}
    found: dict[str, Path] = {}
    for manifest in sorted((folder / "models").glob("*.y*ml")):
        try:
            said = load_manifest(manifest).model_dump(mode="json", exclude_none=True)
        except MLModelScopeError:
            continue
        for path in map(Path, _texts(said)):
            if path.is_absolute() and path.is_file() and path.resolve().is_relative_to(folder.resolve()):
                found[hash_file(path)] = path
    return found


def _texts(data: object) -> list[str]:
    if isinstance(data, dict):
        own = [value for key, value in data.items() if key in REFERENCE_KEYS and isinstance(value, str)]
        return own + [text for value in data.values() for text in _texts(value)]
    return [text for value in data for text in _texts(value)] if isinstance(data, list) else []


def _place(desk: Desk) -> Cache:
    return uploads_of(desk.settings)
