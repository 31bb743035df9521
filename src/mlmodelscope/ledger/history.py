"""Evaluations and their events as they stand, for lists, streams and counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import RowMapping, and_, func, or_, select

from mlmodelscope.ledger.tables import evaluations, events
from mlmodelscope.record.database import Database
from mlmodelscope.record.tables import record_facts

_COLUMNS = [column for column in evaluations.c if column.name != "work"]  # long, and nobody's who only lists
_RESULT = [record_facts.c[name] for name in ("headline", "value", "low", "high", "unit")]
_SEARCHED = [evaluations.c[name] for name in ("id", "kind", "model", "dataset", "owner", "agent", "record")]


@dataclass(frozen=True)
class Narrowed:
    """Words that must all occur, and days; what is left out does not matter."""

    q: str | None = None
    since: datetime | None = None
    until: datetime | None = None


class History:
    def __init__(self, database: Database) -> None:
        self._database = database

    def list(
        self, *, limit: int = 50, before: tuple[datetime, str] | None = None, **wanted: str | None
    ) -> Sequence[RowMapping]:
        """Newest first, with the result of their records; `before` is where the last page ended."""
        return self.search(Narrowed(), wanted, limit, before)

    def search(
        self, narrowed: Narrowed, wanted: Mapping[str, str | None], limit: int, before: tuple[datetime, str] | None
    ) -> Sequence[RowMapping]:
        query = select(*_COLUMNS, *_RESULT).where(evaluations.c.part_of.is_(None))
        query = query.outerjoin_from(evaluations, record_facts, record_facts.c.record == evaluations.c.record)
        for word in (narrowed.q or "").lower().split():
            query = query.where(or_(*(func.lower(each).contains(word, autoescape=True) for each in _SEARCHED)))
        if narrowed.since is not None:
            query = query.where(evaluations.c.created_at >= narrowed.since)
        if narrowed.until is not None:
            query = query.where(evaluations.c.created_at <= narrowed.until)
        for name, value in wanted.items():
            if value is not None:
                query = query.where(evaluations.c[name] == value)
        if before is not None:
            moment, identity = before
            query = query.where(
                or_(
                    evaluations.c.created_at < moment,
                    and_(evaluations.c.created_at == moment, evaluations.c.id < identity),
                )
            )
        query = query.order_by(evaluations.c.created_at.desc(), evaluations.c.id.desc()).limit(limit)
        with self._database.reading() as connection:
            return connection.execute(query).mappings().all()

    def events(self, evaluation: str, after: int = 0, most: int = 500) -> Sequence[RowMapping]:
        query = (
            select(events)
            .where(events.c.evaluation == evaluation, events.c.number > after)
            .order_by(events.c.number)
            .limit(most)
        )
        with self._database.reading() as connection:
            return connection.execute(query).mappings().all()

    def oldest(self) -> datetime | None:
        """Since when the one that has waited longest is waiting."""
        query = select(func.min(evaluations.c.created_at)).where(evaluations.c.state == "waiting")
        with self._database.reading() as connection:
            found: datetime | None = connection.execute(query).scalar()
            return found

    def counts(self) -> dict[str, int]:
        """How many evaluations are in each state."""
        query = select(evaluations.c.state, func.count()).group_by(evaluations.c.state)
        with self._database.reading() as connection:
            return {state: count for state, count in connection.execute(query).all()}
