"""Whose an agent's name is: the first owner who joins with it keeps it, so that nobody takes work in another's name."""

from __future__ import annotations

import contextlib

from sqlalchemy import delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from mlmodelscope.errors import UsageError
from mlmodelscope.ledger.moment import now
from mlmodelscope.ledger.tables import agent_owners
from mlmodelscope.record.database import Database

SERVER = ""
"""The owner of a server's own agent; no token has it."""


class NotOwner(UsageError):
    """The agent is another owner's."""

    def __init__(self, agent: str) -> None:
        super().__init__(
            f"the agent `{agent[:100]}` belongs to another owner",
            hint=f"use another --name, or have an admin free this one: DELETE /api/v1/agents/{agent[:100]}",
        )


class AgentOwners:
    def __init__(self, database: Database) -> None:
        self._database = database

    def claim(self, agent: str, owner: str) -> None:
        """The name is this owner's from now on, unless it is another's. The server itself takes what it needs."""
        known = self.find(agent)
        if known is None:
            with contextlib.suppress(IntegrityError), self._database.writing() as connection:  # two at once
                connection.execute(insert(agent_owners).values(agent=agent, owner=owner, since=now()))
                return
            known = self.find(agent)
        if known == owner:
            return
        if owner != SERVER:
            raise NotOwner(agent)
        with self._database.writing() as connection:
            change = update(agent_owners).where(agent_owners.c.agent == agent)
            connection.execute(change.values(owner=owner, since=now()))

    def find(self, agent: str) -> str | None:
        with self._database.reading() as connection:
            found: str | None = connection.execute(
                select(agent_owners.c.owner).where(agent_owners.c.agent == agent)
            ).scalar()
            return found

    def check(self, agent: str, owner: str) -> None:
        """Refuse a name that is another's; one that is nobody's yet is no reason."""
        if self.find(agent) not in (None, owner):
            raise NotOwner(agent)

    def demand(self, agent: str, owner: str) -> None:
        """Refuse a name that is not this owner's."""
        if self.find(agent) != owner:
            raise NotOwner(agent)

    def release(self, agent: str) -> bool:
        """Anybody may use the name; False where it was nobody's."""
        with self._database.writing() as connection:
            return bool(connection.execute(delete(agent_owners).where(agent_owners.c.agent == agent)).rowcount)
