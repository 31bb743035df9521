"""A ledger in SQLite, and one in a real PostgreSQL where that is installed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mlmodelscope.record.database import Database, open_database
from mlmodelscope.settings import Settings


@pytest.fixture(params=["sqlite", "postgresql"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """A home, and a database of its own of each kind."""
    address = _fresh(request.getfixturevalue("postgresql"), tmp_path) if request.param == "postgresql" else None
    return Settings(home=tmp_path / "home", cache=tmp_path / "cache", database=address)


@pytest.fixture
def database(where: Settings) -> Iterator[Database]:
    database = open_database(where)
    yield database
    database.close()


@pytest.fixture
def other(where: Settings, request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """An empty home with a database of the other kind."""
    address = _fresh(request.getfixturevalue("postgresql"), tmp_path / "other") if where.database is None else None
    return Settings(home=tmp_path / "other", cache=tmp_path / "cache", database=address)


def _fresh(address: str, tmp_path: Path) -> str:
    """A database of its own for each test."""
    from sqlalchemy import create_engine, make_url, text

    url = make_url(address).set(drivername="postgresql+psycopg")
    name = f"t{abs(hash(str(tmp_path)))}"
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f'CREATE DATABASE "{name}"'))
    engine.dispose()
    return url.set(database=name).render_as_string(hide_password=False)
