"""Some of a record's samples: what is odd about a table must not hide a sample or show a wrong one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mlmodelscope.record.samples import BATCHES, TableWriter, schema_of
from mlmodelscope.record.search import Search, Wanted
from mlmodelscope.task.task import task_named

ROWS: list[tuple[Any, ...]] = [
    ("a/1.jpg", "0", 0, [0, 1], [0.9, 0.1], True, None, None),
    ("a/2.jpg", "0", 0, [1, 0], [0.95, 0.05], False, None, None),
    ("b/3.jpg", "0", 1, None, None, None, "the file is truncated", None),
    ("b/4.jpg", "0", 1, [], [], False, None, None),
    ("c/5.jpg", "0", None, None, None, None, None, '{"text":"A Cat"}'),
    ("b/6.jpg", "0", 1, [0, 1], [float("nan"), 0.0], False, None, None),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    table, batches = (
        TableWriter(tmp_path / "samples.parquet", schema_of(task_named("classification"))),
        TableWriter(tmp_path / "batches.parquet", BATCHES),
    )
    for row in ROWS:
        table.add(*row)
    for number, (size, run_ns) in enumerate([(2, 50), (2, 10), (2, 30)]):
        batches.add(number, size, run_ns)
    table.finish()
    batches.finish()
    return tmp_path


def found(folder: Path, start: int = 0, limit: int = 100, **wanted: Any) -> list[str]:
    samples, total = Search().page(folder, Wanted(**wanted), start, limit)
    assert start or total == len(samples) or limit < 100
    return [each["id"][2] for each in samples]


def test_everything_comes_in_its_order_a_page_at_a_time(folder: Path) -> None:
    assert found(folder) == list("123456")
    assert found(folder, 4, 100) == list("56") and found(folder, 9, 100) == []


def test_what_has_no_answer_is_neither_right_nor_wrong(folder: Path) -> None:
    assert found(folder, only="right") == ["1"]
    assert found(folder, only="wrong") == list("246")
    assert found(folder, only="failed") == ["3"]


def test_a_word_is_looked_for_wherever_a_person_reads_it(folder: Path) -> None:
    assert found(folder, word="TRUNC") == ["3"] and found(folder, word="a cat") == ["5"]
    assert found(folder, word="nobody", named=frozenset({1})) == list("2346")
    assert found(folder, word=".*") == []  # a word, no pattern


def test_a_score_that_is_not_there_is_neither_high_nor_low(folder: Path) -> None:
    assert found(folder, above=0.0) == ["1", "2"] and found(folder, below=2.0) == ["1", "2"]
    assert found(folder, only="wrong", above=0.9) == ["2"]


def test_what_was_not_timed_or_scored_comes_last(folder: Path) -> None:
    assert found(folder, sort="score", descending=True)[:2] == ["2", "1"]
    assert found(folder, sort="latency", descending=True) == list("125634")
    assert found(folder, sort="latency") == list("345612")


def test_nothing_found_is_nothing_in_either_order(folder: Path) -> None:
    assert found(folder, word="no such word", descending=True) == found(folder, word="no such word") == []


def test_classes_are_numbers_and_0_is_one(folder: Path) -> None:
    assert found(folder, label=0) == ["1", "2"] and found(folder, answer=0) == ["1", "6"]
    assert found(folder, label=0, answer=1) == ["2"]


def test_batches_that_are_not_of_these_samples_tell_no_time(folder: Path) -> None:
    batches = TableWriter(folder / "batches.parquet", BATCHES)
    batches.add(0, 2**31 - 1, 1)
    batches.finish()
    samples, _ = Search().page(folder, Wanted(), 0, 10)
    assert [each["run_ns"] for each in samples] == [None] * 6


def test_the_same_question_is_not_searched_twice_unless_the_table_changed(folder: Path) -> None:
    search = Search()
    assert search.page(folder, Wanted(only="right"), 0, 9)[1] == 1
    table = TableWriter(folder / "samples.parquet", schema_of(task_named("classification")))
    for row in ROWS[:1] * 3:
        table.add(*row)
    table.finish()
    assert search.page(folder, Wanted(only="right"), 0, 9)[1] == 3
