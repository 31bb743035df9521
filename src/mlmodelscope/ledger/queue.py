"""Evaluations waiting and running: who takes which, for how long it is theirs, and what became of it."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, RowMapping, and_, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from mlmodelscope.errors import UsageError
from mlmodelscope.ledger.moment import later, now
from mlmodelscope.ledger.request import TIMED, Failure, Request, Shard, Work
from mlmodelscope.ledger.tables import eligible, evaluations, events, requests
from mlmodelscope.record.database import Database
from mlmodelscope.record.record import new_record_id

ENDED = ("finished", "failed", "cancelled")
_PAUSE_S = 1.0
_LONGEST_PAUSE_S = 300.0


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


class Gone(UsageError):
    """The evaluation is another one's by now, or has ended."""


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
            _tell(connection, identity, "running", {"parts": parts, "agents": len(planned.agents)})
            for number in range(parts):
                work = planned.work.model_copy(update={"kind": "shard", "shard": Shard(number=number, of=parts)})
                self._add(connection, request_id, owner, request, replace(planned, work=work), identity)
            return
        if planned.agents:
            rows = [{"evaluation": identity, "agent": agent} for agent in planned.agents]
            connection.execute(insert(eligible), rows)
        _tell(connection, identity, "waiting", {"agents": len(planned.agents)})

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
                _tell(connection, row["id"], "running", {"agent": agent, "attempt": attempt})
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
            self._own(connection, evaluation, attempt)
            for kind, document in told:
                _tell(connection, evaluation, kind, document)
                if kind == "progress":
                    connection.execute(
                        update(evaluations)
                        .where(evaluations.c.id == evaluation)
                        .values(progress=json.dumps(dict(document)))
                    )

    def finish(self, evaluation: str, attempt: int, record: str | None) -> None:
        with self._database.writing() as connection:
            row = self._own(connection, evaluation, attempt)
            if row["state"] == "finished":
                return
            _end(connection, evaluation, "finished", record=record)
            _tell(connection, evaluation, "finished", {"record": record})

    def fail(self, evaluation: str, attempt: int, failure: Failure, *, again: bool) -> None:
        """It did not work. `again` says that another attempt may do better, such as after a crash."""
        with self._database.writing() as connection:
            row = self._own(connection, evaluation, attempt)
            _failed(connection, row, failure, again)

    def give_back(self, evaluation: str, attempt: int) -> None:
        """The agent stops before it is done: somebody goes on, and it is not counted as an attempt."""
        with self._database.writing() as connection:
            self._own(connection, evaluation, attempt)
            values = {"state": "waiting", "agent": None, "lease_until": None, "not_before": now()}
            connection.execute(update(evaluations).where(evaluations.c.id == evaluation).values(values))
            _tell(connection, evaluation, "waiting", {"because": "the agent stopped"})

    def cancel(self, evaluation: str) -> None:
        """End it: at once where it waits, by its agent where it runs."""
        with self._database.writing() as connection:
            row = _row(connection, evaluation)
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
                _end(connection, evaluation, "cancelled")
                _tell(connection, evaluation, "cancelled", {})
            else:
                _tell(connection, evaluation, "cancelling", {})

    def cancelled(self, evaluation: str, attempt: int) -> None:
        """The agent has ended it."""
        with self._database.writing() as connection:
            row = self._own(connection, evaluation, attempt)
            if row["state"] not in ENDED:
                _end(connection, evaluation, "cancelled")
                _tell(connection, evaluation, "cancelled", {})

    def reap(self) -> list[str]:
        """Put back what nobody has held on to; which these were."""
        with self._database.writing() as connection:
            query = select(evaluations).where(evaluations.c.state == "running", evaluations.c.lease_until < now())
            rows = connection.execute(query).mappings().all()
            for row in rows:
                _lost(connection, row, f"nothing was heard of the agent {row['agent']}")
        return [row["id"] for row in rows]

    def release(self, agent: str) -> list[str]:
        """Put back everything that an agent had before it began anew."""
        with self._database.writing() as connection:
            query = select(evaluations).where(evaluations.c.state == "running", evaluations.c.agent == agent)
            rows = connection.execute(query).mappings().all()
            for row in rows:
                _lost(connection, row, f"the agent {agent} began anew", pause_s=0)
        return [row["id"] for row in rows]

    def _own(self, connection: Connection, evaluation: str, attempt: int) -> RowMapping:
        row = _row(connection, evaluation)
        if row["attempt"] != attempt or row["state"] in ("failed", "cancelled", "waiting"):
            raise Gone(f"attempt {attempt} of evaluation {evaluation} is no longer the one that counts")
        return row

    def get(self, evaluation: str) -> RowMapping:
        with self._database.reading() as connection:
            return _row(connection, evaluation)

    def list(
        self,
        *,
        limit: int = 50,
        before: tuple[datetime, str] | None = None,
        **wanted: str | None,
    ) -> Sequence[RowMapping]:
        """Newest first; `before` is where the last page ended."""
        columns = [column for column in evaluations.c if column.name != "work"]  # long, and nobody's who only lists
        query = select(*columns).where(evaluations.c.part_of.is_(None))
        for name, value in wanted.items():
            if value is not None:
                query = query.where(evaluations.c[name] == value)
        if before is not None:
            moment, identity = before
            query = query.where(
                or_(
                    evaluations.c.created_at < moment,
                    and_(evaluations.c.created_at == moment, evaluations.c.id < identity),
                )
            )
        query = query.order_by(evaluations.c.created_at.desc(), evaluations.c.id.desc()).limit(limit)
        with self._database.reading() as connection:
            return connection.execute(query).mappings().all()

    def events(self, evaluation: str, after: int = 0, most: int = 500) -> Sequence[RowMapping]:
        query = (
            select(events)
            .where(events.c.evaluation == evaluation, events.c.number > after)
            .order_by(events.c.number)
            .limit(most)
        )
        with self._database.reading() as connection:
            return connection.execute(query).mappings().all()

    def part_states(self, whole: str) -> dict[str, int]:
        """How many parts of an evaluation are in which state."""
        state, count = evaluations.c.state, func.count()
        query = select(state, count).where(evaluations.c.part_of == whole).group_by(state)
        with self._database.reading() as connection:
            return {row[0]: row[1] for row in connection.execute(query)}

    def failure_of_parts(self, whole: str) -> Failure:
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
            row = _row(connection, whole)
            if row["state"] in ENDED:
                return
            state = "finished" if record else "failed" if failure else "cancelled"
            _end(connection, whole, state, record=record, error=failure.model_dump_json() if failure else None)
            _tell(connection, whole, state, failure.model_dump() if failure else {"record": record} if record else {})
            rest = evaluations.c.part_of == whole, evaluations.c.state.not_in(ENDED)
            connection.execute(update(evaluations).where(*rest).values(cancel=True))
            waiting = (*rest, evaluations.c.state == "waiting")
            connection.execute(update(evaluations).where(*waiting).values(state="cancelled", ended_at=now()))

    def progress(self, evaluation: str, done: int, of: int) -> None:
        """How many parts are done, where that has changed."""
        document = json.dumps({"done": done, "of": of, "parts": True})
        with self._database.writing() as connection:
            row = _row(connection, evaluation)
            if row["progress"] != document and row["state"] not in ENDED:
                values = update(evaluations).where(evaluations.c.id == evaluation).values(progress=document)
                connection.execute(values)
                _tell(connection, evaluation, "progress", json.loads(document))

    def oldest(self) -> datetime | None:
        """Since when the one that has waited longest is waiting."""
        query = select(func.min(evaluations.c.created_at)).where(evaluations.c.state == "waiting")
        with self._database.reading() as connection:
            found: datetime | None = connection.execute(query).scalar()
            return found

    def answers(self) -> bool:
        """Whether the database does."""
        with self._database.reading() as connection:
            return connection.execute(select(evaluations.c.id).limit(1)).all() is not None

    def counts(self) -> dict[str, int]:
        """How many evaluations are in each state."""
        query = select(evaluations.c.state, func.count()).group_by(evaluations.c.state)
        with self._database.reading() as connection:
            return {state: count for state, count in connection.execute(query).all()}


def _row(connection: Connection, evaluation: str) -> RowMapping:
    row = connection.execute(select(evaluations).where(evaluations.c.id == evaluation)).mappings().first()
    if row is None:
        raise UsageError(f"there is no evaluation `{evaluation}`")
    return row


def _tell(connection: Connection, evaluation: str, kind: str, document: Mapping[str, Any]) -> None:
    connection.execute(
        insert(events).values(evaluation=evaluation, at=now(), kind=kind, document=json.dumps(dict(document)))
    )


def _end(connection: Connection, evaluation: str, state: str, **values: Any) -> None:
    connection.execute(
        update(evaluations)
        .where(evaluations.c.id == evaluation)
        .values(state=state, ended_at=now(), lease_until=None, **values)
    )


def _failed(connection: Connection, row: RowMapping, failure: Failure, again: bool) -> None:
    attempts = Work.model_validate_json(row["work"]).attempts
    if row["cancel"]:
        _end(connection, row["id"], "cancelled")
        _tell(connection, row["id"], "cancelled", {})
    elif again and row["attempt"] < attempts:
        pause = min(_PAUSE_S * 2 ** (row["attempt"] - 1), _LONGEST_PAUSE_S) * (1 + secrets.randbelow(100) / 400)
        _wait(connection, row["id"], failure.message, pause)
    else:
        _end(connection, row["id"], "failed", error=failure.model_dump_json())
        _tell(connection, row["id"], "failed", failure.model_dump())


def _lost(connection: Connection, row: RowMapping, reason: str, pause_s: float | None = None) -> None:
    failure = Failure(kind="AgentLost", message=f"{reason}, attempt {row['attempt']}")
    if pause_s is None or row["cancel"] or row["attempt"] >= Work.model_validate_json(row["work"]).attempts:
        _failed(connection, row, failure, again=True)
    else:
        _wait(connection, row["id"], failure.message, pause_s)


def _wait(connection: Connection, evaluation: str, because: str, pause_s: float) -> None:
    values = {"state": "waiting", "agent": None, "lease_until": None, "not_before": later(pause_s)}
    connection.execute(update(evaluations).where(evaluations.c.id == evaluation).values(values))
    _tell(connection, evaluation, "waiting", {"because": because, "pause_s": round(pause_s, 1)})
