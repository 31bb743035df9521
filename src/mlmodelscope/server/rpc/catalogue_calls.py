"""The catalogue over gRPC."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mlmodelscope.errors import UsageError
from mlmodelscope.ledger.tokens import Person
from mlmodelscope.server.desk import Desk
from mlmodelscope.server.handle import authoring, listing, metrics, registry
from mlmodelscope.server.rpc.asked import Asked, Call, choice, limit_of, said

_LONGEST_MANIFEST = 1_000_000


def check_manifest(desk: Desk, person: Person, asked: Asked) -> Mapping[str, Any]:
    text = said(asked, "text", _LONGEST_MANIFEST)
    return authoring.check(desk, person, text, fix=asked.get("fix", False), verbose=asked.get("verbose", False))


def convert_manifest(desk: Desk, person: Person, asked: Asked) -> Mapping[str, Any]:
    text = said(asked, "text", _LONGEST_MANIFEST)
    return authoring.convert(desk, person, text, explain=asked.get("explain", False))


def get_manifest_schema(desk: Desk, person: Person, asked: Asked) -> Mapping[str, Any]:
    return {"schema": authoring.schema(desk, person, said(asked, "kind"))}


def list_versions(desk: Desk, person: Person, asked: Asked) -> Mapping[str, Any]:
    return {"items": authoring.versions(desk, person, said(asked, "kind"), said(asked, "name"))}


def list_models(desk: Desk, person: Person, asked: Asked) -> Mapping[str, Any]:
    wanted = _wanted(asked, "model")
    page = listing.models(desk, person, wanted).spelled(wanted)
    return {
        **page,
        "items": [{**each, "claims": [_plain(claim) for claim in each["claims"]]} for each in page["items"]],
    }


def list_datasets(desk: Desk, person: Person, asked: Asked) -> Mapping[str, Any]:
    wanted = _wanted(asked, "dataset")
    return listing.datasets(desk, person, wanted).spelled(wanted)


def list_frameworks(desk: Desk, person: Person, asked: Asked) -> Mapping[str, Any]:
    return {"items": registry.frameworks(desk, person, asked.get("name"), asked.get("version"))}


def list_stacks(desk: Desk, person: Person, asked: Asked) -> Mapping[str, Any]:
    return {"items": registry.stacks(desk, person, asked.get("q"))}


def list_machines(desk: Desk, person: Person, asked: Asked) -> Mapping[str, Any]:
    return {"items": registry.machines(desk, person)}


def list_metrics(desk: Desk, person: Person, asked: Asked) -> Mapping[str, Any]:
    return {"items": metrics.find(desk, person, asked.get("task"))}


def _wanted(asked: Asked, kind: str) -> listing.Wanted:
    start = asked.get("start", 0)
    if not 0 <= start <= 10**9:
        raise UsageError(f"`start` is {start}, it must be from 0 to {10**9}")
    facets = {name: asked.get(name, ()) for name in listing.FACETS[kind]}
    sort = choice(asked, "sort", listing.SORTS) or "name"
    return listing.Wanted(asked.get("q"), facets, sort, start, limit_of(asked, 50))


def _plain(claim: Mapping[str, Any]) -> dict[str, Any]:
    measured = claim["measured"]
    return {**claim, "measured": measured.model_dump() if measured is not None else None}


CATALOGUE_CALLS: dict[str, Call] = {
    "CheckManifest": check_manifest,
    "ConvertManifest": convert_manifest,
    "GetManifestSchema": get_manifest_schema,
    "ListVersions": list_versions,
    "ListModels": list_models,
    "ListDatasets": list_datasets,
    "ListFrameworks": list_frameworks,
    "ListStacks": list_stacks,
    "ListMachines": list_machines,
    "ListMetrics": list_metrics,
}
