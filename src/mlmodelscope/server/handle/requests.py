"""Asking for work: the manifests are found and the agents that fit are named before anything runs."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from mlmodelscope.cluster.description import AgentDescription
from mlmodelscope.cluster.resolve import Needs, Resolution, narrows, resolve
from mlmodelscope.errors import PlanError, TrustError, UsageError, VersionError
from mlmodelscope.ledger.queue import Planned
from mlmodelscope.ledger.request import ManifestChoice, Request, Work
from mlmodelscope.ledger.tokens import Person
from mlmodelscope.manifest.aspects import CURRENT, Aspects, find_aspects
from mlmodelscope.manifest.schema import DatasetManifest, HardwareManifest, ModelManifest, SoftwareManifest
from mlmodelscope.manifest.version import both
from mlmodelscope.plan.claim import claimed_dataset, parse_claim
from mlmodelscope.plan.options import Options
from mlmodelscope.plan.trust import needs_trust
from mlmodelscope.prediction import LOOSE_IMAGES
from mlmodelscope.server.desk import Desk, demand
from mlmodelscope.server.handle import artifacts
from mlmodelscope.server.handle.pairing import check_pairing
from mlmodelscope.server.handle.shelf import Shelf

_CHECKED = TypeAdapter(Options)
_OPTIONS = {field.name for field in fields(Options)}
_REACHING = ("url", "token_variable")
"""Options of predictors that ask a server: where it is, and the variable that is sent there as the key."""


@dataclass(frozen=True)
class Prepared:
    """A request with its manifests found."""

    work: Work
    needs: Needs
    aspects: Aspects
    has_dataset: bool = True

    @property
    def model(self) -> str:
        return self.aspects.model.name

    @property
    def dataset(self) -> str:
        return self.aspects.dataset.name if self.has_dataset else ""


class NoAgent(PlanError):
    """No agent fits; the resolution says why not."""

    def __init__(self, resolution: Resolution) -> None:
        super().__init__(str(resolution), hint="`wait_for_agent: true` has it wait until one joins that fits")
        self.resolution = resolution


def prepare(desk: Desk, person: Person, request: Request, *, with_dataset: bool = True) -> Prepared:
    unknown = sorted(set(request.options) - _OPTIONS)
    if unknown:
        raise UsageError(f"there is no option `{unknown[0]}`\nknown: {', '.join(sorted(_OPTIONS))}")
    try:
        _CHECKED.validate_python(request.options)
    except ValidationError as error:
        first = error.errors()[0]
        raise UsageError(f"options.{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    shelf = Shelf(desk)
    aspects = find_aspects(
        request.model,
        _dataset_of(request, shelf) if with_dataset else LOOSE_IMAGES,
        request.software or request.where.stack,
        request.hardware,
        find=shelf,
    )
    if request.trust:
        demand(person, "trust")
    elif needs_trust(aspects, Options(**request.options)):
        raise TrustError(
            "code in these manifests or their files would run, and the request does not say that it may",
            hint="`trust: true`, with a token that has the scope `trust`",
        )
    texts = {sought: shelf.text_of(sought) for sought in (DatasetManifest, SoftwareManifest, HardwareManifest)}
    model = shelf.text_of(ModelManifest)
    assert model is not None
    artifacts.demand_present(desk, model, texts[DatasetManifest], texts[SoftwareManifest])
    if with_dataset:
        check_pairing(desk, aspects, _is_strangers(person, request, aspects))
    work = Work(
        kind=request.kind,
        model=model,
        dataset=texts[DatasetManifest],
        split=aspects.dataset.split if with_dataset else None,
        software=aspects.software_word or texts[SoftwareManifest],
        hardware=texts[HardwareManifest],
        framework=_narrowed(request, aspects),
        options=request.options,
        arguments=request.arguments,
        trust=request.trust,
        again=request.again,
        attempts=request.attempts,
        public_only=_is_strangers(person, request, aspects),
    )
    return Prepared(work, needs_of(request, aspects), aspects, with_dataset)


def _dataset_of(request: Request, shelf: Shelf) -> ManifestChoice | None:
    """What is named; a replication that names none is about the dataset that the claim names."""
    if request.dataset is not None or request.kind != "replicate":
        return request.dataset
    claim = request.arguments.get("claim")
    return claimed_dataset(shelf(ModelManifest, request.model), parse_claim(claim) if claim else None)


def _narrowed(request: Request, aspects: Aspects) -> str | None:
    """The constraint on the model's framework that a request adds; where it names software, that decides."""
    choice, model = request.where.framework, aspects.model
    if choice is None or aspects.software is not None or aspects.software_word is not None:
        return None
    if not narrows(choice, model):
        return None
    assert model.framework is not None
    try:
        both(model.framework.version, choice.version)
    except VersionError as error:
        raise UsageError(f"where.framework.version: {error.message}", hint=error.hint) from None
    return choice.version


def needs_of(request: Request, aspects: Aspects) -> Needs:
    """What an agent must meet."""
    return Needs(
        request.where,
        aspects.model,
        aspects.software if aspects.software_word is None else None,
        aspects.hardware,
        needs_trust(aspects, Options(**request.options)),
        aspects.software_word,
        address_in(request),
    )


def address_in(request: Request) -> str | None:
    """The server that a request names for its model."""
    url = request.options.get("predictor_options", {}).get("url")
    return url if isinstance(url, str) else None


def _is_strangers(person: Person, request: Request, aspects: Aspects) -> bool:
    """Whether somebody on another machine says where files and answers come from, or which secret of an agent goes
    there; the server's own manifests may."""
    if person.is_local or person.may("admin"):
        return False
    reaches_out = any(each in request.options.get("predictor_options", {}) for each in _REACHING)
    return reaches_out or any(
        not Path(each.file).is_file() for each in aspects.manifests if each not in (CURRENT, LOOSE_IMAGES)
    )


def resolve_request(desk: Desk, person: Person, request: Request) -> Resolution:
    """Which agents fit, or what stands in the way; nothing runs."""
    demand(person, "read")
    return resolve(prepare(desk, person, request).needs, alive(desk))


def ask(desk: Desk, person: Person, request: Request, key: str | None = None) -> str:
    """Put a request into the queue and say its id; the same key again is the same request."""
    demand(person, "run")
    if key is not None:
        known = desk.queue.request_of_key(person.owner, key)
        if known is not None:
            return known
    prepared = prepare(desk, person, request)
    resolution = resolve(prepared.needs, alive(desk))
    if not resolution.matching and not request.wait_for_agent:
        raise NoAgent(resolution)
    groups = [resolution.matching] if request.agents == "one" else [(each,) for each in resolution.matching]
    planned = [Planned(prepared.work, prepared.model, prepared.dataset, group) for group in groups]
    identity = desk.queue.add(person.owner, request, planned, key)
    desk.bell.ring(resolution.matching)
    desk.audit.note(person.owner, f"ask {request.kind}", identity)
    return identity


def alive(desk: Desk) -> list[AgentDescription]:
    return [_described(row["description"]) for row in desk.agents.list(alive=True)]


@lru_cache(2000)
def _described(text: str) -> AgentDescription:
    return AgentDescription.model_validate_json(text)


def spell(resolution: Resolution) -> dict[str, Any]:
    """A resolution for programs."""
    return {
        "matching": list(resolution.matching),
        "agents": resolution.asked,
        "obstacles": [vars(each) for each in resolution.obstacles],
        "refusals": {agent: list(reasons) for agent, reasons in resolution.refusals.items()},
        "text": str(resolution),
    }
