"""Files that people have uploaded: what they are called, whose they are, how much they take."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import RowMapping, delete, func, insert, select, tuple_
from sqlalchemy.exc import IntegrityError

from mlmodelscope.errors import UsageError
from mlmodelscope.ledger.moment import now
from mlmodelscope.ledger.tables import artifacts
from mlmodelscope.record.database import Database


class Artifacts:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, digest: str, size: int, name: str, owner: str) -> bool:
        """False where another one was first; the bytes are the same."""
        values = {"digest": digest, "size": size, "name": name, "owner": owner, "created_at": now()}
        try:
            with self._database.writing() as connection:
                connection.execute(insert(artifacts).values(values))
            return True
        except IntegrityError:
            return False

    def find(self, digest: str) -> RowMapping | None:
        with self._database.reading() as connection:
            return connection.execute(select(artifacts).where(artifacts.c.digest == digest)).mappings().first()

    def get(self, digest: str) -> RowMapping:
        found = self.find(digest)
        if found is None:
            raise UsageError(f"there is no artifact `{digest}`", hint="it was never uploaded, or not completely")
        return found

    def list(
        self, limit: int, before: tuple[datetime, str] | None = None, owner: str | None = None
    ) -> Sequence[RowMapping]:
        """Newest first."""
        query = select(artifacts).order_by(artifacts.c.created_at.desc(), artifacts.c.digest.desc()).limit(limit)
        if before is not None:
            query = query.where(tuple_(artifacts.c.created_at, artifacts.c.digest) < before)
        if owner is not None:
            query = query.where(artifacts.c.owner == owner)
        with self._database.reading() as connection:
            return connection.execute(query).mappings().all()

    def size(self) -> int:
        """Bytes of all of them."""
        with self._database.reading() as connection:
            return int(connection.execute(select(func.coalesce(func.sum(artifacts.c.size), 0))).scalar() or 0)

    def delete(self, digest: str) -> None:
        with self._database.writing() as connection:
            connection.execute(delete(artifacts).where(artifacts.c.digest == digest))
