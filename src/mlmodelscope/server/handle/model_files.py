"""A model's files where the server has them: how large it is, and its network. Nothing is fetched for it."""

from __future__ import annotations

import hashlib
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mlmodelscope.catalog.entry import Entry
from mlmodelscope.catalog.index import open_index
from mlmodelscope.catalog.search import find_entry
from mlmodelscope.errors import MLModelScopeError, UsageError
from mlmodelscope.ledger.tokens import Person
from mlmodelscope.manifest.reference import parse_reference
from mlmodelscope.manifest.schema import ModelManifest
from mlmodelscope.provision.artifact import Artifact
from mlmodelscope.server.confined_work import ConfinedStore
from mlmodelscope.server.desk import Desk, demand
from mlmodelscope.server.handle import artifacts
from mlmodelscope.server.handle.shelf import find

_NOTHING: dict[str, Any] = {"parameters": None, "flops": None, "weight_bytes": None}


class NoNetwork(UsageError):
    """The server does not have the file of a model, or cannot read it."""


@dataclass(frozen=True)
class Held:
    """The files of a model that lie on this machine."""

    model: Path
    weights: Path | None
    weights_key: str | None
    key: str
    """Stands for their content."""
    size_bytes: int | None
    """None where the graph is here and its weights are not."""


def network(desk: Desk, person: Person, name: str, version: str | None) -> dict[str, Any]:
    """Layers in the order in which they run, as `mlmodelscope inspect` reads them."""
    demand(person, "read")
    manifest, is_strangers = _manifest(desk, name, version)
    held = _held(desk, manifest, is_strangers)
    try:
        graph = desk.networks.graph(held.key, held.model, held.weights, held.weights_key)
    except UsageError as error:
        raise NoNetwork(f"the file of {manifest.reference} cannot be read: {error.message}", hint=error.hint) from None
    return {"model": manifest.name, "version": manifest.version, **graph}


def facts(desk: Desk, person: Person, name: str, version: str | None) -> dict[str, Any]:
    """Parameters and size: from the file where it is here, else from the catalog's facts, else unknown."""
    demand(person, "read")
    manifest, is_strangers = _manifest(desk, name, version)
    found = {**_NOTHING, "size_bytes": None, "source": None, "has_network": False, "reason": None}
    try:
        held = _held(desk, manifest, is_strangers)
        told = desk.networks.facts(held.key, held.model, held.weights, held.weights_key)
        if not told["parameters"]:  # of a format that has them in the file which is missing
            told = {**told, "parameters": None}
        return {**found, **told, "size_bytes": held.size_bytes, "source": "file", "has_network": True}
    except MLModelScopeError as error:
        found["reason"] = error.message.splitlines()[0]
    return {**found, **_described(desk, manifest)}


def _manifest(desk: Desk, name: str, version: str | None) -> tuple[ModelManifest, bool]:
    """(the manifest, whether it came from another machine)."""
    manifest, text = find(desk, ModelManifest, f"{name}@{version}" if version else name)
    is_strangers = not Path(manifest.file).is_file()
    if is_strangers:
        artifacts.demand_present(desk, text)
    return manifest, is_strangers


def _held(desk: Desk, manifest: ModelManifest, is_strangers: bool) -> Held:
    source = manifest.source
    if source is None or not (source.graph_path or source.weights_path):
        raise NoNetwork(f"{manifest.reference} names no file: its server, or its code, has the model")
    store = ConfinedStore(replace(desk.offline, public_only=is_strangers), desk.confined)
    wanted = [(source.weights_path, source.weights_checksum)]
    if source.builder is None:
        wanted = [(source.graph_path, source.graph_checksum), *wanted]
    found: list[tuple[Path, Artifact]] = []
    is_whole = True
    for reference, checksum in wanted:
        try:
            found += [_fetch(store, reference, checksum)] if reference is not None else []
        except (MLModelScopeError, OSError) as error:
            is_whole = False
            if not found:  # a graph tells much without its weights, and not the other way round
                raise _not_here(manifest, error) from None
    if not found:
        raise NoNetwork(f"{manifest.reference} names no file of its layers: a library makes them")
    digests = " ".join([*(artifact.sha256 for _, artifact in found), source.weights_key or ""])
    return Held(
        found[0][0],
        found[1][0] if len(found) > 1 else None,
        source.weights_key,
        hashlib.sha256(digests.encode()).hexdigest(),
        sum(_size(artifact.path) for _, artifact in found) if is_whole else None,
    )


def _not_here(manifest: ModelManifest, error: Exception) -> NoNetwork:
    told = error.message if isinstance(error, MLModelScopeError) else str(error)
    return NoNetwork(
        f"the file of {manifest.reference} is not on this server: {told}",
        hint="an evaluation by the server's own agent fetches it",
    )


def _fetch(store: ConfinedStore, reference: str, checksum: str | None) -> tuple[Path, Artifact]:
    artifact = store.fetch(reference, checksum)
    return store.named(artifact, parse_reference(reference).name), artifact


def _size(path: Path) -> int:
    if path.is_dir():
        return sum(each.stat().st_size for each in path.rglob("*") if each.is_file())
    return path.stat().st_size


def _described(desk: Desk, manifest: ModelManifest) -> dict[str, Any]:
    """What the catalog tells of a model that a library builds, or what its manifest took from there."""
    entry = _entry(desk, manifest)
    if entry is not None:
        size = max((each.size_bytes for each in entry.weights), default=0) or None
        return {"parameters": entry.parameters, "size_bytes": size, "source": "catalog"}
    kept = manifest.attributes.get("catalog")
    told = kept.get("parameters") if isinstance(kept, dict) else None
    if isinstance(told, int) and 0 < told < 1 << 63:
        return {"parameters": told, "source": "catalog"}
    return {}


def _entry(desk: Desk, manifest: ModelManifest) -> Entry | None:
    source = manifest.source
    if source is None or source.builder is None or source.architecture is None:
        return None
    try:
        with closing(open_index(desk.settings)) as index:
            found = find_entry(index, f"{source.builder}:{source.architecture}")
    except UsageError:
        return None
    exact = found is not None and found[1].name.lower() == source.architecture.lower()
    return found[1] if found is not None and exact else None
