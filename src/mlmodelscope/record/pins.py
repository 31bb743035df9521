"""Records that stay, whatever the policy of retention says."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import delete, insert, select
from sqlalchemy.exc import IntegrityError

from mlmodelscope.record.database import Database
from mlmodelscope.record.tables import pins


def pin(database: Database, record: str, owner: str) -> None:
    """It stays; who said so first is remembered."""
    values = {"record": record, "owner": owner, "pinned_at": datetime.now(UTC).replace(tzinfo=None)}
    try:
        with database.writing() as connection:
            connection.execute(insert(pins).values(values))
    except IntegrityError:
        return


def unpin(database: Database, record: str) -> None:
    with database.writing() as connection:
        connection.execute(delete(pins).where(pins.c.record == record))


def pinned(database: Database) -> dict[str, str]:
    """Who pinned which record."""
    with database.reading() as connection:
        return {row.record: row.owner for row in connection.execute(select(pins))}


def pinned_by(database: Database, record: str) -> str | None:
    with database.reading() as connection:
        found: str | None = connection.execute(select(pins.c.owner).where(pins.c.record == record)).scalar()
        return found
