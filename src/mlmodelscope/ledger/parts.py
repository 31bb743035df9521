"""Evaluations in parts: how far the parts are, and the end of the whole."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sqlalchemy import func, select, update

from mlmodelscope.ledger.change import ENDED, end, row_of, tell
from mlmodelscope.ledger.moment import now
from mlmodelscope.ledger.request import Failure
from mlmodelscope.ledger.tables import evaluations
from mlmodelscope.record.database import Database
from mlmodelscope.record.owners import give


class Parts:
    def __init__(self, database: Database) -> None:
        self._database = database

    def states(self, whole: str) -> dict[str, int]:
        """How many parts of an evaluation are in which state."""
        state, count = evaluations.c.state, func.count()
        query = select(state, count).where(evaluations.c.part_of == whole).group_by(state)
        with self._database.reading() as connection:
            return {row[0]: row[1] for row in connection.execute(query)}

    def failure(self, whole: str) -> Failure:
        """Why one of its parts failed."""
        query = select(evaluations.c.error).where(evaluations.c.part_of == whole, evaluations.c.state == "failed")
        with self._database.reading() as connection:
            return Failure.model_validate_json(connection.execute(query.limit(1)).scalar_one())

    def open_wholes(self) -> Sequence[str]:
        """Evaluations in parts that have not ended."""
        part = evaluations.alias()
        query = (
            select(evaluations.c.id)
            .where(evaluations.c.state == "running", evaluations.c.agent.is_(None))
            .where(select(part.c.id).where(part.c.part_of == evaluations.c.id).exists())
        )
        with self._database.reading() as connection:
            return connection.execute(query).scalars().all()

    def end_whole(self, whole: str, record: str | None, failure: Failure | None = None) -> None:
        """An evaluation in parts has ended: with a record, with a failure, or because it was cancelled."""
        with self._database.writing() as connection:
            row = row_of(connection, whole)
            if row["state"] in ENDED:
                return
            state = "finished" if record else "failed" if failure else "cancelled"
            end(connection, whole, state, record=record, error=failure.model_dump_json() if failure else None)
            tell(connection, whole, state, failure.model_dump() if failure else {"record": record} if record else {})
            if record is not None:
                give(connection, record, row["owner"])
            rest = evaluations.c.part_of == whole, evaluations.c.state.not_in(ENDED)
            connection.execute(update(evaluations).where(*rest).values(cancel=True))
            waiting = (*rest, evaluations.c.state == "waiting")
            connection.execute(update(evaluations).where(*waiting).values(state="cancelled", ended_at=now()))

    def progress(self, evaluation: str, done: int, of: int) -> None:
        """How many parts are done, where that has changed."""
        document = json.dumps({"done": done, "of": of, "parts": True})
        with self._database.writing() as connection:
            row = row_of(connection, evaluation)
            if row["progress"] != document and row["state"] not in ENDED:
                values = update(evaluations).where(evaluations.c.id == evaluation).values(progress=document)
                connection.execute(values)
                tell(connection, evaluation, "progress", json.loads(document))
