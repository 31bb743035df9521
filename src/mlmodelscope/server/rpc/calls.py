"""Methods with one answer. Each takes a request as a dictionary, without unspecified fields, and asks a handler."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mlmodelscope.errors import UsageError
from mlmodelscope.ledger.tokens import Person
from mlmodelscope.record.record_list import SORTS, Chosen
from mlmodelscope.server.desk import Desk
from mlmodelscope.server.handle import agents, evaluations, manifests, records, requests, reuse, samples
from mlmodelscope.server.rest import cursor
from mlmodelscope.server.rpc.asked import LONGEST_KEY, Asked, Call, choice, limit_of, request_of, said
from mlmodelscope.server.rpc.catalogue_calls import CATALOGUE_CALLS
from mlmodelscope.server.rpc.hub_calls import HUB_CALLS
from mlmodelscope.server.rpc.prediction_calls import PREDICTION_CALLS
from mlmodelscope.server.rpc.replication_calls import REPLICATION_CALLS
from mlmodelscope.server.rpc.sensitivity_calls import SENSITIVITY_CALLS

_LONGEST_MANIFEST = 1_000_000
_FURTHEST = 1_000_000


def who_am_i(desk: Desk, person: Person, asked: Asked) -> Mapping[str, Any]:
    return {"owner": person.owner, "scopes": sorted(person.scopes)}


def list_manifests(desk: Desk, person: Person, asked: Asked) -> Mapping[str, Any]:
    return {"items": manifests.find(desk, person, said(asked, "kind"), asked.get("q"))}


def get_manifest(desk: Desk, person: Person, asked: Asked) -> Mapping[str, Any]:
    return manifests.get(desk, person, said(asked, "kind"), said(asked, "name"), said(asked, "version"))


def put_manifest(desk: Desk, person: Person, asked: Asked) -> Mapping[str, Any]:
    return manifests.put(desk, person, said(asked, "text", _LONGEST_MANIFEST))[0]


def delete_manifest(desk: Desk, person: Person, asked: Asked) -> Mapping[str, Any]:
    manifests.delete(desk, person, said(asked, "kind"), said(asked, "name"), said(asked, "version"))
    return {}


def resolve_request(desk: Desk, person: Person, asked: Asked) -> Mapping[str, Any]:
    return reuse.resolve_request(desk, person, request_of(asked))


def ask_for_work(desk: Desk, person: Person, asked: Asked) -> Mapping[str, Any]:
    key = said(asked, "idempotency_key", LONGEST_KEY) if "idempotency_key" in asked else None
    request = request_of(asked)
    identity = requests.ask(desk, person, request, key)
    return {
        "id": identity,
        "evaluations": evaluations.of_request(desk, person, identity),
        "earlier": reuse.known(desk, person, request),
    }


def list_evaluations(desk: Desk, person: Person, asked: Asked) -> Mapping[str, Any]:
    choice(asked, "state", ("waiting", "running", "finished", "failed", "cancelled"))
    wanted = {name: asked.get(name) for name in ("state", "model", "dataset", "agent", "owner", "request")}
    limit = limit_of(asked, 50)
    found = evaluations.find(desk, person, limit, cursor.read(asked.get("after")), **wanted)
    last = found[-1] if len(found) == limit else None
    return {"items": found, "next": cursor.write(last["created_at"], last["id"]) if last else None}


def get_evaluation(desk: Desk, person: Person, asked: Asked) -> Mapping[str, Any]:
    return evaluations.get(desk, person, said(asked, "id"))


def cancel_evaluation(desk: Desk, person: Person, asked: Asked) -> Mapping[str, Any]:
    return evaluations.cancel(desk, person, said(asked, "id"))


def list_records(desk: Desk, person: Person, asked: Asked) -> Mapping[str, Any]:
    wanted: dict[str, Any] = {name: asked.get(name) for name in ("q", "model", "dataset", "kind", "task", "tag")}
    wanted |= {"status": choice(asked, "status", ("running", "finished")), "limit": limit_of(asked, 50)}
    wanted |= {"sort": choice(asked, "sort", tuple(SORTS)) or "created", "descending": not asked.get("ascending")}
    start = asked.get("start", 0)
    if not 0 <= start <= _FURTHEST:
        raise UsageError(f"`start` is {start}, it must be from 0 to {_FURTHEST}")
    return records.find(desk, person, Chosen(**wanted, start=start))


def get_record(desk: Desk, person: Person, asked: Asked) -> Mapping[str, Any]:
    return records.get(desk, person, said(asked, "name")).model_dump(mode="json")


def get_samples(desk: Desk, person: Person, asked: Asked) -> Mapping[str, Any]:
    only, start = choice(asked, "only", ("right", "wrong", "failed")), asked.get("start", 0)
    if not 0 <= start <= 10**12:
        raise UsageError(f"`start` is {start}, it must be from 0 to {10**12}")
    wanted: dict[str, Any] = {name: asked.get(name) for name in ("label", "answer", "above", "below")}
    wanted |= {"only": only, "q": said(asked, "q", 200) if "q" in asked else None}
    wanted |= {"sort": choice(asked, "sort", ("order", "score", "latency", "quality"))}
    wanted |= {"descending": asked.get("descending", False), "start": start, "limit": limit_of(asked, 100)}
    return samples.find(desk, person, said(asked, "name"), **wanted)


def delete_record(desk: Desk, person: Person, asked: Asked) -> Mapping[str, Any]:
    records.delete(desk, person, said(asked, "name"))
    return {}


def list_agents(desk: Desk, person: Person, asked: Asked) -> Mapping[str, Any]:
    return {"items": agents.find(desk, person)}


def get_agent(desk: Desk, person: Person, asked: Asked) -> Mapping[str, Any]:
    return agents.get(desk, person, said(asked, "id"))


def drain_agent(desk: Desk, person: Person, asked: Asked) -> Mapping[str, Any]:
    return agents.drain(desk, person, said(asked, "id"), asked.get("draining", True))


CALLS: dict[str, Call] = {
    "WhoAmI": who_am_i,
    "ListManifests": list_manifests,
    "GetManifest": get_manifest,
    "PutManifest": put_manifest,
    "DeleteManifest": delete_manifest,
    "ResolveRequest": resolve_request,
    "AskForWork": ask_for_work,
    "ListEvaluations": list_evaluations,
    "GetEvaluation": get_evaluation,
    "CancelEvaluation": cancel_evaluation,
    "ListRecords": list_records,
    "GetRecord": get_record,
    "GetSamples": get_samples,
    "DeleteRecord": delete_record,
    "ListAgents": list_agents,
    "GetAgent": get_agent,
    "DrainAgent": drain_agent,
    **PREDICTION_CALLS,
    **CATALOGUE_CALLS,
    **REPLICATION_CALLS,
    **SENSITIVITY_CALLS,
    **HUB_CALLS,
}
