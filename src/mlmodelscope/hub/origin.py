"""Where a record came from: what was signed, by whom, and when it was taken in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, insert, select

from mlmodelscope.hub.statement import Statement, digest_of
from mlmodelscope.ledger.moment import now, spoken
from mlmodelscope.record.database import Database
from mlmodelscope.record.tables import origins, signatures


@dataclass(frozen=True)
class Origin:
    digest: str
    statement: str
    source: str
    received_at: datetime | None
    signatures: Mapping[str, str]


def origin_of(database: Database, record: str) -> Origin | None:
    """None where the record was made here."""
    with database.reading() as connection:
        row = connection.execute(select(origins).where(origins.c.record == record)).first()
        if row is None:
            return None
        signed = connection.execute(select(signatures).where(signatures.c.record == record).order_by(signatures.c.key))
        by_key = {each.key: each.signature for each in signed}
    return Origin(row.digest, row.statement, row.source, spoken(row.received_at), by_key)


def write_origin(connection: Connection, statement: Statement, signed: Mapping[str, str], source: str) -> None:
    connection.execute(
        insert(origins).values(
            record=statement.record,
            digest=digest_of(statement),
            statement=statement.text(),
            source=source[:300],
            received_at=now(),
        )
    )
    if signed:
        rows = [{"record": statement.record, "key": key, "signature": text} for key, text in signed.items()]
        connection.execute(insert(signatures), rows)


def add_signatures(database: Database, record: str, signed: Mapping[str, str]) -> None:
    """Further ones of the same statement, that came with another copy."""
    with database.writing() as connection:
        known = set(connection.execute(select(signatures.c.key).where(signatures.c.record == record)).scalars())
        rows = [{"record": record, "key": key, "signature": text} for key, text in signed.items() if key not in known]
        if rows:
            connection.execute(insert(signatures), rows)
