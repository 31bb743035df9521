"""Who may take what, changed after it was asked for: agents come, and are not what they were."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import and_, delete, insert, or_, select

from mlmodelscope.ledger.change import tell_all
from mlmodelscope.ledger.request import Request, Work
from mlmodelscope.ledger.tables import eligible, evaluations, requests
from mlmodelscope.record.database import Database


@dataclass(frozen=True)
class Open:
    """An evaluation that has not ended, and whether an agent may take it."""

    evaluation: str
    request: str
    document: Request
    offered: bool

    @property
    def is_for_one(self) -> bool:
        """Whether whoever fits may do it; else it is one of several that are each for an agent of their own."""
        return self.document.agents == "one"


class Offers:
    def __init__(self, database: Database) -> None:
        self._database = database

    def open_work(self, agent: str) -> list[Open]:
        """What waits or may come to wait again: what runs, too, since its agent may be lost."""
        mine = and_(eligible.c.evaluation == evaluations.c.id, eligible.c.agent == agent)
        query = (
            select(evaluations.c.id, evaluations.c.request, requests.c.document, eligible.c.agent)
            .join(requests, requests.c.id == evaluations.c.request)
            .outerjoin(eligible, mine)
            .where(
                or_(
                    evaluations.c.state == "waiting",
                    and_(evaluations.c.state == "running", evaluations.c.agent.is_not(None)),
                )
            )
        )
        documents: dict[str, Request] = {}
        found = []
        with self._database.reading() as connection:
            for row in connection.execute(query):
                if row.request not in documents:
                    documents[row.request] = Request.model_validate_json(row.document)
                found.append(Open(row.id, row.request, documents[row.request], row.agent is not None))
        return found

    def work(self, evaluation: str) -> Work:
        """What there is to do; all parts of a request say the same of what they need."""
        with self._database.reading() as connection:
            text = connection.execute(select(evaluations.c.work).where(evaluations.c.id == evaluation)).scalar()
        return Work.model_validate_json(text or "")

    def change(self, agent: str, fresh: Sequence[str], stale: Sequence[str]) -> None:
        """Let it take these, and those no longer."""
        if not fresh and not stale:
            return
        with self._database.writing() as connection:
            if stale:
                gone = eligible.c.agent == agent, eligible.c.evaluation.in_(list(stale))
                connection.execute(delete(eligible).where(*gone))
            if fresh:
                known = connection.execute(
                    select(eligible.c.evaluation).where(eligible.c.agent == agent, eligible.c.evaluation.in_(fresh))
                ).scalars()
                new = sorted(set(fresh) - set(known))
                if new:
                    connection.execute(insert(eligible), [{"evaluation": each, "agent": agent} for each in new])
                tell_all(connection, new, "offered", {"agent": agent})
