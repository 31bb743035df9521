"""Query before schedule: finished records that answer a request already, or nearly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import select

from mlmodelscope.cluster.description import AgentDescription, Offer
from mlmodelscope.cluster.resolve import is_offered
from mlmodelscope.errors import MLModelScopeError
from mlmodelscope.ledger.request import Request, Where
from mlmodelscope.ledger.tables import evaluations
from mlmodelscope.ledger.tokens import Person
from mlmodelscope.manifest.schema import HardwareManifest
from mlmodelscope.plan.match import unmet
from mlmodelscope.plan.options import Options
from mlmodelscope.plan.plan import Plan
from mlmodelscope.plan.training import adjusted
from mlmodelscope.plugins.predictors import PREDICTORS
from mlmodelscope.provision.machine.facts import facts_of
from mlmodelscope.record.headline import aliases, headline
from mlmodelscope.record.record import Record
from mlmodelscope.server.desk import Desk, demand
from mlmodelscope.server.handle import requests
from mlmodelscope.server.handle.requests import Prepared
from mlmodelscope_worker.environment import normalise

_KINDS = {"evaluate": "evaluation", "replicate": "evaluation", "sensitivity": "evaluation", "train": "training"}
_LOOKED_AT = 20
_OFFERED = 5


@dataclass(frozen=True)
class Earlier:
    """A record that is there already, and in what it is another one than would be made."""

    record: Record
    differs: tuple[str, ...]

    @property
    def is_exact(self) -> bool:
        return not self.differs


def find_earlier(desk: Desk, request: Request, prepared: Prepared) -> list[Earlier]:
    """Those that are exactly what is asked for first, then those that differ least; the newer before the older."""
    kind = _KINDS.get(request.kind, request.kind)
    rows = desk.store.list(
        model=prepared.model, dataset=prepared.dataset, status="finished", kind=kind, limit=_LOOKED_AT
    )
    agents = _agents(desk, [row["id"] for row in rows]) if request.where.agent or request.where.labels else {}
    found = []
    for row in rows:
        try:
            record = desk.store.get(row["id"])
        except MLModelScopeError:
            continue  # deleted meanwhile, or of a newer release
        if meets(request.where, prepared.needs.hardware, record, agents.get(record.id)):
            found.append(Earlier(record, tuple(_differences(request, prepared, record))))
    return sorted(found, key=lambda each: len(each.differs))[:_OFFERED]


def spell(each: Earlier) -> dict[str, Any]:
    record = each.record
    found = headline(record)
    return {
        "record": record.id,
        "exact": each.is_exact,
        "differs": list(each.differs),
        "finished_at": record.finished_at,
        "model": record.plan.model.reference,
        "dataset": record.plan.dataset.reference,
        "stack": record.plan.stack.name,
        "cpu": record.machine.cpu,
        "samples": record.samples,
        "headline": found,
        "top1": aliases(found)["top1"],
        "latency_s": record.latency.p50_s.value if record.latency is not None else None,
    }


def meets(where: Where, hardware: HardwareManifest | None, record: Record, agent: AgentDescription | None) -> bool:
    """Whether a record was made where a request may run."""
    if where.agent is not None and (agent is None or agent.id != where.agent):
        return False
    if where.labels and (agent is None or any(agent.labels.get(key) != value for key, value in where.labels.items())):
        return False
    wanted = [each for each in (where.hardware, hardware) if each is not None]
    if wanted:
        if record.machine.details is None:
            return False  # too old to say
        facts = facts_of(record.machine.details, record.machine.cpu)
        if any(unmet(each, facts) for each in wanted):
            return False
    if where.stack is not None and record.plan.stack.name.partition("@")[0] != where.stack:
        return False
    return where.framework is None or is_offered(_framework(record.plan), where.framework)


def _framework(plan: Plan) -> list[Offer]:
    name = plan.predictor.name
    declaration = PREDICTORS.get(name or "")
    if name is None or declaration is None:
        return []
    packages = {normalise(each): version for each, version in plan.stack.packages.items()}
    versions = [packages[normalise(each)] for each in declaration.packages if normalise(each) in packages]
    return [
        Offer(stack=plan.stack.name, framework=name, version=each, state="built")
        for each in versions[:1] or ["unknown"]
    ]


def _differences(request: Request, prepared: Prepared, record: Record) -> Iterator[str]:
    plan = record.plan
    if plan.dataset.split != prepared.aspects.dataset.split and prepared.has_dataset:
        yield f"split: {plan.dataset.split or 'none'} there, {prepared.aspects.dataset.split or 'none'} is asked for"
    for word, manifest in (("model", prepared.aspects.model), ("dataset", prepared.aspects.dataset)):
        known = plan.manifests.get(word)
        if manifest is None or (known is not None and known.digest == manifest.digest):
            continue
        if known is not None and known.version != manifest.version:
            yield f"{word}: {known.version} there, {manifest.version} is asked for"
        else:
            yield f"{word}: another manifest of the same name and version"
    software = prepared.needs.software
    if software is not None and plan.stack.name.partition("@")[0] != software.name:
        yield f"software: {plan.stack.name} there, {software.name} is asked for"
    wanted = asdict(Options(**request.options))
    for name, value in chosen(plan).items():
        if name == "relax_framework" and wanted[name]:
            continue  # it was allowed, and not needed
        if not _is_same(value, wanted[name]):
            yield f"{name}: {_spelled(value)} there, {_spelled(wanted[name])} is asked for"
    if record.bench is not None and record.bench.scenario != request.arguments.get("scenario", "single-stream"):
        yield f"scenario: {record.bench.scenario} there"
    if record.profile is not None and record.profile.level != request.arguments.get("level", "framework"):
        yield f"level: {record.profile.level} there"


def chosen(plan: Plan) -> dict[str, Any]:
    """The options that a plan was made with, as far as the plan tells them."""
    scenario, subset = plan.scenario, plan.dataset.subset
    return {
        "batch_size": scenario.batch_size,
        "top_k": plan.answer.top_k,
        "limit": subset.count,
        "stratified": subset.stratified,
        "seed": plan.seed,
        "warm_up_runs": scenario.warm_up_runs,
        "timed_runs": scenario.timed_runs,
        "timed_budget_s": scenario.timed_budget_s,
        "threads": plan.predictor.options.get("threads", 1),
        "predictor_options": {**plan.predictor.options, **plan.predictor.where},
        "hyperparameters": plan.hyperparameters,
        "training": adjusted(plan),
        "relax_framework": plan.stack.relaxed is not None,
    }


def _is_same(made_with: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):  # beside what is asked for it holds what the manifest says
        return all(made_with.get(key) == value for key, value in wanted.items())
    return bool(made_with == wanted)


def _spelled(value: Any) -> str:
    return "all" if value is None else str(value)


def _agents(desk: Desk, records: list[str]) -> dict[str, AgentDescription]:
    """Who made them, of those that are still known."""
    query = select(evaluations.c.record, evaluations.c.agent).where(evaluations.c.record.in_(records))
    with desk.store.database.reading() as connection:
        made_by = {row.record: row.agent for row in connection.execute(query)}
    known = {
        row["id"]: AgentDescription.model_validate_json(row["description"])
        for row in desk.agents.list()
        if row["id"] in made_by.values()
    }
    return {record: known[agent] for record, agent in made_by.items() if agent in known}


def of_request(desk: Desk, person: Person, request: Request) -> list[dict[str, Any]]:
    demand(person, "read")
    return [spell(each) for each in find_earlier(desk, request, requests.prepare(desk, person, request))]


def known(desk: Desk, person: Person, request: Request) -> list[dict[str, Any]]:
    """The same beside what was asked for; nothing for those who may not read."""
    return of_request(desk, person, request) if person.may("read") else []


def resolve_request(desk: Desk, person: Person, request: Request) -> dict[str, Any]:
    """Which agents fit, or what stands in the way, and what is known already; nothing runs."""
    resolution = requests.resolve_request(desk, person, request)
    return {**requests.spell(resolution), "earlier": of_request(desk, person, request)}
