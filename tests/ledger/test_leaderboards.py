"""Leaderboards compare only what may be compared, alike in every database."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from mlmodelscope import Record, Settings, Store
from mlmodelscope.plan.plan import Plan, Subset
from mlmodelscope.record.leaderboard import Board, Place, find_boards, find_places
from mlmodelscope.record.record import MeasuredNumber

from . import shelf
from .test_record_list import add


@pytest.fixture
def store(where: Settings) -> Iterator[Store]:
    found = Store(where)
    yield found
    found.close()


def measured(store: Store, model: str, value: float, apart: float = 0.01, **more: Any) -> Record:
    number = MeasuredNumber(value=value, low=value - apart, high=value + apart)
    return add(store, model, metrics={"top1": number}, **more)


def of_part(store: Store, model: str, value: float, count: int) -> Record:
    """Over some samples of the dataset only."""
    base = shelf.real()[0].plan
    dataset = base.dataset.model_copy(update={"subset": Subset(count=count, stratified=False, seed=1), "size": 70})
    plan: Plan = base.model_copy(update={"dataset": dataset, "model": base.model.model_copy(update={"name": model})})
    return measured(store, model, value, plan=plan, samples=count)


def read(store: Store) -> dict[str | None, list[Place]]:
    """The rows of each table, by its part of the dataset."""
    with store.database.reading() as connection:
        return {board.subset: find_places(connection, board) for board in find_boards(connection)}


def names(places: list[Place]) -> list[tuple[int, str]]:
    return [(each.rank, each.row["model"]) for each in places]


def test_the_best_comes_first_equal_ones_share_a_rank_and_overlaps_are_told(store: Store) -> None:
    for model, value in (("low", 0.5), ("best", 0.9), ("near", 0.885), ("same", 0.5)):
        measured(store, model, value)
    (places,) = read(store).values()
    assert names(places) == [(1, "best"), (2, "near"), (3, "low"), (3, "same")]
    assert [each.ties_first for each in places] == [True, True, False, False]


def test_parts_of_a_dataset_have_tables_of_their_own_behind_the_whole(store: Store) -> None:
    measured(store, "whole", 0.4)
    for model in ("a", "b"):
        of_part(store, model, 0.99, 5)
    of_part(store, "a", 0.98, 6)
    found = read(store)
    assert list(found) == [None, "5 samples, seed 1", "6 samples, seed 1"]
    assert [len(places) for places in found.values()] == [1, 2, 1]


def test_of_one_model_the_most_answers_count_and_then_the_newest(store: Store) -> None:
    measured(store, "one", 0.9, days=2, samples=6)
    newest = measured(store, "one", 0.7, days=1, samples=6)
    measured(store, "one", 0.8, samples=6, failed=3)
    ((place,),) = read(store).values()
    assert place.row["record"] == newest.id


def test_what_another_command_needed_or_is_no_number_is_left_out(store: Store) -> None:
    measured(store, "hidden", 0.9, made_for="sensitivity")
    measured(store, "running", 0.9, status="running")
    add(store, "nothing", metrics={})
    odd = MeasuredNumber.model_construct(value=float("nan"), low=None, high=None, unit="share")
    add(store, "nan", metrics={"top1": odd.model_copy(update={"value": float("inf")})})
    assert read(store) == {}


def test_metrics_and_versions_never_share_a_table(store: Store) -> None:
    measured(store, "a", 0.9)
    base = shelf.real()[0].plan
    plan = base.model_copy(update={"dataset": base.dataset.model_copy(update={"version": "2.0.0"})})
    add(store, "a", metrics={"top1": MeasuredNumber(value=0.5)}, plan=plan)
    with store.database.reading() as connection:
        boards: list[Board] = find_boards(connection)
        assert sorted(each.version for each in boards) == ["1.0.0", "2.0.0"] and len({each.id for each in boards}) == 2
        assert find_boards(connection, "' OR 1=1 --") == []
