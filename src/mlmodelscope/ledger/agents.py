"""Which agents exist: what they publish, and until when they are believed to be there."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import RowMapping, bindparam, case, delete, func, insert, select, update

from mlmodelscope.errors import UsageError
from mlmodelscope.ledger.agent_owners import AgentOwners
from mlmodelscope.ledger.change import Gone
from mlmodelscope.ledger.leases import Leases
from mlmodelscope.ledger.moment import later, now
from mlmodelscope.ledger.tables import agent_owners, agents
from mlmodelscope.record.database import Database


class Agents:
    def __init__(self, database: Database, leases: Leases) -> None:
        self._database, self._leases = database, leases
        self.owners = AgentOwners(database)

    def join(self, identity: str, incarnation: str, description: str, lease_s: float, owner: str) -> bool:
        """An agent is there, and this is what it has. True where it has begun anew since it was last heard of."""
        self.owners.claim(identity, owner)
        values = {
            "incarnation": incarnation,
            "seen_at": now(),
            "lease_until": later(lease_s),
            "description": description,
        }
        with self._database.writing() as connection:
            row = connection.execute(select(agents).where(agents.c.id == identity)).mappings().first()
            if row is None:
                connection.execute(insert(agents).values(id=identity, joined_at=now(), draining=False, **values))
                return True
            anew = bool(row["incarnation"] != incarnation)
            if anew:
                values |= {"draining": False, "joined_at": now()}
            connection.execute(update(agents).where(agents.c.id == identity).values(values))
            return anew

    def beat(self, identity: str, incarnation: str, lease_s: float, owner: str) -> bool:
        """It is still there; whether it is to take nothing more."""
        self.owners.check(identity, owner)
        with self._database.writing() as connection:
            row = connection.execute(select(agents).where(agents.c.id == identity)).mappings().first()
            if row is None or row["incarnation"] != incarnation:
                raise Gone(f"the agent {identity} is not known, or another one has its name: it must join again")
            connection.execute(
                update(agents).where(agents.c.id == identity).values(seen_at=now(), lease_until=later(lease_s))
            )
        self.owners.claim(identity, owner)  # one that joined before names had owners
        return bool(row["draining"])

    def beat_all(self, heard: Sequence[tuple[str, str]], lease_s: float) -> None:
        """Many at once, as (id, incarnation); who is not there any more is left alone."""
        if not heard:
            return
        query = (
            update(agents)
            .where(agents.c.id == bindparam("name"), agents.c.incarnation == bindparam("which"))
            .values(seen_at=now(), lease_until=later(lease_s))
        )
        with self._database.writing() as connection:
            connection.execute(query, [{"name": name, "which": which} for name, which in heard])

    def incarnations(self) -> dict[str, tuple[str, bool, str | None]]:
        """(incarnation, whether it is draining, whose it is) of every agent."""
        query = select(agents.c.id, agents.c.incarnation, agents.c.draining, agent_owners.c.owner).outerjoin(
            agent_owners, agent_owners.c.agent == agents.c.id
        )
        with self._database.reading() as connection:
            rows = connection.execute(query).all()
            return {row.id: (row.incarnation, bool(row.draining), row.owner) for row in rows}

    def leave(self, identity: str, incarnation: str, owner: str) -> bool:
        """It goes; False where another one has its name by now."""
        self.owners.check(identity, owner)
        with self._database.writing() as connection:
            going = delete(agents).where(agents.c.id == identity, agents.c.incarnation == incarnation)
            return bool(connection.execute(going).rowcount)

    def forget(self, identity: str) -> None:
        """It is gone for good, and anybody may use its name."""
        known = self.owners.release(identity)
        with self._database.writing() as connection:
            if not connection.execute(delete(agents).where(agents.c.id == identity)).rowcount and not known:
                raise UsageError(f"there is no agent `{identity}`")

    def drain(self, identity: str, draining: bool = True) -> None:
        """Let it finish what it has, and give it nothing more."""
        with self._database.writing() as connection:
            if not connection.execute(update(agents).where(agents.c.id == identity).values(draining=draining)).rowcount:
                raise UsageError(f"there is no agent `{identity}`")

    def list(self, *, alive: bool = False) -> Sequence[RowMapping]:
        self._leases.settle()
        query = select(agents).order_by(agents.c.id)
        if alive:
            query = query.where(agents.c.lease_until > now(), agents.c.draining.is_(False))
        with self._database.reading() as connection:
            return connection.execute(query).mappings().all()

    def states(self) -> dict[str, int]:
        """How many agents are online, draining or gone."""
        self._leases.settle()
        state = case(
            (agents.c.lease_until <= now(), "gone"), (agents.c.draining.is_(True), "draining"), else_="online"
        ).label("state")
        with self._database.reading() as connection:
            rows = connection.execute(select(state, func.count()).group_by("state")).all()
            return {name: count for name, count in rows}

    def get(self, identity: str) -> RowMapping:
        self._leases.settle()
        with self._database.reading() as connection:
            row = connection.execute(select(agents).where(agents.c.id == identity)).mappings().first()
        if row is None:
            raise UsageError(f"there is no agent `{identity}`")
        return row
