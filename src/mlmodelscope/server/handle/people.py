"""Tokens and the audit log: who may do what, and who did."""

from __future__ import annotations

from typing import Any

from mlmodelscope.ledger.moment import now, spoken
from mlmodelscope.ledger.tokens import Person
from mlmodelscope.server.desk import Desk, Refused, demand


def tokens(desk: Desk, person: Person) -> list[dict[str, Any]]:
    """One's own tokens, and for admins all of them; without their secrets."""
    demand(person, "read")
    return [
        {
            **{name: row[name] for name in ("id", "name", "owner")},
            "scopes": row["scopes"].split(),
            **{name: spoken(row[name]) for name in ("created_at", "expires_at", "used_at")},
        }
        for row in desk.tokens.list()
        if row["owner"] == person.owner or person.may("admin")
    ]


def make_token(
    desk: Desk, person: Person, *, name: str, owner: str | None, scopes: list[str], days: float | None
) -> dict[str, str]:
    """By admins any token; by others one of their own that may no more than theirs, and no longer."""
    whose = owner or person.owner
    if not person.may("admin"):
        demand(person, "run")
        if whose != person.owner or person.is_local:
            raise Refused("admin")
        for scope in scopes:
            demand(person, scope)
        days = _no_longer(person, days)
    identity, secret = desk.tokens.make(name, whose, scopes, days)
    desk.audit.note(person.owner, "make token", identity)
    return {"id": identity, "token": secret}


def _no_longer(person: Person, days: float | None) -> float | None:
    """Whoever gets hold of a token must not turn it into one that lasts."""
    if person.expires_at is None:
        return days
    left = (person.expires_at - now()).total_seconds() / 86_400
    return left if days is None else min(days, left)


def revoke_token(desk: Desk, person: Person, identity: str) -> None:
    """One's own, or any by an admin."""
    if not person.may("admin"):
        demand(person, "run")
        if desk.tokens.owner_of(identity) != person.owner:
            raise Refused("admin")
    desk.tokens.revoke(identity)
    desk.audit.note(person.owner, "revoke token", identity)


def audit(desk: Desk, person: Person, limit: int, before: int | None) -> list[dict[str, Any]]:
    """Newest first."""
    demand(person, "admin")
    return [{**row, "at": spoken(row["at"])} for row in desk.audit.list(limit, before)]
