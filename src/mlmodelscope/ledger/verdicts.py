"""Verdicts on claims, and what pitfalls would cost, as agents have told them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import select

from mlmodelscope.ledger.tables import evaluations, events
from mlmodelscope.record.database import Database

_NEWEST = 5000
_AT_ONCE = 500
FOUND = ("verdict", "sensed")
"""Events that say what was found: they are kept as long as their evaluation."""


class Verdicts:
    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, identities: Sequence[str]) -> dict[str, dict[str, Any]]:
        """The last one of each evaluation that has one."""
        return self._last("verdict", identities)

    def sensed(self, identities: Sequence[str]) -> dict[str, dict[str, Any]]:
        """What each pitfall would cost, of each evaluation that has measured it."""
        return self._last("sensed", identities)

    def _last(self, kind: str, identities: Sequence[str]) -> dict[str, dict[str, Any]]:
        query = (
            select(events.c.evaluation, events.c.document)
            .where(events.c.evaluation.in_(list(identities)), events.c.kind == kind)
            .order_by(events.c.number)
        )
        with self._database.reading() as connection:
            return {row.evaluation: json.loads(row.document) for row in connection.execute(query)}

    def newest(self) -> list[tuple[str, dict[str, Any]]]:
        """(evaluation, verdict), the newest first."""
        # In two steps: a database that is asked for both at once may read all events that there ever were.
        wanted = evaluations.c.part_of.is_(None), evaluations.c.state == "finished", evaluations.c.kind == "replicate"
        query = select(evaluations.c.id).where(*wanted).order_by(evaluations.c.created_at.desc()).limit(_NEWEST)
        with self._database.reading() as connection:
            identities = connection.execute(query).scalars().all()
        told: dict[str, dict[str, Any]] = {}
        for start in range(0, len(identities), _AT_ONCE):
            told |= self.of(identities[start : start + _AT_ONCE])
        return [(identity, told[identity]) for identity in identities if identity in told]

    def goal(self, evaluation: str) -> dict[str, Any] | None:
        """What a search looks for, once it has begun."""
        return self._last("judged", [evaluation]).get(evaluation)

    def rounds(self, evaluation: str) -> list[dict[str, Any]]:
        """What was tried so far, round by round."""
        query = (
            select(events.c.document)
            .where(events.c.evaluation == evaluation, events.c.kind == "tried")
            .order_by(events.c.number)
        )
        with self._database.reading() as connection:
            return [json.loads(document) for document in connection.execute(query).scalars()]
