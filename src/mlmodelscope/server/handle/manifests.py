"""Manifests on the server: looked at, put there, checked, converted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import RowMapping

from mlmodelscope.errors import MLModelScopeError, UsageError, VersionError
from mlmodelscope.ledger.moment import spoken
from mlmodelscope.ledger.tokens import Person
from mlmodelscope.manifest.catalog import find_manifest, list_catalog
from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.manifest.schema.part import Manifest
from mlmodelscope.manifest.version import Version
from mlmodelscope.server.desk import Desk, Refused, demand
from mlmodelscope.server.handle.placeholders import refuse_placeholders
from mlmodelscope.server.handle.shelf import KINDS, parse_any

_FOLDERS = {"model": "models", "dataset": "datasets", "software": "software", "hardware": "hardware", "log": "logs"}


def find(desk: Desk, person: Person, kind: str, search: str | None = None) -> list[dict[str, Any]]:
    """Everything of a kind: what people have put here and what comes with the package."""
    demand(person, "read")
    _check(kind)
    found = [_put(kind, row, parse_any(row["text"])) for row in desk.manifests.list(kind)]
    for entry in list_catalog(_FOLDERS[kind]):  # type: ignore[arg-type]
        try:
            manifest = load_manifest(entry.path)
        except MLModelScopeError:
            continue  # a broken file in somebody's folder
        if isinstance(manifest, KINDS[kind]):
            found.append(_shipped(kind, manifest))
    words = (search or "").lower().split()
    return [each for each in found if all(word in _text(each) for word in words)]


def get(desk: Desk, person: Person, kind: str, name: str, version: str) -> dict[str, Any]:
    demand(person, "read")
    _check(kind)
    for row in desk.manifests.list(kind, name):
        if row["version"] == version:
            manifest = parse_any(row["text"])
            document = manifest.model_dump(mode="json", exclude_none=True)
            return {**_put(kind, row, manifest), "text": row["text"], "manifest": document}
    try:
        manifest = find_manifest(KINDS[kind], f"{name}@{Version(version)}")
    except VersionError:
        raise UsageError(f"there is no {kind} `{name}@{version}`") from None
    text = Path(manifest.file).read_text(encoding="utf-8")
    return {**_shipped(kind, manifest), "text": text, "manifest": manifest.model_dump(mode="json", exclude_none=True)}


def put(desk: Desk, person: Person, text: str) -> tuple[dict[str, Any], bool]:
    """(the manifest, whether it is new)."""
    demand(person, "run")
    manifest = parse_any(text)
    refuse_placeholders(manifest.model_dump(mode="json", exclude_none=True))
    kind = next(name for name, schema in KINDS.items() if type(manifest) is schema)
    new = desk.manifests.put(kind, manifest.name, manifest.version, manifest.digest, person.owner, text)
    if new:
        desk.audit.note(person.owner, f"put {kind}", manifest.reference)
    return get(desk, person, kind, manifest.name, manifest.version), new


def delete(desk: Desk, person: Person, kind: str, name: str, version: str) -> None:
    demand(person, "run")
    if desk.manifests.get(kind, name, version)["owner"] != person.owner and not person.may("admin"):
        raise Refused("admin")
    desk.manifests.delete(kind, name, version)
    desk.audit.note(person.owner, f"delete {kind}", f"{name}@{version}")


def _check(kind: str) -> None:
    if kind not in KINDS:
        raise UsageError(f"there is no kind of manifest `{kind}`\nknown: {', '.join(KINDS)}")


def _put(kind: str, row: RowMapping, manifest: Manifest) -> dict[str, Any]:
    facts = {key: row[key] for key in ("name", "version", "digest", "owner")}
    return {"kind": kind, **facts, "shipped": False, "created_at": spoken(row["created_at"]), **_about(manifest)}


def _shipped(kind: str, manifest: Manifest) -> dict[str, Any]:
    facts = {"name": manifest.name, "version": manifest.version, "digest": manifest.digest}
    return {"kind": kind, **facts, "owner": None, "shipped": True, "created_at": None, **_about(manifest)}


def _about(manifest: Manifest) -> dict[str, Any]:
    framework = getattr(manifest, "framework", None)
    return {
        "description": manifest.description,
        "task": getattr(manifest, "task", None),
        "framework": framework.name if framework is not None else None,
    }


def _text(entry: dict[str, Any]) -> str:
    return " ".join(str(entry[key] or "") for key in ("name", "version", "description", "task", "framework")).lower()
