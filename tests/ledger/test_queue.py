"""Who takes which evaluation, and what becomes of those whose agent is gone."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import update

from mlmodelscope.errors import UsageError
from mlmodelscope.ledger.change import Gone
from mlmodelscope.ledger.history import History
from mlmodelscope.ledger.leases import Leases
from mlmodelscope.ledger.moment import later
from mlmodelscope.ledger.queue import Planned, Queue
from mlmodelscope.ledger.request import Failure, Request, Work
from mlmodelscope.ledger.tables import evaluations
from mlmodelscope.record.database import Database


@pytest.fixture
def queue(database: Database) -> Queue:
    return Queue(database)


@pytest.fixture
def leases(database: Database) -> Leases:
    return Leases(database, 30)


@pytest.fixture
def history(database: Database) -> History:
    return History(database)


def ask(queue: Queue, owner: str = "ada", count: int = 1, key: str | None = None, **more: object) -> str:
    request = Request.model_validate({"model": "m", **more})
    work = Work(kind=request.kind, model="name: m", attempts=request.attempts)
    return queue.add(owner, request, [Planned(work, "m", "d", ["a", "b"])] * count, key)


def take(queue: Queue, agent: str = "a", most: int = 1, alone: bool = True) -> list[str]:
    return [each.id for each in queue.take(agent, most, 30, alone=alone)]


def expire(database: Database) -> None:
    with database.writing() as connection:
        connection.execute(update(evaluations).values(lease_until=later(-1)))


def hurry(database: Database) -> None:
    with database.writing() as connection:
        connection.execute(update(evaluations).values(not_before=later(-1)))


def test_an_evaluation_is_taken_once_and_ends_once(queue: Queue, history: History) -> None:
    ask(queue)
    (taken,) = queue.take("a", 5, 30, alone=True)
    assert (taken.attempt, taken.work.model) == (1, "name: m")
    assert take(queue, "b") == []
    queue.tell(taken.id, 1, [("progress", {"done": 3, "of": 9})])
    queue.finish(taken.id, 1, "record-1")
    queue.finish(taken.id, 1, "record-1")  # the answer to the first was lost on its way
    row = queue.get(taken.id)
    assert (row["state"], row["record"], json.loads(row["progress"])) == ("finished", "record-1", {"done": 3, "of": 9})
    assert [event["kind"] for event in history.events(taken.id)] == ["waiting", "running", "progress", "finished"]
    assert history.counts() == {"finished": 1}


def test_what_is_finished_stays_so_when_its_agent_stops(queue: Queue) -> None:
    """The agent was told to stop while the answer to its record was on the way."""
    ask(queue)
    (taken,) = queue.take("a", 1, 30, alone=True)
    queue.finish(taken.id, 1, "record-1")
    with pytest.raises(Gone, match="has ended"):
        queue.give_back(taken.id, 1)
    with pytest.raises(Gone, match="has ended"):
        queue.fail(taken.id, 1, Failure(kind="Died", message="its process ended"), again=True)
    assert (queue.get(taken.id)["state"], queue.get(taken.id)["agent"]) == ("finished", "a")


def test_strangers_get_nothing(queue: Queue) -> None:
    ask(queue)
    assert take(queue, "stranger") == []


def test_the_same_key_is_the_same_request(queue: Queue, history: History) -> None:
    first = ask(queue, key="k")
    assert ask(queue, key="k") == first
    assert ask(queue, "bob", key="k") != first
    assert len(history.list()) == 2


def test_a_lease_that_ran_out_puts_it_back_after_a_pause(queue: Queue, database: Database, leases: Leases) -> None:
    ask(queue)
    (taken,) = queue.take("a", 1, 30, alone=True)
    assert queue.reap(leases) == []
    expire(database)
    assert queue.reap(leases) == [taken.id]
    assert take(queue, "b") == []  # not yet
    hurry(database)
    (again,) = queue.take("b", 1, 30, alone=True)
    assert (again.id, again.attempt) == (taken.id, 2)
    for late in (
        lambda: queue.finish(taken.id, 1, "old"),
        lambda: queue.tell(taken.id, 1, [("progress", {})]),
        lambda: queue.fail(taken.id, 1, Failure(kind="X", message="x"), again=True),
    ):
        with pytest.raises(Gone):
            late()
    queue.finish(taken.id, 2, "new")
    assert queue.get(taken.id)["record"] == "new"


def test_after_the_last_attempt_it_has_failed(queue: Queue, database: Database, leases: Leases) -> None:
    ask(queue, attempts=2)
    for attempt in (1, 2):
        hurry(database)
        (taken,) = queue.take("a", 1, 30, alone=True)
        assert taken.attempt == attempt
        expire(database)
        queue.reap(leases)
    row = queue.get(taken.id)
    assert row["state"] == "failed" and "nothing was heard of the agent a" in json.loads(row["error"])["message"]


def test_a_failure_that_would_repeat_itself_is_final(queue: Queue) -> None:
    ask(queue)
    (taken,) = queue.take("a", 1, 30, alone=True)
    queue.fail(taken.id, 1, Failure(kind="ManifestError", message="no", hint="write it"), again=False)
    assert queue.get(taken.id)["state"] == "failed"


def test_a_heartbeat_keeps_leases_and_says_what_is_gone(queue: Queue, database: Database, leases: Leases) -> None:
    ask(queue, count=3)
    one, two, three = queue.take("a", 3, 30, alone=False)
    queue.cancel(three.id)
    expire(database)
    gone, cancel = queue.keep("a", {one.id: 1, two.id: 7, three.id: 1, "unknown": 1}, 30)
    assert (set(gone), cancel) == ({two.id, "unknown"}, [three.id])
    assert queue.reap(leases) == [two.id]


def test_an_agent_that_begins_anew_has_lost_what_it_had(queue: Queue) -> None:
    ask(queue, count=2)
    before = take(queue, "a", 2)
    assert set(queue.release("a")) == set(before)
    assert set(take(queue, "a", 2)) == set(before)


def test_what_must_be_alone_is_alone(queue: Queue, history: History) -> None:
    ask(queue, kind="bench")
    ask(queue)
    assert take(queue, "a", 5, alone=False) == [history.list(kind="evaluate")[0]["id"]]
    assert take(queue, "b", 5, alone=True) == [history.list(kind="bench")[0]["id"]]


def test_shares_are_fair_and_priority_comes_first(queue: Queue) -> None:
    ask(queue, "ada", count=3)
    ask(queue, "bob", count=2)
    ask(queue, "cy", priority=9)
    owners = [queue.get(take(queue)[0])["owner"] for _ in range(5)]
    assert owners[:3] == ["cy", "ada", "bob"] and sorted(owners[3:]) == ["ada", "bob"]


def test_cancelling(queue: Queue, history: History) -> None:
    ask(queue, count=2)
    (running,) = queue.take("a", 1, 30, alone=True)
    waiting = next(row["id"] for row in history.list(state="waiting"))
    queue.cancel(waiting)
    queue.cancel(running.id)
    assert queue.get(waiting)["state"] == "cancelled" and queue.get(running.id)["state"] == "running"
    queue.cancelled(running.id, 1)
    queue.cancel(running.id)  # once more changes nothing
    assert queue.get(running.id)["state"] == "cancelled" and take(queue) == []


def test_what_was_to_be_cancelled_does_not_come_back(queue: Queue, database: Database, leases: Leases) -> None:
    ask(queue)
    (running,) = queue.take("a", 1, 30, alone=True)
    queue.cancel(running.id)
    expire(database)
    queue.reap(leases)
    assert queue.get(running.id)["state"] == "cancelled"


def test_pages_do_not_overlap(queue: Queue, history: History) -> None:
    ask(queue, count=5)
    first = history.list(limit=3)
    rest = history.list(limit=3, before=(first[-1]["created_at"], first[-1]["id"]))
    assert len({row["id"] for row in (*first, *rest)}) == 5


def test_unknown_ones_are_said(queue: Queue) -> None:
    with pytest.raises(UsageError, match="no evaluation `x`"):
        queue.get("x")


def test_many_agents_at_once_take_each_one_once(queue: Queue) -> None:
    ask(queue, count=40)

    def work(agent: str) -> list[str]:
        found: list[str] = []
        while len(found) < 40 and (taken := take(queue, agent, 3, alone=False)):
            found += taken
        return found

    with ThreadPoolExecutor(4) as crew:
        taken = [identity for found in crew.map(work, ["a", "b", "a", "b"]) for identity in found]
    assert len(taken) == len(set(taken)) == 40
