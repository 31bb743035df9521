"""Leases when the clock is set: agents that are there stay there, and those that ended do not stay for hours."""

from __future__ import annotations

import time

import pytest
from sqlalchemy import select, update

from mlmodelscope.ledger.agents import Agents
from mlmodelscope.ledger.leases import Leases
from mlmodelscope.ledger.moment import later, now
from mlmodelscope.ledger.queue import Planned, Queue
from mlmodelscope.ledger.request import Request, Work
from mlmodelscope.ledger.tables import agents, evaluations
from mlmodelscope.record.database import Database

TWO_HOURS = 7200.0
LEASE_S = 30.0


class Clocks:
    """The steady clock, as it is seen beside a time of day that was set."""

    def __init__(self) -> None:
        self.set_by = 0.0

    def __call__(self) -> float:
        return time.monotonic() - self.set_by


class Ledger:
    def __init__(self, database: Database) -> None:
        self._database, self.clocks = database, Clocks()
        self.leases = Leases(database, LEASE_S, steady=self.clocks)
        self.agents, self.queue = Agents(database, self.leases), Queue(database)
        for name in ("alive", "ended"):
            self.agents.join(name, "1", "{}", LEASE_S, "ada")
        work = Work(kind="evaluate", model="name: m", attempts=3)
        self.queue.add("ada", Request.model_validate({"model": "m"}), [Planned(work, "m", "d", ["alive"])] * 2, None)
        (self.taken,) = self.queue.take("alive", 1, LEASE_S, alone=True)

    def set_clock(self, seconds: float) -> None:
        """What was written before the clock was set is older, or newer, than it seems."""
        self.clocks.set_by = seconds
        with self._database.writing() as connection:
            connection.execute(update(agents).values(lease_until=later(LEASE_S - seconds)))
            ended = later(-60 - seconds)
            connection.execute(update(agents).where(agents.c.id == "ended").values(lease_until=ended))
            running = evaluations.c.state == "running"
            connection.execute(update(evaluations).where(running).values(lease_until=later(LEASE_S - seconds)))
            connection.execute(update(evaluations).where(~running).values(not_before=later(5 - seconds)))

    def alive(self) -> list[str]:
        return [row["id"] for row in self.agents.list(alive=True)]


@pytest.fixture
def ledger(database: Database) -> Ledger:
    return Ledger(database)


def test_a_clock_that_is_set_forward_loses_no_agent_and_no_evaluation(ledger: Ledger) -> None:
    ledger.set_clock(TWO_HOURS)
    assert ledger.alive() == ["alive"] and ledger.agents.states() == {"online": 1, "gone": 1}
    assert ledger.queue.reap(ledger.leases) == []
    assert ledger.agents.get("alive")["lease_until"] <= later(LEASE_S)


def test_reaping_looks_at_the_clock_itself(ledger: Ledger) -> None:
    ledger.set_clock(TWO_HOURS)
    assert ledger.queue.reap(ledger.leases) == []


def test_a_clock_that_is_set_back_keeps_nobody_for_hours(ledger: Ledger, database: Database) -> None:
    ledger.set_clock(-TWO_HOURS)
    assert "alive" in ledger.alive()
    with database.reading() as connection:
        ends = connection.execute(select(agents.c.lease_until)).scalars().all()
        assert max(ends) <= later(LEASE_S)
        assert ledger.queue.get(ledger.taken.id)["lease_until"] <= later(LEASE_S)
        assert max(connection.execute(select(evaluations.c.not_before)).scalars()) <= now()


def test_time_that_passes_is_no_jump(ledger: Ledger, database: Database) -> None:
    with database.writing() as connection:
        connection.execute(update(agents).values(lease_until=later(-1)))
    ledger.clocks.set_by = 0.3  # adjusted a little
    assert ledger.alive() == []


def test_one_jump_is_one_fresh_lease(ledger: Ledger, database: Database) -> None:
    ledger.set_clock(TWO_HOURS)
    assert ledger.alive() == ["alive"]
    with database.writing() as connection:
        connection.execute(update(agents).values(lease_until=later(-1)))
    assert ledger.alive() == []
