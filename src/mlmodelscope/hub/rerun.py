"""What it takes to run a record again: its reference log, and the manifests that it was made from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mlmodelscope.errors import MLModelScopeError
from mlmodelscope.hub.manifests import manifests_of
from mlmodelscope.manifest.catalog import find_manifest
from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.manifest.schema.part import Manifest
from mlmodelscope.record.log import write_log
from mlmodelscope.record.record import Record
from mlmodelscope.record.store import Store


def write_rerun(record: Record, store: Store, folder: Path) -> tuple[Path, dict[str, Any]]:
    """(the reference log, manifests by aspect) of a record, written into a folder."""
    log = folder / "log.yml"
    write_log(record, store, log)
    found = {}
    for aspect, text in manifests_of(record, store).items():
        path = folder / f"{aspect}.yml"
        path.write_text(text, encoding="utf-8")
        found[aspect] = _nearest(load_manifest(path))
    return log, found


def _nearest(manifest: Manifest) -> Manifest:
    """Where the same one is available, its files lie beside that."""
    try:
        own = find_manifest(type(manifest), f"{manifest.name}@{manifest.version}")
    except MLModelScopeError:
        return manifest
    return own if own.digest == manifest.digest else manifest
