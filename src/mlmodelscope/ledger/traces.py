"""Traces that can be looked at: those that came over OTLP, and those of records."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import RowMapping, delete, func, insert, select, tuple_, update
from sqlalchemy.exc import IntegrityError

from mlmodelscope.errors import UsageError
from mlmodelscope.ledger.moment import now
from mlmodelscope.ledger.tables import traces
from mlmodelscope.record.database import Database
from mlmodelscope.record.tables import records


class Traces:
    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, identity: str, facts: dict[str, Any], *, owner: str, at: datetime | None = None) -> None:
        """Keep what is known of it by now; it stays whose it was."""
        change = update(traces).where(traces.c.id == identity).values(facts)
        with self._database.writing() as connection:
            if connection.execute(change).rowcount:
                return
        try:
            with self._database.writing() as connection:
                connection.execute(insert(traces).values(id=identity, owner=owner, created_at=at or now(), **facts))
        except IntegrityError:  # two messages of a new trace at once
            with self._database.writing() as connection:
                connection.execute(change)

    def find(self, identity: str) -> RowMapping | None:
        with self._database.reading() as connection:
            return connection.execute(select(traces).where(traces.c.id == identity)).mappings().first()

    def get(self, identity: str) -> RowMapping:
        found = self.find(identity)
        if found is None:
            raise UsageError(f"there is no trace `{identity}`")
        return found

    def list(
        self,
        limit: int,
        before: tuple[datetime, str] | None = None,
        since_ns: int | None = None,
        until_ns: int | None = None,
        **wanted: str | None,
    ) -> Sequence[RowMapping]:
        """Newest first."""
        query = select(traces).order_by(traces.c.created_at.desc(), traces.c.id.desc()).limit(limit)
        if before is not None:
            query = query.where(tuple_(traces.c.created_at, traces.c.id) < before)
        if since_ns is not None:
            query = query.where(traces.c.began_unix_ns >= since_ns)
        if until_ns is not None:
            query = query.where(traces.c.began_unix_ns < until_ns)
        for name, value in wanted.items():
            if value is not None:
                query = query.where(traces.c[name] == value)
        with self._database.reading() as connection:
            return connection.execute(query).mappings().all()

    def size(self) -> int:
        """Bytes of those that belong to no record."""
        query = select(func.coalesce(func.sum(traces.c.size), 0)).where(traces.c.record.is_(None))
        with self._database.reading() as connection:
            return int(connection.execute(query).scalar() or 0)

    def unlisted(self, limit: int) -> Sequence[RowMapping]:
        """Records with a trace that is not in the list yet."""
        query = (
            select(records.c.id, records.c.model, records.c.created_at)
            .outerjoin(traces, traces.c.record == records.c.id)
            .where(records.c.kind == "profile", records.c.status == "finished", traces.c.id.is_(None))
            .order_by(records.c.created_at.desc())
            .limit(limit)
        )
        with self._database.reading() as connection:
            return connection.execute(query).mappings().all()

    def delete(self, identity: str) -> None:
        with self._database.writing() as connection:
            connection.execute(delete(traces).where(traces.c.id == identity))
