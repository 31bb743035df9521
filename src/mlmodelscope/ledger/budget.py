"""What a request has cost so far: seconds in which agents had it, over all attempts and parts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import and_, select

from mlmodelscope.ledger.moment import now
from mlmodelscope.ledger.request import Request
from mlmodelscope.ledger.tables import evaluations, events, requests
from mlmodelscope.record.database import Database

_OPEN = ("waiting", "running")
_ENDS = ("waiting", "finished", "failed", "cancelled")
"""Events after which no agent has it."""


@dataclass(frozen=True)
class Spent:
    request: str
    budget_s: int
    spent_s: float
    open: tuple[str, ...]
    """Its evaluations that have not ended, without their parts."""

    @property
    def is_all(self) -> bool:
        return self.spent_s >= self.budget_s


class Budgets:
    def __init__(self, database: Database) -> None:
        self._database = database

    def spent(self) -> list[Spent]:
        """Of every request that has a budget and something left to do."""
        # Requests with a budget are few; only those that may have one are read.
        query = (
            select(requests.c.id, requests.c.document, evaluations.c.id.label("evaluation"))
            .join(evaluations, evaluations.c.request == requests.c.id)
            .where(evaluations.c.state.in_(_OPEN), evaluations.c.part_of.is_(None))
            .where(requests.c.document.like('%"budget_s":%'), requests.c.document.not_like('%"budget_s":null%'))
        )
        with self._database.reading() as connection:
            documents: dict[str, str] = {}
            open_ones: dict[str, list[str]] = {}
            for row in connection.execute(query):
                documents[row.id] = row.document
                open_ones.setdefault(row.id, []).append(row.evaluation)
        found = []
        for identity, document in documents.items():
            budget = Request.model_validate_json(document).budget_s
            if budget is not None:
                found.append(Spent(identity, budget, self.seconds(identity), tuple(open_ones[identity])))
        return found

    def seconds(self, request: str) -> float:
        """How long agents had its evaluations, until now where one has it still."""
        of_request = and_(events.c.evaluation == evaluations.c.id, evaluations.c.request == request)
        query = (
            select(events.c.evaluation, events.c.at, events.c.kind, events.c.document)
            .join(evaluations, of_request)
            .where(events.c.kind.in_(("running", *_ENDS)))
            .order_by(events.c.number)
        )
        begun: dict[str, datetime] = {}
        total = 0.0
        with self._database.reading() as connection:
            for row in connection.execute(query):
                since = begun.pop(row.evaluation, None)
                if since is not None:
                    total += (row.at - since).total_seconds()
                if row.kind == "running" and '"attempt"' in row.document:  # a whole in parts has no agent of its own
                    begun[row.evaluation] = row.at
        return total + sum((now() - since).total_seconds() for since in begun.values())
