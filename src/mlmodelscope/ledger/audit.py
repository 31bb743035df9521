"""Who did what: kept apart from logs, which come and go."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import RowMapping, insert, select

from mlmodelscope.ledger.moment import now
from mlmodelscope.ledger.tables import audit
from mlmodelscope.record.database import Database


class Audit:
    def __init__(self, database: Database) -> None:
        self._database = database

    def note(self, owner: str, what: str, about: str) -> None:
        with self._database.writing() as connection:
            connection.execute(insert(audit).values(at=now(), owner=owner, what=what, about=about[:200]))

    def list(self, limit: int = 100, before: int | None = None) -> Sequence[RowMapping]:
        query = select(audit).order_by(audit.c.number.desc()).limit(limit)
        if before is not None:
            query = query.where(audit.c.number < before)
        with self._database.reading() as connection:
            return connection.execute(query).mappings().all()
