"""What earlier runs of a reproduction's checks came to: each leaves a row."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import insert, select

from mlmodelscope.record.database import open_database
from mlmodelscope.record.tables import reproduction_checks
from mlmodelscope.reproduction.result import Checked
from mlmodelscope.settings import Settings


@dataclass(frozen=True)
class Run:
    """One run of the checks."""

    id: str
    created_at: datetime
    outcome: str
    first_failed: str | None
    code_digest: str | None
    found: Mapping[str, Any]

    @property
    def verdicts(self) -> dict[str, str]:
        return {each["check"]: each["verdict"] for each in self.found["checks"]}


def keep(settings: Settings, found: Checked) -> None:
    first = found.first_failed
    values = {
        "id": uuid.uuid4().hex,
        "name": found.name,
        "digest": found.digest,
        "code_digest": found.code_digest,
        "created_at": datetime.now(UTC).replace(tzinfo=None),
        "outcome": found.outcome,
        "first_failed": first.check if first is not None else None,
        "document": json.dumps(found.to_json()),
    }
    database = open_database(settings)
    try:
        with database.writing() as connection:
            connection.execute(insert(reproduction_checks).values(values))
    finally:
        database.close()


def runs_of(settings: Settings, name: str, limit: int = 20) -> list[Run]:
    """The last runs of a reproduction, oldest first."""
    table = reproduction_checks
    newest = select(table).where(table.c.name == name).order_by(table.c.created_at.desc(), table.c.id).limit(limit)
    database = open_database(settings)
    try:
        with database.reading() as connection:
            rows = connection.execute(newest).all()
    finally:
        database.close()
    return [
        Run(
            row.id,
            row.created_at.replace(tzinfo=UTC),
            row.outcome,
            row.first_failed,
            row.code_digest,
            json.loads(row.document),
        )
        for row in reversed(rows)
    ]


def changes(before: Run | None, after: Run) -> list[str]:
    """Which checks have another verdict than in the run before."""
    if before is None:
        return []
    old = before.verdicts
    return [
        f"{check}: {old[check]} → {verdict}"
        for check, verdict in after.verdicts.items()
        if check in old and old[check] != verdict
    ]
