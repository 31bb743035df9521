"""Agents: who is there, what they take, and what they hand over."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import RowMapping

from mlmodelscope.cluster.description import AgentDescription
from mlmodelscope.cluster.link import Beat
from mlmodelscope.errors import UsageError
from mlmodelscope.ledger.moment import now, spoken
from mlmodelscope.ledger.queue import Assigned
from mlmodelscope.ledger.request import Failure
from mlmodelscope.ledger.tokens import Person
from mlmodelscope.record.added_files import take_in_folders
from mlmodelscope.record.bundle import take_in
from mlmodelscope.replicate.outcome import KEY, PLACE
from mlmodelscope.server.desk import Desk, demand
from mlmodelscope.server.handle import backlog, checks, shards

_ON_THE_WAY = ("replicate", "sensitivity")
"""Kinds of work whose record is not what was asked for."""
_LONGEST_NAME = 200


def find(desk: Desk, person: Person) -> list[dict[str, Any]]:
    demand(person, "read")
    return [_spell(row) for row in desk.agents.list()]


def get(desk: Desk, person: Person, identity: str) -> dict[str, Any]:
    demand(person, "read")
    return _spell(desk.agents.get(identity))


def drain(desk: Desk, person: Person, identity: str, draining: bool) -> dict[str, Any]:
    demand(person, "admin")
    desk.agents.drain(identity, draining)
    desk.heartbeats.forget(identity)
    desk.audit.note(person.owner, "drain" if draining else "undrain", identity)
    return _spell(desk.agents.get(identity))


def join(desk: Desk, person: Person, description: AgentDescription, incarnation: str) -> None:
    demand(person, "agent")
    name = description.id
    if not name.isprintable() or name != name.strip() or not 1 <= len(name) <= _LONGEST_NAME:
        raise UsageError(
            f"`{ascii(name[:_LONGEST_NAME])[1:-1]}` is not a valid agent name: it would look like another one's"
        )
    text = description.model_dump_json()
    if desk.agents.join(description.id, incarnation, text, desk.config.lease_s, person.owner):
        desk.queue.release(description.id)
        desk.audit.note(person.owner, "join", description.id)
    backlog.offer(desk, description)


def leave(desk: Desk, person: Person, identity: str, incarnation: str | None) -> None:
    """An agent goes, and keeps its name; without an incarnation an admin gives the name free."""
    if incarnation is None:
        demand(person, "admin")
        desk.agents.forget(identity)
        desk.heartbeats.forget(identity)
        desk.queue.release(identity)
        desk.audit.note(person.owner, "forget agent", identity)
        return
    demand(person, "agent")
    if desk.agents.leave(identity, incarnation, person.owner):
        desk.queue.release(identity)
        desk.audit.note(person.owner, "leave", identity)


def beat(desk: Desk, person: Person, identity: str, incarnation: str, held: Mapping[str, int]) -> Beat:
    demand(person, "agent")
    draining = desk.heartbeats.beat(identity, incarnation, person.owner)
    gone, cancel = desk.queue.keep(identity, held, desk.config.lease_s)
    return Beat(gone, cancel, draining)


def quick_beat(desk: Desk, person: Person, identity: str, incarnation: str) -> Beat | None:
    """A heartbeat of one who runs nothing, without asking the database; None where that must be asked."""
    demand(person, "agent")
    draining = desk.heartbeats.note(identity, incarnation, person.owner)
    return None if draining is None else Beat((), (), draining)


def take(desk: Desk, person: Person, identity: str, incarnation: str, most: int, alone: bool) -> list[Assigned]:
    demand(person, "agent")
    if desk.heartbeats.beat(identity, incarnation, person.owner):
        return []
    return desk.queue.take(identity, most, desk.config.lease_s, alone=alone)


def tell(
    desk: Desk, person: Person, evaluation: str, attempt: int, told: Sequence[tuple[str, Mapping[str, Any]]]
) -> None:
    demand_holder(desk, person, evaluation)
    desk.queue.tell(evaluation, attempt, told)


def finish(desk: Desk, person: Person, evaluation: str, attempt: int, bundle: Path) -> str:
    """Keep the record that an agent made, then say that the evaluation is done."""
    demand_holder(desk, person, evaluation)
    desk.queue.tell(evaluation, attempt, [])  # is it still the one that counts?
    new: list[bool] = []
    largest = desk.config.largest_upload
    record = take_in(desk.store, bundle, largest, lambda connection: new.append(True), desk.confined)
    take_in_folders(desk.store, record, bundle, PLACE, KEY, largest)
    if desk.queue.get(evaluation)["kind"] not in _ON_THE_WAY:
        desk.store.shown(record)  # also where the agent answered from its store, and the record is here already
    checks.keep(desk, evaluation, record.id)
    desk.queue.finish(evaluation, attempt, record.id, is_new=bool(new))
    desk.audit.note(person.owner, "hand over", record.id)
    return record.id


def finish_part(desk: Desk, person: Person, evaluation: str, attempt: int, packed: Path) -> None:
    """Keep the answers of a part; the last one makes the record."""
    demand_holder(desk, person, evaluation)
    desk.queue.tell(evaluation, attempt, [])
    shards.keep(desk, evaluation, attempt, packed)


def fail(desk: Desk, person: Person, evaluation: str, attempt: int, failure: Failure, again: bool) -> None:
    demand_holder(desk, person, evaluation)
    desk.queue.fail(evaluation, attempt, failure, again=again)
    _advance(desk, evaluation)


def cancelled(desk: Desk, person: Person, evaluation: str, attempt: int) -> None:
    demand_holder(desk, person, evaluation)
    desk.queue.cancelled(evaluation, attempt)
    _advance(desk, evaluation)


def give_back(desk: Desk, person: Person, evaluation: str, attempt: int) -> None:
    demand_holder(desk, person, evaluation)
    desk.queue.give_back(evaluation, attempt)


def demand_holder(desk: Desk, person: Person, evaluation: str) -> None:
    """Only whose agent has taken an evaluation may say what becomes of it."""
    demand(person, "agent")
    agent = desk.queue.get(evaluation)["agent"]
    if agent is not None:  # else it waits, and no attempt counts
        desk.agents.owners.demand(agent, person.owner)


def _advance(desk: Desk, evaluation: str) -> None:
    whole = desk.queue.get(evaluation)["part_of"]
    if whole is not None:
        shards.advance(desk, whole)


def _spell(row: RowMapping) -> dict[str, Any]:
    state = "draining" if row["draining"] else "online"
    if row["lease_until"] <= now():
        state = "gone"
    return {
        "id": row["id"],
        "state": state,
        "joined_at": spoken(row["joined_at"]),
        "seen_at": spoken(row["seen_at"]),
        "description": json.loads(row["description"]),
    }
