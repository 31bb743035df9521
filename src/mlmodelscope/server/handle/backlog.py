"""Offers waiting work to an agent that joins later: it need not have been online when a client asked."""

from __future__ import annotations

from pathlib import Path

from mlmodelscope.cluster.description import AgentDescription
from mlmodelscope.cluster.resolve import Needs, refuse
from mlmodelscope.errors import MLModelScopeError
from mlmodelscope.ledger.offers import Offers, Open
from mlmodelscope.ledger.request import Request, Work
from mlmodelscope.manifest.load import parse_document
from mlmodelscope.manifest.schema import HardwareManifest, ModelManifest, SoftwareManifest
from mlmodelscope.manifest.trust import code_of
from mlmodelscope.server.desk import Desk
from mlmodelscope.server.handle.requests import address_in


def offer(desk: Desk, agent: AgentDescription) -> None:
    """Let an agent take what waits and fits it, and nothing that does not fit it any more."""
    offers = Offers(desk.store.database)
    open_work = offers.open_work(agent.id)
    fits = {each.request: _fits(offers, each, agent) for each in _one_of_each(open_work)}
    fresh = [each.evaluation for each in open_work if not each.offered and each.is_for_one and fits[each.request]]
    stale = [each.evaluation for each in open_work if each.offered and not fits[each.request]]
    offers.change(agent.id, fresh, stale)
    if fresh:
        desk.bell.ring([agent.id])


def _one_of_each(work: list[Open]) -> list[Open]:
    """A request in a thousand parts is looked at once."""
    return list({each.request: each for each in work}.values())


def _fits(offers: Offers, each: Open, agent: AgentDescription) -> bool:
    try:
        return not refuse(needs_of(each.document, offers.work(each.evaluation)), agent)
    except MLModelScopeError:
        return False  # asked for at another release


def needs_of(request: Request, work: Work) -> Needs:
    """What an agent must meet, from what was decided when it was asked for: its texts, and that code may run."""
    model = parse_document(work.model, "<request>", Path("/nonexistent")).manifest()
    software = hardware = word = None
    if work.software is not None and (work.software == "current" or work.software.startswith("image:")):
        word = work.software
    elif work.software is not None:
        software = parse_document(work.software, "<request>", Path("/nonexistent")).manifest()
    if work.hardware is not None:
        hardware = parse_document(work.hardware, "<request>", Path("/nonexistent")).manifest()
    dataset = parse_document(work.dataset, "<request>", Path("/nonexistent")).manifest() if work.dataset else None
    carries_code = any(code_of(each) for each in (model, dataset, software, hardware) if each is not None)
    carries_code = carries_code or (word or "").startswith("image:")
    assert isinstance(model, ModelManifest)
    assert software is None or isinstance(software, SoftwareManifest)
    assert hardware is None or isinstance(hardware, HardwareManifest)
    return Needs(request.where, model, software, hardware, carries_code, word, address_in(request))
