"""Write the newest schema as SQL for new SQLite files, from the migrations that lead to it. A test compares.

A new home folder is filled with it at once; Alembic, which would make the same tables one migration after the other,
takes longer to import than that.
"""

from __future__ import annotations

import sqlite3
import tempfile
from pathlib import Path

from mlmodelscope.record.database import HEAD, connect_database, migrate
from mlmodelscope.settings import Settings

SCHEMA = Path(__file__).parent.parent / "src" / "mlmodelscope" / "record" / "migrations" / "sqlite.sql"


def schema(home: Path) -> str:
    """Statements that make what the migrations make of an empty file, in their order."""
    database = connect_database(Settings(home=home, cache=home))
    database.engine  # noqa: B018  (with an engine the migrations are run, not the file that is written here)
    try:
        migrate(database)
    finally:
        database.close()
    with sqlite3.connect(home / "records.sqlite") as connection:
        made = [
            row[0] for row in connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid")
        ]
    lines = "\n".join(f"{each};" for each in [*made, f"INSERT INTO alembic_version VALUES ('{HEAD}')"]).splitlines()
    return "\n".join(line.rstrip().replace("\t", "  ") for line in lines) + "\n"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        SCHEMA.write_text(schema(Path(place)))
    print(f"{SCHEMA} is written")
