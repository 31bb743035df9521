"""A page of all records: filtered, sorted and cut alike by every database, with what people wrote beside them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import delete, select, text

from mlmodelscope import Record, Settings, Store
from mlmodelscope.errors import UsageError
from mlmodelscope.record import pins, remarks
from mlmodelscope.record.database import migrate
from mlmodelscope.record.facts import facts_row
from mlmodelscope.record.record import MeasuredNumber, new_record_id
from mlmodelscope.record.record_list import SORTS, Chosen, find_choices, find_page
from mlmodelscope.record.tables import record_facts, record_notes, record_tags

from . import shelf


@pytest.fixture
def store(where: Settings) -> Iterator[Store]:
    found = Store(where)
    yield found
    found.close()


def add(store: Store, model: str = "toy", days: float = 0, **changes: Any) -> Record:
    """A record of a model of this name."""
    base, _ = shelf.real()
    moment = datetime.now(UTC) - timedelta(days=days)
    plan = base.plan.model_copy(update={"model": base.plan.model.model_copy(update={"name": model})})
    own = {"id": new_record_id(moment), "created_at": moment, "finished_at": moment, "plan": plan}
    record = base.model_copy(update={**own, **changes})
    store.files.place(record.id).mkdir(parents=True)
    store.add(record)
    return record


def ids(store: Store, **chosen: Any) -> list[str]:
    with store.database.reading() as connection:
        return [row["record"] for row in find_page(connection, Chosen(**chosen))[0]]


def test_pages_are_cut_by_the_database_and_know_the_total(store: Store) -> None:
    made = [add(store, days=days).id for days in range(5)]
    with store.database.reading() as connection:
        first, total = find_page(connection, Chosen(limit=2))
        second, _ = find_page(connection, Chosen(start=2, limit=2))
        beyond, still = find_page(connection, Chosen(start=10**6))
    assert [row["record"] for row in (*first, *second)] == made[:4] and total == still == 5 and beyond == []


def test_words_kinds_and_days_narrow_the_list(store: Store) -> None:
    old, new = add(store, "vgg_16", days=3), add(store, "resnet%50")
    assert ids(store, q="VGG_16") == ids(store, q="vgg class") == [old.id]
    assert ids(store, q="resnet%50 fake") == [new.id]
    assert ids(store, q="vgg%16") == ids(store, q="vgg-16") == ids(store, q="\\") == ids(store, q="' OR 1=1 --") == []
    assert ids(store, model="vgg_16") == ids(store, until=datetime.now(UTC) - timedelta(days=1)) == [old.id]
    assert ids(store, since=datetime.now(UTC) - timedelta(days=1)) == [new.id]
    assert ids(store, kind="evaluation", task="classification", stack="current", owner="local") == [new.id, old.id]
    for nothing in ({"kind": "bench"}, {"task": "none"}, {"owner": "ada"}, {"status": "running"}, {"machine": "x"}):
        assert ids(store, **nothing) == []


def test_every_sort_goes_both_ways_and_empty_numbers_come_last(store: Store) -> None:
    slow = {"metrics": {"top1": MeasuredNumber(value=0.2)}, "wall_s": 9.0, "samples": 9}
    low, high = add(store, "a", **slow), add(store, "b", wall_s=1.0, metrics={"top1": MeasuredNumber(value=0.9)})
    none = add(store, "c", metrics={}, latency=None, wall_s=None)
    assert ids(store, sort="result") == [high.id, low.id, none.id]
    assert ids(store, sort="result", descending=False) == [low.id, high.id, none.id]
    assert ids(store, sort="duration")[0] == low.id and ids(store, sort="latency")[-1] == none.id
    assert ids(store, sort="model", descending=False) == [low.id, high.id, none.id]
    for sort in SORTS:
        assert sorted(ids(store, sort=sort)) == sorted([low.id, high.id, none.id])
    with pytest.raises(UsageError, match="cannot be sorted by `words`"):
        ids(store, sort="words")


def test_numbers_that_are_none_are_left_out(store: Store) -> None:
    number = MeasuredNumber.model_construct(value=float("nan"), low=float("-inf"), high=None, unit="share")
    row = facts_row(shelf.real()[0].model_copy(update={"metrics": {"top1": number}}))
    assert (row["headline"], row["value"], row["low"], row["high"]) == ("top1", None, None, None)


def test_a_record_that_was_asked_for_after_all_is_no_longer_intermediate(store: Store) -> None:
    made = add(store, made_for="sensitivity")
    assert ids(store, intermediate=True) == [made.id] and ids(store, intermediate=False) == []
    store.shown(made)
    assert ids(store, intermediate=False) == [made.id]


def test_tags_notes_and_pins_are_found_and_go_with_their_record(store: Store) -> None:
    record, other = add(store), add(store)
    for owner in ("ada", "bob"):
        remarks.add_tag(store.database, record.id, "  camera   ready ", owner)
    note = remarks.add_note(store.database, record.id, "fast\r\nenough\0", "ada")
    remarks.add_note(store.database, record.id, "second", "bob")
    pins.pin(store.database, record.id, "ada")
    with store.database.reading() as connection:
        (row,), total = find_page(connection, Chosen(tag="camera ready", pinned=True))
        assert find_choices(connection)["tag"] == ["camera ready"]
    assert (row["record"], row["tags"], row["notes"], row["pinned_by"], total) == (
        record.id,
        ["camera ready"],
        2,
        "ada",
        1,
    )
    assert [each["owner"] for each in remarks.tags_of(store.database, record.id)] == ["ada"]
    assert [each["text"] for each in remarks.notes_of(store.database, record.id)] == ["fast\nenough", "second"]
    assert ids(store, pinned=False) == [other.id]
    remarks.remove_note(store.database, record.id, note)
    remarks.remove_tag(store.database, record.id, "camera ready")
    assert ids(store, tag="camera ready") == [] and len(remarks.notes_of(store.database, record.id)) == 1
    store.delete(record)
    with store.database.reading() as connection:
        for table in (record_facts, record_tags, record_notes):
            assert connection.execute(select(table).where(table.c.record == record.id)).first() is None


@pytest.mark.parametrize("tag", ["", " ", "-x", "a/b", "a\nb\0", "x" * 51, "<b>", "a,b"])
def test_odd_tags_are_refused(tag: str) -> None:
    with pytest.raises(UsageError, match="cannot be a tag"):
        remarks.clean_tag(tag)


@pytest.mark.parametrize("note", ["", " \n\t", "\0", "x" * 4001])
def test_empty_and_endless_notes_are_refused(note: str) -> None:
    with pytest.raises(UsageError, match="a note has 1 to 4000 characters"):
        remarks.clean_note(note)


def test_there_is_an_end_to_tags(store: Store) -> None:
    record = add(store)
    for number in range(remarks.MOST_TAGS):
        remarks.add_tag(store.database, record.id, f"t{number}", "ada")
    with pytest.raises(UsageError, match="30 are the most"):
        remarks.add_tag(store.database, record.id, "more", "ada")


def test_two_people_tag_at_once(store: Store) -> None:
    record = add(store)
    writers = [
        threading.Thread(target=remarks.add_tag, args=(store.database, record.id, "same", owner)) for owner in "abcd"
    ]
    for each in writers:
        each.start()
    for each in writers:
        each.join()
    assert len(remarks.tags_of(store.database, record.id)) == 1


def test_older_stores_learn_the_facts_of_their_records(store: Store) -> None:
    record, damaged = add(store, "older"), add(store, "unreadable")
    with store.database.writing() as connection:
        connection.execute(delete(record_facts))
        connection.execute(text("UPDATE records SET document = '{}' WHERE id = :id"), {"id": damaged.id})
    migrate(store.database, "0010")
    migrate(store.database)
    with store.database.reading() as connection:
        (row,) = connection.execute(select(record_facts).where(record_facts.c.record == record.id)).mappings()
        assert dict(row) == facts_row(record)
    assert ids(store, q="unreadable") == [damaged.id]
