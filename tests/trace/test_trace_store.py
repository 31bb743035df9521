"""A trace kept beside its record is the trace that was taken."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from timelines import large, toy

from mlmodelscope.errors import UsageError
from mlmodelscope.trace.store import NAME, load_trace, save_trace


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    for trace in (toy(), large(5000)):
        save_trace(trace, tmp_path)
        assert load_trace(tmp_path) == trace
    assert list(tmp_path.iterdir()) == [tmp_path / NAME]


def test_it_is_a_table_for_anybody(tmp_path: Path) -> None:
    save_trace(toy(), tmp_path)
    table = pq.read_table(tmp_path / NAME)
    assert table.num_rows == len(toy().spans) and "start_ns" in table.column_names


def test_a_record_without_a_trace_says_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has no trace"):
        load_trace(tmp_path / "20260101-000000-abcdef")
