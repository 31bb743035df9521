"""Raw latencies beside a record: what is written comes back."""

from array import array
from pathlib import Path

import pytest

from mlmodelscope.errors import UsageError
from mlmodelscope.record.latencies import RawRun, csv_lines, load_latencies, save_latencies

RUNS = [
    RawRun(array("q", [0, 10]), array("q", [0, 12]), array("q", [5, 20]), array("q")),
    RawRun(array("q", [3]), array("q", [4]), array("q", [9]), array("q", [2])),
]


def test_runs_come_back_as_they_were(tmp_path: Path) -> None:
    save_latencies(RUNS, tmp_path / "record")
    assert load_latencies(tmp_path / "record") == RUNS
    assert [run.latencies_ns() for run in RUNS] == [[5, 10], [6]]


def test_no_runs_are_no_rows(tmp_path: Path) -> None:
    save_latencies([], tmp_path)
    assert load_latencies(tmp_path) == []


def test_a_record_without_any_says_what_makes_them(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has no raw latencies"):
        load_latencies(tmp_path)


def test_csv_has_a_line_for_each_query() -> None:
    assert list(csv_lines(RUNS))[1:] == ["0,0,0,0,5,5,\n", "0,1,10,12,20,10,\n", "1,0,3,4,9,6,2\n"]
