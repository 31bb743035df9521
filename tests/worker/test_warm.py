"""What stays open, and what is closed when."""

import threading
import time

import pytest

from mlmodelscope.worker.warm import Warm


class Thing:
    def __init__(self, name: str, said: list[str]) -> None:
        self._name, self._said = name, said
        said.append(f"open {name}")

    def close(self) -> None:
        self._said.append(f"close {self._name}")


@pytest.fixture
def said() -> list[str]:
    return []


def use(warm: Warm[Thing], name: str, said: list[str]) -> None:
    with warm.use(name, lambda: Thing(name, said)):
        said.append(f"use {name}")


def test_it_is_opened_once(said: list[str]) -> None:
    warm: Warm[Thing] = Warm()
    use(warm, "a", said)
    use(warm, "a", said)
    assert said == ["open a", "use a", "use a"] and warm.keys() == ["a"]
    warm.close()
    assert said[-1] == "close a" and not warm.keys()


def test_the_one_longest_unused_goes_first(said: list[str]) -> None:
    warm: Warm[Thing] = Warm(most=2)
    for name in "abac":
        use(warm, name, said)
    assert said[-3:] == ["close b", "open c", "use c"] and warm.keys() == ["a", "c"]


def test_what_failed_is_closed_and_opened_again(said: list[str]) -> None:
    warm: Warm[Thing] = Warm()
    with pytest.raises(ValueError), warm.use("a", lambda: Thing("a", said)):
        raise ValueError
    use(warm, "a", said)
    assert said == ["open a", "close a", "open a", "use a"]


def test_what_cannot_be_opened_leaves_nothing_behind(said: list[str]) -> None:
    warm: Warm[Thing] = Warm()

    def fail() -> Thing:
        raise OSError("no such model")

    with pytest.raises(OSError), warm.use("a", fail):
        pass
    assert not warm.keys()


def test_one_at_a_time(said: list[str]) -> None:
    warm: Warm[Thing] = Warm()
    inside, most, all_have_come = 0, 0, threading.Event()

    def work() -> None:
        nonlocal inside, most
        with warm.use("a", lambda: Thing("a", said)):
            inside += 1
            most = max(most, inside)
            while not all_have_come.is_set() and warm._places["a"].users < 8:
                time.sleep(0.001)
            all_have_come.set()
            inside -= 1

    threads = [threading.Thread(target=work) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert most == 1 and said == ["open a"]


def test_what_is_idle_for_long_is_closed(said: list[str]) -> None:
    warm: Warm[Thing] = Warm(idle_s=0)
    use(warm, "a", said)
    warm.sweep()
    assert said[-1] == "close a" and not warm.keys()


def test_closing_while_it_is_used_waits_for_its_user(said: list[str]) -> None:
    warm: Warm[Thing] = Warm()
    with warm.use("a", lambda: Thing("a", said)):
        warm.close()
        said.append("still here")
    assert said == ["open a", "still here", "close a"]


def test_one_that_is_dropped_is_closed_by_its_last_user(said: list[str]) -> None:
    warm: Warm[Thing] = Warm()
    with warm.use("a", lambda: Thing("a", said)):
        warm.drop("a")
        said.append("still here")
    use(warm, "b", said)
    warm.drop("b")
    warm.drop("never there")
    assert said == ["open a", "still here", "close a", "open b", "use b", "close b"] and not warm.keys()
