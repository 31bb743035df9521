"""Tokens and the audit log: who may do what, and who did."""

from __future__ import annotations

from typing import Any

from mlmodelscope.ledger.moment import spoken
from mlmodelscope.ledger.tokens import Person
from mlmodelscope.server.desk import Desk, demand


def tokens(desk: Desk, person: Person) -> list[dict[str, Any]]:
    """All tokens, without their secrets."""
    demand(person, "admin")
    return [
        {
            **{name: row[name] for name in ("id", "name", "owner")},
            "scopes": row["scopes"].split(),
            **{name: spoken(row[name]) for name in ("created_at", "expires_at", "used_at")},
        }
        for row in desk.tokens.list()
    ]


def make_token(
    desk: Desk, person: Person, *, name: str, owner: str, scopes: list[str], days: float | None
) -> dict[str, str]:
    demand(person, "admin")
    identity, secret = desk.tokens.make(name, owner, scopes, days)
    desk.audit.note(person.owner, "make token", identity)
    return {"id": identity, "token": secret}


def revoke_token(desk: Desk, person: Person, identity: str) -> None:
    demand(person, "admin")
    desk.tokens.revoke(identity)
    desk.audit.note(person.owner, "revoke token", identity)


def audit(desk: Desk, person: Person, limit: int, before: int | None) -> list[dict[str, Any]]:
    """Newest first."""
    demand(person, "admin")
    return [{**row, "at": spoken(row["at"])} for row in desk.audit.list(limit, before)]
