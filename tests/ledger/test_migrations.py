"""The schema goes up and down, on every database, and says what the tables say."""

from __future__ import annotations

import pytest
from sqlalchemy import insert, inspect, text

import mlmodelscope.ledger.tables  # noqa: F401  its tables belong to the same schema
from mlmodelscope.errors import UsageError
from mlmodelscope.ledger.moment import now
from mlmodelscope.record.database import HEAD, Database, migrate, revision
from mlmodelscope.record.tables import metadata, records


def columns(database: Database) -> dict[str, dict[str, bool]]:
    found = inspect(database.engine)
    return {
        table: {column["name"]: bool(column["nullable"]) for column in found.get_columns(table)}
        for table in found.get_table_names()
        if table != "alembic_version"
    }


def indexes(database: Database) -> set[str]:
    found = inspect(database.engine)
    return {str(index["name"]) for table in metadata.tables for index in found.get_indexes(table)}


def test_the_migrations_make_the_tables(database: Database) -> None:
    wanted = {
        name: {column.name: bool(column.nullable) for column in table.columns}
        for name, table in metadata.tables.items()
    }
    assert columns(database) == wanted
    named = {str(index.name) for table in metadata.tables.values() for index in table.indexes}
    assert named <= indexes(database)


def test_down_and_up_again(database: Database) -> None:
    before = columns(database)
    _insert(database, "old", '{"bench": {"scenario": "server"}}')
    migrate(database, "0001")
    assert revision(database) == "0001" and set(columns(database)) == {"records", "metrics"}
    assert "kind" not in columns(database)["records"]
    migrate(database)
    assert revision(database) == HEAD and columns(database) == before
    with database.reading() as connection:
        kinds = connection.execute(text("SELECT id, kind, scenario FROM records")).all()
    assert [tuple(row) for row in kinds] == [("old", "bench", "server")]
    migrate(database, "base")
    assert columns(database) == {}
    migrate(database)
    assert columns(database) == before


def test_schemas_that_do_not_exist_are_said(database: Database) -> None:
    with pytest.raises(UsageError, match="no schema `9999`"):
        migrate(database, "9999")


def _insert(database: Database, identity: str, document: str) -> None:
    digests = dict.fromkeys(("plan_digest", "machine_digest", "worker_digest"), "0")
    names = dict.fromkeys(("model", "model_version", "dataset", "dataset_version"), "1")
    counts = {"samples": 0, "failed": 0}
    with database.writing() as connection:
        connection.execute(
            insert(records).values(
                id=identity, status="finished", created_at=now(), document=document, **digests, **names, **counts
            )
        )
