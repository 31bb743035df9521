"""The measuring process: killed, it is started again; what kills it each time is named."""

from collections.abc import Iterator

import pytest

from mlmodelscope.errors import MetricError
from mlmodelscope.measure.ruler import Item, Ruler

TASK = "object_detection"


@pytest.fixture
def ruler() -> Iterator[Ruler]:
    made = Ruler()
    yield made
    made.close()


def kill(ruler: Ruler) -> None:
    ruler._process.kill()


def test_a_process_that_was_killed_is_started_again(ruler: Ruler) -> None:
    known = ruler.versions(TASK)
    kill(ruler)
    assert ruler.versions(TASK) == known
    assert ruler.is_alive


def test_samples_are_scored_after_a_kill_as_before(ruler: Ruler) -> None:
    nothing = Item(
        [("boxes", "<f8", (0, 4), b""), ("scores", "<f8", (0,), b""), ("classes", "<i4", (0,), b"")],
        {},
        {"boxes": [[0.0, 0.0, 4.0, 4.0]], "classes": [0]},
    )
    before = ruler.score(TASK, {}, [nothing])
    kill(ruler)
    assert ruler.score(TASK, {}, [nothing]) == before


def test_a_question_that_ends_it_is_named_and_the_next_ruler_answers(
    ruler: Ruler, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = ruler._start

    def start_and_kill() -> None:
        start()
        ruler._process.kill()

    monkeypatch.setattr(ruler, "_start", start_and_kill)
    kill(ruler)
    with pytest.raises(MetricError, match="ended with exit code -9 while it measured object_detection"):
        ruler.versions(TASK)
