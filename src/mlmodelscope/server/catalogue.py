"""All manifests of a kind, read once: those that people have put here, and those of the server's own folders."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import select

from mlmodelscope.errors import MLModelScopeError
from mlmodelscope.ledger.tables import manifests
from mlmodelscope.manifest.folders import Kind, catalog_files
from mlmodelscope.manifest.load import load_manifest, parse_document
from mlmodelscope.manifest.schema import (
    DatasetManifest,
    HardwareManifest,
    ModelManifest,
    ReferenceLog,
    SoftwareManifest,
)
from mlmodelscope.manifest.schema.part import Manifest
from mlmodelscope.manifest.version import Version
from mlmodelscope.record.database import Database

FOLDERS: dict[str, Kind] = {
    "model": "models",
    "dataset": "datasets",
    "software": "software",
    "hardware": "hardware",
    "log": "logs",
}
_SCHEMAS: dict[str, type[Manifest]] = {
    "model": ModelManifest,
    "dataset": DatasetManifest,
    "software": SoftwareManifest,
    "hardware": HardwareManifest,
    "log": ReferenceLog,
}


@dataclass(frozen=True)
class Entry:
    manifest: Manifest
    owner: str | None = None
    """Who put it here; nobody where it lies in one of the server's folders."""
    created_at: datetime | None = None

    @property
    def order(self) -> Version:
        return Version(self.manifest.version)


class Catalogue:
    """A file is read again when it has changed, a row never: a version does not change."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._files: dict[tuple[str, Path], tuple[tuple[int, int], Manifest | None]] = {}
        self._rows: dict[tuple[str, str, str, str], Manifest | None] = {}

    def entries(self, kind: str) -> list[Entry]:
        """One for each name and version; the server's own folders come before what people have put here."""
        found: dict[tuple[str, str], Entry] = {}
        for entry in self.everything(kind):
            found.setdefault((entry.manifest.name, entry.manifest.version), entry)
        return list(found.values())

    def everything(self, kind: str) -> list[Entry]:
        """All that lies in folders, and what people have put here."""
        with self._lock:
            return [*self._shipped(kind), *self._put(kind)]

    def by_name(self, kind: str) -> dict[str, list[Entry]]:
        """All versions of each, the newest first."""
        found: dict[str, list[Entry]] = {}
        for entry in self.entries(kind):
            found.setdefault(entry.manifest.name, []).append(entry)
        for versions in found.values():
            versions.sort(key=lambda entry: entry.order, reverse=True)
        return found

    def _shipped(self, kind: str) -> list[Entry]:
        found = []
        for path in catalog_files(FOLDERS[kind]):
            try:
                status = path.stat()
            except OSError:
                continue
            mark, key = (status.st_mtime_ns, status.st_size), (kind, path)
            if key not in self._files or self._files[key][0] != mark:
                self._files[key] = mark, _load(kind, path)
            manifest = self._files[key][1]
            if manifest is not None:
                found.append(Entry(manifest))
        return found

    def _put(self, kind: str) -> list[Entry]:
        columns = [manifests.c[name] for name in ("name", "version", "digest", "owner", "created_at")]
        query = select(*columns).where(manifests.c.kind == kind)
        with self._database.reading() as connection:
            rows: Sequence[Any] = connection.execute(query).all()
            unknown = [row for row in rows if (kind, row.name, row.version, row.digest) not in self._rows]
            for row in unknown:
                wanted = manifests.c.kind == kind, manifests.c.name == row.name, manifests.c.version == row.version
                text = connection.execute(select(manifests.c.text).where(*wanted)).scalar()
                self._rows[kind, row.name, row.version, row.digest] = _parse(kind, text or "")
        found = []
        for row in rows:
            manifest = self._rows[kind, row.name, row.version, row.digest]
            if manifest is not None:
                found.append(Entry(manifest, row.owner, row.created_at))
        return found


def _load(kind: str, path: Path) -> Manifest | None:
    try:
        manifest = load_manifest(path)
    except MLModelScopeError:
        return None  # a broken file in somebody's folder
    return manifest if isinstance(manifest, _SCHEMAS[kind]) else None


def _parse(kind: str, text: str) -> Manifest | None:
    try:
        manifest = parse_document(text, "<server>", Path("/nonexistent")).manifest()
    except MLModelScopeError:
        return None  # of another release
    return manifest if isinstance(manifest, _SCHEMAS[kind]) else None
