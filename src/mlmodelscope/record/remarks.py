"""What people write about a record: tags to find it by, and notes. The record itself never changes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, RowMapping, delete, func, insert, select
from sqlalchemy.exc import IntegrityError

from mlmodelscope.errors import UsageError
from mlmodelscope.record.database import Database
from mlmodelscope.record.record import new_record_id
from mlmodelscope.record.tables import record_notes, record_tags

LONGEST_TAG, LONGEST_NOTE = 50, 4000
MOST_TAGS, MOST_NOTES = 30, 200
_TAG = re.compile(r"[^\W_][\w .:+@-]*")


def clean_tag(text: str) -> str:
    """As it is kept: without spaces around it."""
    found = " ".join(text.split())
    if not _TAG.fullmatch(found) or len(found) > LONGEST_TAG:
        raise UsageError(
            f"`{found[:60]}` cannot be a tag",
            hint=f"a tag begins with a letter or digit and has up to {LONGEST_TAG} letters, digits, spaces and .:+@_-",
        )
    return found


def clean_note(text: str) -> str:
    found = "".join(each if each.isprintable() or each == "\n" else " " for each in text.replace("\r\n", "\n")).strip()
    if not found or len(found) > LONGEST_NOTE:
        raise UsageError(f"a note has 1 to {LONGEST_NOTE} characters, this one has {len(found)}")
    return found


def add_tag(database: Database, record: str, tag: str, owner: str) -> None:
    """The same again changes nothing: whoever put it there first stays its owner."""
    values = {"record": record, "tag": clean_tag(tag), "owner": owner, "at": _now()}
    try:
        with database.writing() as connection:
            _refuse_more(connection, record_tags, record, MOST_TAGS, "tags")
            connection.execute(insert(record_tags).values(values))
    except IntegrityError:
        return


def remove_tag(database: Database, record: str, tag: str) -> None:
    with database.writing() as connection:
        connection.execute(delete(record_tags).where(record_tags.c.record == record, record_tags.c.tag == tag))


def add_note(database: Database, record: str, text: str, owner: str) -> str:
    identity = f"n{new_record_id()}"
    values = {"id": identity, "record": record, "owner": owner, "at": _now(), "text": clean_note(text)}
    with database.writing() as connection:
        _refuse_more(connection, record_notes, record, MOST_NOTES, "notes")
        connection.execute(insert(record_notes).values(values))
    return identity


def remove_note(database: Database, record: str, identity: str) -> None:
    with database.writing() as connection:
        connection.execute(delete(record_notes).where(record_notes.c.id == identity, record_notes.c.record == record))


def tags_of(database: Database, record: str) -> Sequence[RowMapping]:
    query = select(record_tags).where(record_tags.c.record == record).order_by(record_tags.c.tag)
    return _rows(database, query)


def notes_of(database: Database, record: str) -> Sequence[RowMapping]:
    """The oldest first, as people wrote them."""
    query = select(record_notes).where(record_notes.c.record == record)
    return _rows(database, query.order_by(record_notes.c.at, record_notes.c.id))


def _rows(database: Database, query: Any) -> Sequence[RowMapping]:
    with database.reading() as connection:
        return connection.execute(query).mappings().all()


def _refuse_more(connection: Connection, table: Any, record: str, most: int, what: str) -> None:
    count = connection.execute(select(func.count()).where(table.c.record == record)).scalar() or 0
    if count >= most:
        raise UsageError(f"record {record} has {count} {what}, {most} are the most", hint=f"remove {what} first")


def _now() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None)
