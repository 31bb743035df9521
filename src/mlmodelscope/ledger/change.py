"""Changes of an evaluation's state, each with the event that tells of it; within a transaction of the caller."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, RowMapping, insert, select, update

from mlmodelscope.errors import UsageError
from mlmodelscope.ledger.moment import later, now
from mlmodelscope.ledger.request import Failure, Work
from mlmodelscope.ledger.tables import evaluations, events

ENDED = ("finished", "failed", "cancelled")
_PAUSE_S = 1.0
_LONGEST_PAUSE_S = 300.0


class Gone(UsageError):
    """The evaluation is another one's by now, or has ended."""


def row_of(connection: Connection, evaluation: str) -> RowMapping:
    row = connection.execute(select(evaluations).where(evaluations.c.id == evaluation)).mappings().first()
    if row is None:
        raise UsageError(f"there is no evaluation `{evaluation}`")
    return row


def own_row(connection: Connection, evaluation: str, attempt: int) -> RowMapping:
    row = row_of(connection, evaluation)
    if row["attempt"] != attempt or row["state"] in ("failed", "cancelled", "waiting"):
        raise Gone(f"attempt {attempt} of evaluation {evaluation} is no longer the one that counts")
    return row


def running_row(connection: Connection, evaluation: str, attempt: int) -> RowMapping:
    """The same for what can only happen before its end: an agent that stops may not know yet that it was heard."""
    row = own_row(connection, evaluation, attempt)
    if row["state"] in ENDED:
        raise Gone(f"evaluation {evaluation} has ended: it is {row['state']}")
    return row


def tell(connection: Connection, evaluation: str, kind: str, document: Mapping[str, Any]) -> None:
    connection.execute(
        insert(events).values(evaluation=evaluation, at=now(), kind=kind, document=json.dumps(dict(document)))
    )


def tell_all(connection: Connection, chosen: Sequence[str], kind: str, document: Mapping[str, Any]) -> None:
    """The same event for several evaluations."""
    text = json.dumps(dict(document))
    rows = [{"evaluation": each, "at": now(), "kind": kind, "document": text} for each in chosen]
    if rows:
        connection.execute(insert(events), rows)


def end(connection: Connection, evaluation: str, state: str, **values: Any) -> None:
    connection.execute(
        update(evaluations)
        .where(evaluations.c.id == evaluation)
        .values(state=state, ended_at=now(), lease_until=None, **values)
    )


def fail(connection: Connection, row: RowMapping, failure: Failure, again: bool) -> None:
    attempts = Work.model_validate_json(row["work"]).attempts
    if row["cancel"]:
        end(connection, row["id"], "cancelled")
        tell(connection, row["id"], "cancelled", {})
    elif again and row["attempt"] < attempts:
        pause = min(_PAUSE_S * 2 ** (row["attempt"] - 1), _LONGEST_PAUSE_S) * (1 + secrets.randbelow(100) / 400)
        wait(connection, row["id"], failure.message, pause)
    else:
        end(connection, row["id"], "failed", error=failure.model_dump_json())
        tell(connection, row["id"], "failed", failure.model_dump())


def lose(connection: Connection, row: RowMapping, reason: str, pause_s: float | None = None) -> None:
    failure = Failure(kind="AgentLost", message=f"{reason}, attempt {row['attempt']}")
    if pause_s is None or row["cancel"] or row["attempt"] >= Work.model_validate_json(row["work"]).attempts:
        fail(connection, row, failure, again=True)
    else:
        wait(connection, row["id"], failure.message, pause_s)


def wait(connection: Connection, evaluation: str, because: str, pause_s: float) -> None:
    values = {"state": "waiting", "agent": None, "lease_until": None, "not_before": later(pause_s)}
    connection.execute(update(evaluations).where(evaluations.c.id == evaluation).values(values))
    tell(connection, evaluation, "waiting", {"because": because, "pause_s": round(pause_s, 1)})
