"""Manifests as they are written: checked, fixed, converted, and begun from a model file. Nothing of them is run."""

from __future__ import annotations

import re
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from mlmodelscope.author.request import Request
from mlmodelscope.errors import UsageError
from mlmodelscope.ledger.moment import spoken
from mlmodelscope.ledger.tokens import Person
from mlmodelscope.manifest.json_schema import manifest_schema
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.server import confined_work
from mlmodelscope.server.catalogue import FOLDERS
from mlmodelscope.server.desk import Desk, demand
from mlmodelscope.server.handle.known_files import reference_of
from mlmodelscope.server.sent_text import Named

_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}")
_CONFIGS = (".json", ".yml", ".yaml", ".txt", ".cfg")
_DIGEST = re.compile(r"(?:sha256:)?([0-9a-f]{64})")


def check(desk: Desk, person: Person, text: str, *, fix: bool = False, verbose: bool = False) -> dict[str, Any]:
    """As `mlmodelscope check --json`, and what saving it here would refuse.

    Files of this machine are not looked at for it; of those that it names by a path, whether their content is here.
    """
    demand(person, "read")
    settings = confined_work.spelled_settings(desk.settings)
    found: dict[str, Any] = desk.confined.call(
        confined_work.checked, text=text, fix=fix, verbose=verbose, settings=settings
    )
    if found["problems"]:
        return {**found, "files": [], "refused": []}
    return {**found, "files": [_spelled(desk, each) for each in found["files"]]}


def _spelled(desk: Desk, file: dict[str, Any]) -> dict[str, Any]:
    named = Named(**{**file, "span": tuple(file["span"]) if file["span"] else None})
    start, end = named.span or (None, None)
    said = {key: file[key] for key in ("where", "reference", "sha256", "line", "column")}
    return {**said, "start": start, "end": end, "here": reference_of(desk, named) is not None}


def convert(desk: Desk, person: Person, text: str, *, explain: bool = False) -> dict[str, Any]:
    """As `mlmodelscope convert --json`."""
    demand(person, "read")
    found: dict[str, Any] = desk.confined.call(confined_work.converted, text=text, explain=explain)
    return found


def schema(desk: Desk, person: Person, kind: str) -> dict[str, Any]:
    """JSON Schema of a kind of manifest, for editors."""
    demand(person, "read")
    if kind not in FOLDERS:
        raise UsageError(f"there is no kind of manifest `{kind}`\nknown: {', '.join(FOLDERS)}")
    return manifest_schema(kind)


def versions(desk: Desk, person: Person, kind: str, name: str) -> list[dict[str, Any]]:
    """All versions of a name, the newest first."""
    demand(person, "read")
    if kind not in FOLDERS:
        raise UsageError(f"there is no kind of manifest `{kind}`\nknown: {', '.join(FOLDERS)}")
    found = [each for each in desk.catalogue.entries(kind) if each.manifest.name == name]
    if not found:
        raise UsageError(f"there is no {kind} `{name}`")
    found.sort(key=lambda each: each.order, reverse=True)
    return [
        {
            "version": each.manifest.version,
            "digest": each.manifest.digest,
            "owner": each.owner,
            "shipped": each.owner is None,
            "created_at": spoken(each.created_at),
        }
        for each in found
    ]


def begin(desk: Desk, person: Person, file: str, content: Path | str, said: Request) -> dict[str, Any]:
    """A manifest from a model file: `content` is where it was received, or the digest of one that is here.

    `said` are the answers to `init`'s questions.
    """
    demand(person, "run")
    if not _FILE.fullmatch(file):
        raise UsageError(f"`{file[:60]}` is no name of a file: letters, digits and . _ + - only")
    if file.lower().endswith(_CONFIGS):
        raise UsageError(f"{file} is a configuration, a model file is asked for", hint="mlmodelscope init reads it")
    if said.labels is not None and "://" not in said.labels:
        raise UsageError("`labels` must be an address, such as https://…/classes.txt")
    is_limited = not (person.is_local or person.may("admin"))
    source = content if isinstance(content, Path) else _held(desk, content, is_limited)
    told = {**asdict(said), "model": None, "configs": (), "output": None}
    found: dict[str, Any] = desk.confined.call(
        confined_work.begun, file=file, source=str(source), home=str(desk.store.home), said=told
    )
    return found


def _held(desk: Desk, digest: str, is_limited: bool) -> Path:
    match = _DIGEST.fullmatch(digest)
    found = ArtifactStore(replace(desk.settings, public_only=is_limited)).held(match[1]) if match else None
    if found is None:
        raise UsageError(f"there is no artifact `{digest[:80]}` here", hint="send the file itself")
    return found
