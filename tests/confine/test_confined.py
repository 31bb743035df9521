"""Calls that take too much end with a sentence; the others do not notice where they are made."""

import threading
from collections.abc import Iterator
from pathlib import Path

import deeds
import pytest

from mlmodelscope.confine.confined import Confined, Limits
from mlmodelscope.confine.inside import is_confined
from mlmodelscope.errors import ChecksumError, LimitError, ManifestError

LITTLE = Limits(cpu_s=0.5, memory_bytes=64 << 20, answer_bytes=1 << 20)


@pytest.fixture
def confined(monkeypatch: pytest.MonkeyPatch) -> Iterator[Confined]:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    with Confined(LITTLE, processes=1) as found:
        yield found


def test_an_answer_comes_back_as_it_is(confined: Confined) -> None:
    value = {"a": [1, 2.5, "é", None, True]}
    assert confined.call(deeds.echo, value=value) == value
    assert confined.call(deeds.packed, length=3_000_000) == b"x" * 3_000_000


def test_one_process_serves_many_calls(confined: Confined) -> None:
    assert len({confined.call(deeds.process) for _ in range(5)}) == 1


def test_an_expression_that_does_not_come_back_is_ended(confined: Confined) -> None:
    with pytest.raises(LimitError, match=r"more than 0\.5 s of processor time"):
        confined.call(deeds.think)
    assert confined.call(deeds.echo, value=1) == 1  # in a new process


def test_memory_beyond_the_limit_is_refused(confined: Confined) -> None:
    assert confined.call(deeds.take, length=32 << 20) == 32 << 20
    with pytest.raises(LimitError, match="more than 64 MiB of memory"):
        confined.call(deeds.take, length=80 << 20)
    assert confined.call(deeds.take, length=32 << 20) == 32 << 20


def test_an_answer_that_would_fill_the_caller_is_refused(confined: Confined) -> None:
    with pytest.raises(LimitError, match="more than 1 MiB to say"):
        confined.call(deeds.say, length=2 << 20)


def test_errors_keep_their_kind(confined: Confined) -> None:
    with pytest.raises(ChecksumError, match="not that one") as refused:
        confined.call(deeds.refuse, kind="particular")
    assert refused.value.hint == "another"
    with pytest.raises(ManifestError) as wrong:
        confined.call(deeds.refuse, kind="manifest")
    assert (wrong.value.problems[0].line, wrong.value.problems[0].known) == (3, ("c", "d"))


def test_a_surprise_keeps_its_traceback(confined: Confined) -> None:
    with pytest.raises(RuntimeError, match=r"(?s)deeds\.py.*KeyError: 'other'"):
        confined.call(deeds.refuse, kind="other")


def test_a_crash_is_named(confined: Confined) -> None:
    with pytest.raises(LimitError, match="ended by itself .SIGSEGV"):
        confined.call(deeds.crash)


def test_whoever_waits_is_told_when_it_is_closed(confined: Confined) -> None:
    told: list[str] = []

    def wait() -> None:
        try:
            confined.call(deeds.wait)
        except LimitError as error:
            told.append(error.message)

    confined.call(deeds.process)  # a process is there
    thread = threading.Thread(target=wait)
    thread.start()
    while not confined._busy:
        thread.join(0.01)
    confined.close()
    thread.join(60)
    assert told == ["the process that read it was ended"]
    with pytest.raises(LimitError, match="about to stop"):
        confined.call(deeds.process)


def test_a_confined_process_knows_that_it_is_one(confined: Confined) -> None:
    assert confined.call(deeds.confined) and not is_confined()


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (Limits(cpu_s=3.0), "more than 3 s of processor time"),
        (Limits(memory_bytes=256 << 20), "more than 256 MiB of memory"),
    ],
)
def test_what_is_read_inside_has_no_limits_of_its_own(
    limits: Limits, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Parquet file took five minutes and a gigabyte of a server that allows less, and left its rows behind."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    numbers, word = pa.array([1] * 3_000_000, pa.int8()), pa.array(["x" * (2 << 20)])
    words = pa.DictionaryArray.from_arrays(pa.array([0] * 5000, pa.int32()), word)
    table = {"a": numbers} if limits.cpu_s < 60 else {"a": words}
    pq.write_table(pa.table(table), tmp_path / "t.parquet", store_schema=False)
    left = tmp_path / "left"
    left.mkdir()
    monkeypatch.setenv("TMPDIR", str(left))
    with Confined(limits, processes=1) as confined, pytest.raises(LimitError, match=reason):
        confined.call(deeds.count_rows, path=str(tmp_path / "t.parquet"))
    assert not list(left.iterdir())


def test_rows_are_the_same_inside(tmp_path: Path) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"a": [1, 2, 3]}), tmp_path / "t.parquet")
    with Confined(processes=1) as confined:
        assert confined.call(deeds.count_rows, path=str(tmp_path / "t.parquet")) == 3
