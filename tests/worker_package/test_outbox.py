"""Answers travel together when they are quick, and at once when they are slow or the last."""

import pytest

from mlmodelscope_worker import outbox
from mlmodelscope_worker.messages import Answered, BatchAnswer
from mlmodelscope_worker.outbox import Outbox


class Recorder:
    def __init__(self) -> None:
        self.messages: list[tuple[list[int], list[bytes]]] = []

    def __call__(self, message: Answered, buffers: list[bytes]) -> None:
        assert sum(message.parts) == len(buffers)
        self.messages.append(([answer["batch"] for answer in message.answers], buffers))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    now = [0]
    monkeypatch.setattr(outbox, "nanoseconds", lambda: now[0])
    return now


def put(box: Outbox, batch: int, run_ns: int = 0, is_last: bool = False) -> None:
    box(BatchAnswer(batch, {}, run_ns=run_ns), [b"classes", b"scores"] if batch % 2 else [], is_last)


def test_quick_answers_travel_together(clock: list[int]) -> None:
    channel = Recorder()
    box = Outbox(channel)
    for batch in range(20):
        put(box, batch, is_last=batch == 19)
    assert [batches for batches, _ in channel.messages] == [list(range(16)), [16, 17, 18, 19]]
    assert channel.messages[1][1] == [b"classes", b"scores"] * 2


def test_the_last_answer_waits_for_nothing(clock: list[int]) -> None:
    channel = Recorder()
    put(Outbox(channel), 7, is_last=True)
    assert channel.messages[0][0] == [7]


def test_an_answer_that_took_long_waits_for_nothing(clock: list[int]) -> None:
    channel = Recorder()
    put(Outbox(channel), 1, run_ns=10**9)
    assert channel.messages[0][0] == [1]


def test_no_answer_waits_longer_than_a_moment(clock: list[int]) -> None:
    channel = Recorder()
    box = Outbox(channel)
    put(box, 1)
    assert channel.messages == []
    clock[0] = 60_000_000
    put(box, 2)
    assert channel.messages[0][0] == [1, 2]
