"""`SOURCE:NAME` becomes a manifest file in the cache, so that every verb takes it like a file of the user's own."""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path

from mlmodelscope.catalog.described import manifest_text
from mlmodelscope.catalog.index import open_index
from mlmodelscope.catalog.search import Query, find_entry, search
from mlmodelscope.errors import ArtifactError
from mlmodelscope.manifest.catalog import is_reference
from mlmodelscope.settings import Settings


def described_path(reference: str) -> Path | None:
    """The manifest of a model that a source describes; None where there is no such source."""
    settings = Settings.from_environment()
    with contextlib.closing(open_index(settings)) as index:
        found = find_entry(index, reference)
    if found is None:
        return None
    source, entry = found
    own = Path(source.origin) / entry.place
    if entry.manifest and own.is_file() and own.read_bytes() == entry.manifest.encode():
        return own  # what it names may lie beside it
    text = manifest_text(entry, source).encode()
    digest = hashlib.sha256(text).hexdigest()
    path = settings.cache / "catalog" / "manifests" / f"{source.label}-{digest[:24]}" / f"{entry.name[:100]}.yml"
    if not path.is_file() or path.read_bytes() != text:
        _write(path, text)
    return path


def described_reference(name: str) -> str | None:
    """`SOURCE:NAME` in full of what names a model of a source; None for any other name."""
    if not is_reference(name):
        return None
    with contextlib.closing(open_index(Settings.from_environment())) as index:
        found = find_entry(index, name)
    return f"{found[0].label}:{found[1].name}" if found is not None else None


def suggestions(name: str, limit: int = 3) -> list[str]:
    """References of models that a bare name may mean."""
    with contextlib.closing(open_index(Settings.from_environment())) as index:
        return [row.reference for row in search(index, Query(name, limit=limit)).rows]


def _write(path: Path, text: bytes) -> None:
    """Whole or not at all; two processes write the same."""
    draft = path.with_name(f".{os.getpid()}.draft")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_bytes(text)
        draft.replace(path)
    except OSError as error:
        raise ArtifactError(
            f"cannot write {path}: {error.strerror or error}", hint="MLMODELSCOPE_CACHE names another folder"
        ) from None
