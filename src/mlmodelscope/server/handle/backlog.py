"""Offers waiting work to an agent that joins later: it need not have been online when a client asked."""

from __future__ import annotations

from mlmodelscope.cluster.description import AgentDescription
from mlmodelscope.cluster.resolve import refuse
from mlmodelscope.errors import MLModelScopeError
from mlmodelscope.ledger.offers import Offers, Open
from mlmodelscope.manifest.aspects import find_aspects, parse_text
from mlmodelscope.prediction import LOOSE_IMAGES
from mlmodelscope.server.desk import Desk
from mlmodelscope.server.handle.requests import needs_of


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
        work = offers.work(each.evaluation)
        # From what was decided when it was asked for: its texts, as they are.
        texts = (work.model, work.dataset or LOOSE_IMAGES, work.software, work.hardware)
        aspects = find_aspects(*texts, find=parse_text, split=work.split)
        return not refuse(needs_of(each.document, aspects), agent)
    except MLModelScopeError:
        return False  # asked for at another release
