"""Whose a record is: whoever asked a server for it, or pushed it there; one of nobody's is the server's operator's."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, insert, select

from mlmodelscope.record.database import Database
from mlmodelscope.record.tables import record_owners, records

OPERATOR = "local"
"""Whoever works on the server's own machine."""


def give(connection: Connection, record: str, owner: str, *, since: datetime | None = None) -> None:
    """The record is this owner's, unless it is another's, or older than what they asked for: then it only answered."""
    if connection.execute(select(record_owners.c.owner).where(record_owners.c.record == record)).first() is not None:
        return
    made_at = connection.execute(select(records.c.created_at).where(records.c.id == record)).scalar()
    if made_at is not None and (since is None or made_at >= since):
        connection.execute(insert(record_owners).values(record=record, owner=owner))


def owner_of(database: Database, record: str) -> str:
    query = select(record_owners.c.owner).where(record_owners.c.record == record)
    with database.reading() as connection:
        return str(connection.execute(query).scalar() or OPERATOR)
