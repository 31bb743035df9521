"""Records are found and listed alike in every database."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mlmodelscope import Settings, Store

from . import shelf


@pytest.fixture
def store(where: Settings) -> Store:
    return Store(where)


def test_records_are_listed_with_their_moments_and_numbers(store: Store) -> None:
    older, newer = shelf.add(store, days=1), shelf.add(store)
    rows = store.list()
    assert [row["id"] for row in rows] == [newer.id, older.id]
    assert rows[0]["created_at"] == newer.created_at.replace(tzinfo=None)
    assert isinstance(rows[0]["finished_at"], datetime)
    assert (rows[0]["headline"]["value"], rows[0]["top1_low"]) == (
        newer.metrics["top1"].value,
        newer.metrics["top1"].low,
    )
    assert (rows[0]["model"], rows[0]["samples"], rows[0]["kind"]) == ("toy", 6, "evaluation")
    store.close()


def test_what_is_asked_for_narrows_the_list(store: Store) -> None:
    record = shelf.add(store)
    assert [row["id"] for row in store.list(model="toy", dataset="pictures", status="finished")] == [record.id]
    assert [row["id"] for row in store.list(kind="evaluation", limit=1)] == [record.id]
    for nothing in ({"model": "other"}, {"dataset": "other"}, {"status": "running"}, {"kind": "server"}):
        assert store.list(**nothing) == []  # type: ignore[arg-type]
    store.close()


def test_the_newest_record_of_a_plan_is_found(store: Store) -> None:
    older, newer = shelf.add(store, days=1), shelf.add(store)
    same = (newer.plan_digest, newer.machine.digest, newer.worker_digest)
    found = store.find(*same, "finished")
    assert found == newer and found.created_at.tzinfo == UTC and found != older
    assert store.find(*same, "running") is None
    assert store.find("0" * 64, *same[1:], "finished") is None
    store.close()
