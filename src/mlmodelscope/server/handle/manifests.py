"""Manifests on the server: looked at, put there, checked, converted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import RowMapping

from mlmodelscope.errors import UsageError, VersionError
from mlmodelscope.ledger.manifests import NameTaken, Taken
from mlmodelscope.ledger.moment import spoken
from mlmodelscope.ledger.tokens import Person
from mlmodelscope.manifest.catalog import find_manifest
from mlmodelscope.manifest.schema.part import Manifest
from mlmodelscope.manifest.shown_address import conceal
from mlmodelscope.manifest.version import Version
from mlmodelscope.server.desk import Desk, Refused, demand
from mlmodelscope.server.handle.shelf import KINDS, check_sent, parse_any
from mlmodelscope.server.placeholders import refuse_placeholders


def find(desk: Desk, person: Person, kind: str, search: str | None = None) -> list[dict[str, Any]]:
    """Everything of a kind: what people have put here and what comes with the package."""
    demand(person, "read")
    _check(kind)
    found = [
        _shipped(kind, each.manifest)
        | {"owner": each.owner, "shipped": each.owner is None, "created_at": spoken(each.created_at)}
        for each in desk.catalogue.everything(kind)
    ]
    words = (search or "").lower().split()
    return [each for each in found if all(word in _text(each) for word in words)]


def get(desk: Desk, person: Person, kind: str, name: str, version: str) -> dict[str, Any]:
    demand(person, "read")
    return _get(desk, kind, name, version)


def _get(desk: Desk, kind: str, name: str, version: str) -> dict[str, Any]:
    _check(kind)
    try:
        manifest = find_manifest(KINDS[kind], f"{name}@{Version(version)}")
    except VersionError:
        raise UsageError(f"there is no {kind} `{name}@{version}`") from None
    except UsageError:
        for row in desk.manifests.list(kind, name):
            if row["version"] == version:
                manifest = parse_any(row["text"])
                return {**_put(kind, row, manifest), **_content(manifest, row["text"])}
        raise
    text = Path(manifest.file).read_text(encoding="utf-8")
    return {**_shipped(kind, manifest), **_content(manifest, text)}


_CHECKED_HERE = "a reproduction is checked where its code is: `mlmodelscope reproduce check FILE`"


def put(desk: Desk, person: Person, text: str) -> tuple[dict[str, Any], bool]:
    """(the manifest, whether it is new)."""
    demand(person, "run")
    text = check_sent(desk, text)
    manifest = parse_any(text)
    refuse_placeholders(manifest.model_dump(mode="json", exclude_none=True))
    kind = next((name for name, schema in KINDS.items() if type(manifest) is schema), None)
    if kind is None:
        raise UsageError(f"a server keeps manifests of these kinds: {', '.join(KINDS)}", hint=_CHECKED_HERE)
    _demand_name(desk, person, kind, manifest)
    new = desk.manifests.put(kind, manifest.name, manifest.version, manifest.digest, person.owner, text)
    if new and not person.may("admin") and desk.manifests.owner_of(kind, manifest.name) != person.owner:
        desk.manifests.delete(kind, manifest.name, manifest.version)  # another one was first, in the same moment
        raise NameTaken(kind, manifest.name)
    if new:
        desk.audit.note(person.owner, f"put {kind}", manifest.reference)
    return _get(desk, kind, manifest.name, manifest.version), new


def _demand_name(desk: Desk, person: Person, kind: str, manifest: Manifest) -> None:
    """A name belongs to the first who used it, and the server's own names to the server."""
    shipped = [each.manifest for each in desk.catalogue.everything(kind) if each.owner is None]
    shipped = [each for each in shipped if manifest.name in (each.name, each.id)]
    for known in shipped:
        if known.reference == manifest.reference:
            if known.digest == manifest.digest:
                return
            raise Taken(f"{kind} {manifest.reference} is the server's own, and it is another one", hint="rename yours")
    owner = desk.manifests.owner_of(kind, manifest.name)
    if not person.may("admin") and (shipped or owner not in (None, person.owner)):
        raise NameTaken(kind, manifest.name)


def delete(desk: Desk, person: Person, kind: str, name: str, version: str) -> None:
    demand(person, "run")
    if desk.manifests.get(kind, name, version)["owner"] != person.owner and not person.may("admin"):
        raise Refused("admin")
    desk.manifests.delete(kind, name, version)
    desk.audit.note(person.owner, f"delete {kind}", f"{name}@{version}")


def _content(manifest: Manifest, text: str) -> dict[str, Any]:
    """As it is written, without the secrets that an address of the server's own catalogue may hold."""
    return {"text": conceal(text), "manifest": conceal(manifest.model_dump(mode="json", exclude_none=True))}


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
