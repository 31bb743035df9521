"""Evaluations waiting and running: who takes which, for how long it is theirs, and what became of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, RowMapping, delete, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from mlmodelscope.errors import UsageError
from mlmodelscope.ledger.change import ENDED, end, fail, lose, own_row, row_of, running_row, tell
from mlmodelscope.ledger.leases import Leases
from mlmodelscope.ledger.moment import later, now
from mlmodelscope.ledger.request import TIMED, Failure, Request, Shard, Work
from mlmodelscope.ledger.tables import eligible, evaluations, requests
from mlmodelscope.record.database import Database
from mlmodelscope.record.owners import give
from mlmodelscope.record.record import new_record_id


@dataclass(frozen=True)
class Assigned:
    """An evaluation that an agent has taken."""

    id: str
    attempt: int
    work: Work
    timeout_s: int | None


@dataclass(frozen=True)
class Planned:
    """One evaluation of a request, before it is in the queue."""

    work: Work
    model: str
    dataset: str
    agents: Sequence[str]
    """Who may take it."""


class Queue:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, owner: str, request: Request, planned: Sequence[Planned], key: str | None = None) -> str:
        """A request with its evaluations, and its id; the same key again is the same request."""
        identity = f"r{new_record_id()}"
        try:
            with self._database.writing() as connection:
                connection.execute(
                    insert(requests).values(
                        id=identity, owner=owner, key=key, created_at=now(), document=request.model_dump_json()
                    )
                )
                for each in planned:
                    self._add(connection, identity, owner, request, each)
        except IntegrityError:
            found = self.request_of_key(owner, key) if key else None
            if found is None:
                raise
            return found
        return identity

    def _add(
        self,
        connection: Connection,
        request_id: str,
        owner: str,
        request: Request,
        planned: Planned,
        whole: str | None = None,
    ) -> None:
        identity, moment = f"e{new_record_id()}", now()
        parts = request.shards if whole is None else 1
        connection.execute(
            insert(evaluations).values(
                id=identity,
                request=request_id,
                part_of=whole,
                owner=owner,
                kind=planned.work.kind,
                model=planned.model,
                dataset=planned.dataset,
                state="waiting" if parts == 1 else "running",
                priority=request.priority,
                exclusive=planned.work.kind in TIMED,
                attempt=0,
                created_at=moment,
                not_before=moment,
                timeout_s=request.timeout_s,
                cancel=False,
                work=planned.work.model_dump_json(),
            )
        )
        if parts > 1:
            tell(connection, identity, "running", {"parts": parts, "agents": len(planned.agents)})
            for number in range(parts):
                work = planned.work.model_copy(update={"kind": "shard", "shard": Shard(number=number, of=parts)})
                self._add(connection, request_id, owner, request, replace(planned, work=work), identity)
            return
        if planned.agents:
            rows = [{"evaluation": identity, "agent": agent} for agent in planned.agents]
            connection.execute(insert(eligible), rows)
        tell(connection, identity, "waiting", {"agents": len(planned.agents)})

    def request_of_key(self, owner: str, key: str) -> str | None:
        with self._database.reading() as connection:
            wanted = select(requests.c.id).where(requests.c.owner == owner, requests.c.key == key)
            found: str | None = connection.execute(wanted).scalar()
            return found

    def take(
        self, agent: str, most: int, lease_s: float, *, alone: bool, kinds: Sequence[str] | None = None
    ) -> list[Assigned]:
        """What an agent does next: the highest priority first, then whoever has the least running, then the oldest.

        `alone` says that nothing else runs there, so that it may take what must not be disturbed.
        """
        if not self.has_work(agent):
            return []  # nobody has to wait for somebody who finds nothing
        running = (
            select(evaluations.c.owner, func.count().label("running"))
            .where(evaluations.c.state == "running")
            .group_by(evaluations.c.owner)
            .subquery()
        )
        query = (
            select(evaluations)
            .join(eligible, eligible.c.evaluation == evaluations.c.id)
            .outerjoin(running, running.c.owner == evaluations.c.owner)
            .where(eligible.c.agent == agent, evaluations.c.state == "waiting", evaluations.c.not_before <= now())
            .order_by(evaluations.c.priority.desc(), func.coalesce(running.c.running, 0), evaluations.c.created_at)
            .limit(most)
        )
        if not alone:
            query = query.where(evaluations.c.exclusive.is_(False))
        if kinds is not None:
            query = query.where(evaluations.c.kind.in_(kinds))
        if not self._database.is_sqlite:
            query = query.with_for_update(skip_locked=True, of=evaluations)
        taken: list[Assigned] = []
        with self._database.writing() as connection:
            for row in connection.execute(query).mappings().all():
                if row["exclusive"] and taken:
                    break  # it begins when the others have ended
                attempt = row["attempt"] + 1
                connection.execute(
                    update(evaluations)
                    .where(evaluations.c.id == row["id"])
                    .values(
                        state="running",
                        agent=agent,
                        attempt=attempt,
                        started_at=row["started_at"] or now(),
                        lease_until=later(lease_s),
                    )
                )
                tell(connection, row["id"], "running", {"agent": agent, "attempt": attempt})
                taken.append(Assigned(row["id"], attempt, Work.model_validate_json(row["work"]), row["timeout_s"]))
                if row["exclusive"]:
                    break
        return taken

    def has_work(self, agent: str) -> bool:
        """Whether something waits that this agent may take."""
        query = (
            select(evaluations.c.id)
            .join(eligible, eligible.c.evaluation == evaluations.c.id)
            .where(evaluations.c.state == "waiting", evaluations.c.not_before <= now(), eligible.c.agent == agent)
            .limit(1)
        )
        with self._database.reading() as connection:
            return connection.execute(query).first() is not None

    def wanted_agents(self) -> Sequence[str]:
        """Agents for whom something waits."""
        query = (
            select(eligible.c.agent)
            .join(evaluations, eligible.c.evaluation == evaluations.c.id)
            .where(evaluations.c.state == "waiting", evaluations.c.not_before <= now())
            .distinct()
        )
        with self._database.reading() as connection:
            return connection.execute(query).scalars().all()

    def keep(self, agent: str, held: Mapping[str, int], lease_s: float) -> tuple[list[str], list[str]]:
        """Extend the leases of what an agent says it runs: (what is no longer its own, what it is to cancel)."""
        if not held:
            return [], []
        query = select(evaluations.c.id, evaluations.c.attempt, evaluations.c.cancel).where(
            evaluations.c.id.in_(list(held)), evaluations.c.agent == agent, evaluations.c.state == "running"
        )
        with self._database.writing() as connection:
            rows = [row for row in connection.execute(query).all() if held[row.id] == row.attempt]
            own = [row.id for row in rows]
            if own:
                connection.execute(
                    update(evaluations).where(evaluations.c.id.in_(own)).values(lease_until=later(lease_s))
                )
        return [identity for identity in held if identity not in own], [row.id for row in rows if row.cancel]

    def tell(self, evaluation: str, attempt: int, told: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
        """Add events; the newest progress is kept with the evaluation as well."""
        with self._database.writing() as connection:
            own_row(connection, evaluation, attempt)
            for kind, document in told:
                tell(connection, evaluation, kind, document)
                if kind == "progress":
                    connection.execute(
                        update(evaluations)
                        .where(evaluations.c.id == evaluation)
                        .values(progress=json.dumps(dict(document)))
                    )

    def finish(self, evaluation: str, attempt: int, record: str | None, *, is_new: bool = False) -> None:
        """`is_new` says that the record came with it, whatever the clock says that made it."""
        with self._database.writing() as connection:
            row = own_row(connection, evaluation, attempt)
            if row["state"] == "finished":
                return
            end(connection, evaluation, "finished", record=record)
            tell(connection, evaluation, "finished", {"record": record})
            if record is not None:
                give(connection, record, row["owner"], since=None if is_new else row["created_at"])

    def fail(self, evaluation: str, attempt: int, failure: Failure, *, again: bool) -> None:
        """It did not work. `again` says that another attempt may do better, such as after a crash."""
        with self._database.writing() as connection:
            fail(connection, running_row(connection, evaluation, attempt), failure, again)

    def give_back(self, evaluation: str, attempt: int) -> None:
        """The agent stops before it is done: somebody goes on, and it is not counted as an attempt."""
        with self._database.writing() as connection:
            running_row(connection, evaluation, attempt)
            values = {"state": "waiting", "agent": None, "lease_until": None, "not_before": now()}
            connection.execute(update(evaluations).where(evaluations.c.id == evaluation).values(values))
            tell(connection, evaluation, "waiting", {"because": "the agent stopped"})

    def cancel(self, evaluation: str) -> None:
        """End it: at once where it waits, by its agent where it runs."""
        with self._database.writing() as connection:
            row = row_of(connection, evaluation)
            if row["state"] in ENDED:
                return
            connection.execute(
                update(evaluations)
                .where(or_(evaluations.c.id == evaluation, evaluations.c.part_of == evaluation))
                .where(evaluations.c.state.not_in(ENDED))
                .values(cancel=True)
            )
            waiting = evaluations.c.part_of == evaluation, evaluations.c.state == "waiting"
            connection.execute(update(evaluations).where(*waiting).values(state="cancelled", ended_at=now()))
            if row["state"] == "waiting":
                end(connection, evaluation, "cancelled")
                tell(connection, evaluation, "cancelled", {})
            else:
                tell(connection, evaluation, "cancelling", {})

    def delete(self, evaluation: str) -> None:
        """Forget one that has ended, with its events; its record stays. A request without evaluations goes, too."""
        with self._database.writing() as connection:
            row = row_of(connection, evaluation)
            if row["state"] not in ENDED:
                raise UsageError(f"evaluation {evaluation} is {row['state']}", hint="cancel it first")
            connection.execute(delete(evaluations).where(evaluations.c.id == evaluation))
            left = select(evaluations.c.id).where(evaluations.c.request == row["request"]).limit(1)
            if connection.execute(left).first() is None:
                connection.execute(delete(requests).where(requests.c.id == row["request"]))

    def cancelled(self, evaluation: str, attempt: int) -> None:
        """The agent has ended it."""
        with self._database.writing() as connection:
            row = own_row(connection, evaluation, attempt)
            if row["state"] not in ENDED:
                end(connection, evaluation, "cancelled")
                tell(connection, evaluation, "cancelled", {})

    def reap(self, leases: Leases) -> list[str]:
        """Put back what nobody has held on to; which these were."""
        leases.settle()
        with self._database.writing() as connection:
            query = select(evaluations).where(evaluations.c.state == "running", evaluations.c.lease_until < now())
            rows = connection.execute(query).mappings().all()
            for row in rows:
                lose(connection, row, f"nothing was heard of the agent {row['agent']}")
        return [row["id"] for row in rows]

    def release(self, agent: str) -> list[str]:
        """Put back everything that an agent had before it began anew."""
        with self._database.writing() as connection:
            query = select(evaluations).where(evaluations.c.state == "running", evaluations.c.agent == agent)
            rows = connection.execute(query).mappings().all()
            for row in rows:
                lose(connection, row, f"the agent {agent} began anew", pause_s=0)
        return [row["id"] for row in rows]

    def get(self, evaluation: str) -> RowMapping:
        with self._database.reading() as connection:
            return row_of(connection, evaluation)

    def answers(self) -> bool:
        """Whether the database does."""
        with self._database.reading() as connection:
            return connection.execute(select(evaluations.c.id).limit(1)).all() is not None
