"""Tokens: who may do what. Only their hashes are kept; the token itself is shown once."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import RowMapping, delete, insert, select, update

from mlmodelscope.errors import UsageError
from mlmodelscope.ledger.moment import later, now
from mlmodelscope.ledger.tables import tokens
from mlmodelscope.record.database import Database
from mlmodelscope.record.record import new_record_id

SCOPES = ("read", "run", "agent", "trust", "admin")
"""read: look; run: ask for work and add manifests; agent: do the work; trust: let code run; admin: all, and tokens."""
_PREFIX = "mlms_"
_SEEN_EVERY_S = 60
_LOOK_EVERY_S = 1.0
_MOST_RECENT = 10_000


@dataclass(frozen=True)
class Person:
    """Who asks, and what they may do."""

    owner: str
    scopes: frozenset[str]
    is_local: bool = False
    """A program on the server's own machine."""
    expires_at: datetime | None = None
    """Until when their token is good, in UTC without saying so."""

    def may(self, scope: str) -> bool:
        return scope in self.scopes or "admin" in self.scopes


class Tokens:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._recent: dict[str, tuple[float, RowMapping]] = {}

    def make(self, name: str, owner: str, scopes: Sequence[str], days: float | None = None) -> tuple[str, str]:
        """(id, the token): nobody can read it again."""
        unknown = [scope for scope in scopes if scope not in SCOPES]
        if unknown or not scopes:
            raise UsageError(f"no scope is called `{', '.join(unknown)}`\nknown: {', '.join(SCOPES)}")
        if not owner.strip():
            raise UsageError("a token needs an owner")
        secret, identity = _PREFIX + secrets.token_urlsafe(32), f"t{new_record_id()}"
        values = {
            "id": identity,
            "name": name,
            "owner": owner,
            "hash": _hash(secret),
            "scopes": " ".join(sorted(set(scopes))),
            "created_at": now(),
            "expires_at": later(days * 86_400) if days is not None else None,
        }
        with self._database.writing() as connection:
            connection.execute(insert(tokens).values(values))
        return identity, secret

    def person(self, secret: str) -> Person | None:
        """Whose token it is; None where it is nobody's, or too old."""
        row = self._row(_hash(secret))
        if row is None or (row["expires_at"] is not None and row["expires_at"] <= now()):
            return None
        self._seen(row["id"], row["used_at"])
        return Person(row["owner"], frozenset(row["scopes"].split()), expires_at=row["expires_at"])

    def recent(self, secret: str) -> Person | None:
        """Whose token it is, where that was looked up a moment ago; the database is not asked."""
        looked_at, row = self._recent.get(_hash(secret), (float("-inf"), None))
        if row is None or time.monotonic() - looked_at > _LOOK_EVERY_S:
            return None
        if row["expires_at"] is not None and row["expires_at"] <= now():
            return None
        return Person(row["owner"], frozenset(row["scopes"].split()), expires_at=row["expires_at"])

    def _row(self, hashed: str) -> RowMapping | None:
        """Looked up once a second at most: agents show theirs all the time."""
        moment = time.monotonic()
        looked_at, row = self._recent.get(hashed, (float("-inf"), None))
        if row is not None and moment - looked_at < _LOOK_EVERY_S:
            return row
        with self._database.reading() as connection:
            row = connection.execute(select(tokens).where(tokens.c.hash == hashed)).mappings().first()
        if len(self._recent) >= _MOST_RECENT:
            self._recent.clear()
        if row is not None:
            self._recent[hashed] = (moment, row)
        else:
            self._recent.pop(hashed, None)
        return row

    def _seen(self, identity: str, used_at: datetime | None) -> None:
        if used_at is None or (now() - used_at).total_seconds() > _SEEN_EVERY_S:
            with self._database.writing() as connection:
                connection.execute(update(tokens).where(tokens.c.id == identity).values(used_at=now()))

    def list(self) -> Sequence[RowMapping]:
        shown = [column for column in tokens.c if column.name != "hash"]
        with self._database.reading() as connection:
            return connection.execute(select(*shown).order_by(tokens.c.created_at)).mappings().all()

    def owner_of(self, identity: str) -> str:
        with self._database.reading() as connection:
            found: str | None = connection.execute(select(tokens.c.owner).where(tokens.c.id == identity)).scalar()
        if found is None:
            raise UsageError(f"there is no token `{identity}`")
        return found

    def revoke(self, identity: str) -> None:
        self._recent.clear()
        with self._database.writing() as connection:
            if not connection.execute(delete(tokens).where(tokens.c.id == identity)).rowcount:
                raise UsageError(f"there is no token `{identity}`")

    def any(self) -> bool:
        with self._database.reading() as connection:
            return connection.execute(select(tokens.c.id).limit(1)).first() is not None


def _hash(secret: str) -> str:
    # A token has 256 random bits: there is nothing that a slow hash would have to protect.
    return hashlib.sha256(secret.encode()).hexdigest()
