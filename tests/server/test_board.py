"""Predictions that wait: who gets them, who loses them, and how many there may be."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the server's packages are not installed")

from mlmodelscope.ledger.change import Gone
from mlmodelscope.ledger.prediction import Answered, Ending, Posed
from mlmodelscope.ledger.request import Failure, Work
from mlmodelscope.server import board as module
from mlmodelscope.server.board import Board, Full

ANSWER = Ending(
    answered=Answered(model="toy", version="1.0.0", plan_digest="", stack="current", packages={}, warm=True, wall_ns=1)
)


def posed(identity: str) -> Posed:
    return Posed(id=identity, work=Work(kind="evaluate", model=""), most_bytes=1, timeout_s=1)


def run(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(story, 30))


def test_whoever_has_the_model_open_is_asked_first() -> None:
    async def story() -> None:
        board = Board()
        board.put(posed("a"), b"", ["one", "two"], "toy")
        assert await board.take("two", "i", 0) is not None
        board.answer("two", "a", ANSWER)
        one, two = (asyncio.create_task(board.take(name, "i", 20)) for name in ("one", "two"))
        await asyncio.sleep(0)  # both wait
        board.put(posed("b"), b"", ["one", "two"], "toy")
        found = await two
        assert found is not None and found.posed.id == "b" and not one.done()
        board.close()
        assert await one is None

    run(story())


def test_what_is_given_back_goes_to_another() -> None:
    async def story() -> None:
        board = Board()
        waiting = board.put(posed("a"), b"", ["one", "two"], "toy")
        other = asyncio.create_task(board.take("two", "i", 20))
        assert await board.take("one", "i", 0) is waiting
        assert await board.take("three", "i", 0) is None  # it does not fit
        board.give_back("one", "a")
        assert await other is waiting and waiting.agent == "two"
        with pytest.raises(Gone):
            board.answer("one", "a", ANSWER)
        board.answer("two", "a", ANSWER)
        with pytest.raises(Gone):
            board.tell("two", "a", {"kind": "opened"})

    run(story())


def test_an_agent_that_begins_anew_has_lost_what_it_had_and_only_two_may_try() -> None:
    async def story() -> None:
        board = Board()
        waiting = board.put(posed("a"), b"", ["one"], "toy")
        assert await board.take("one", "first", 0) is waiting
        assert await board.take("one", "second", 0) is waiting
        assert await board.take("one", "third", 0) is None
        taken, again, ending = (waiting.happened.get_nowait() for _ in range(3))
        assert taken == again == {"kind": "taken", "agent": "one"}
        assert isinstance(ending, Ending) and isinstance(ending.failure, Failure) and ending.failure.kind == "Died"

    run(story())


def test_nobody_who_has_hung_up_is_given_anything() -> None:
    async def hung_up() -> bool:
        return True

    async def story() -> None:
        board = Board()
        waiting = board.put(posed("a"), b"", ["one"], "toy")
        assert await board.take("one", "i", 5, hung_up) is None and waiting.agent is None

    run(story())


def test_there_is_an_end_to_how_many_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    async def story() -> None:
        monkeypatch.setattr(module, "MOST", 2)
        monkeypatch.setattr(module, "MOST_BYTES", 10)
        board = Board()
        first = board.put(posed("a"), b"123456", ["one"], "toy")
        with pytest.raises(Full):
            board.put(posed("b"), b"12345", ["one"], "toy")
        board.put(posed("b"), None, ["one"], "toy")
        with pytest.raises(Full):
            board.put(posed("c"), None, ["one"], "toy")
        board.remove(first)
        board.put(posed("c"), b"12345", ["one"], "toy")

    run(story())
