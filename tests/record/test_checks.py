"""Checks of claims are kept for good, found by claim or model, and written by several at once."""

import threading
from datetime import UTC, datetime

import pytest

from claim.claim_world import MOMENT, check_of
from mlmodelscope.errors import StoreError
from mlmodelscope.record.checks import checks_at, keep_checks, read_checks
from mlmodelscope.record.database import open_database
from mlmodelscope.settings import Settings


@pytest.fixture
def database(settings):
    found = open_database(settings)
    yield found
    found.close()


def test_a_check_is_read_as_it_was_kept(database):
    found = check_of(population=None, replication="e1", measured=1 / 3)
    keep_checks(database, [found])
    assert read_checks(database) == [found] and read_checks(database)[0].checked_at.tzinfo is UTC


def test_the_newest_come_first_and_one_model_or_claim_alone(database):
    keep_checks(database, [check_of("a"), check_of("b", days=1), check_of("a", "r2", days=2, model="timm:other")])
    assert [each.checked_at.day for each in read_checks(database)] == [2, 1, 31]
    assert [each.claim for each in read_checks(database, model="toy@1.0.0")] == ["b", "a"]
    assert [each.record for each in read_checks(database, claim="a")] == ["r2", "r1"]
    assert read_checks(database, claim="' OR 1=1 --") == []


def test_the_same_record_again_keeps_who_and_when_and_the_cause(database):
    keep_checks(database, [check_of(verdict="not reproduced", cause="color-layout")])
    keep_checks(database, [check_of(verdict="not reproduced", days=9, person="another", replication="e7")])
    (found,) = read_checks(database)
    assert (found.cause, found.person, found.checked_at, found.replication) == (
        "color-layout",
        "somebody",
        MOMENT,
        "e7",
    )
    keep_checks(database, [check_of(verdict="reproduced")])
    (found,) = read_checks(database)
    assert (found.verdict, found.cause) == ("reproduced", "")


def test_long_and_odd_words_of_agents_are_bounded(database):
    long = "x\x1b[31m\n" * 10_000
    keep_checks(database, [check_of(cause=long, stack=long, machine=long, person=long)])
    (found,) = read_checks(database)
    assert len(found.stack) == 300 and len(found.person) == 100 and len(found.cause) == 10_000
    assert all(text.isprintable() for text in (found.cause, found.stack, found.machine, found.person))


def test_two_writers_lose_nothing(settings):
    def write(name):
        database = open_database(settings)
        for number in range(20):
            keep_checks(database, [check_of(f"{name}{number}")])
        database.close()

    threads = [threading.Thread(target=write, args=(name,)) for name in "abc"]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(checks_at(settings)) == 60


def test_who_only_looks_makes_no_store(tmp_path):
    settings = Settings(home=tmp_path / "home", cache=tmp_path / "cache")
    assert checks_at(settings) == [] and not settings.home.exists()


def test_a_damaged_store_is_an_error_that_says_so(tmp_path):
    settings = Settings(home=tmp_path / "home", cache=tmp_path / "cache")
    settings.home.mkdir()
    (settings.home / "records.sqlite").write_bytes(b"no database at all" * 1000)
    with pytest.raises(StoreError, match="home"):
        checks_at(settings)


def test_moments_of_other_time_zones_are_kept_as_utc(database):
    local = datetime.fromisoformat("2026-01-31T12:00:00+02:00")
    keep_checks(database, [check_of(checked_at=local)])
    assert read_checks(database)[0].checked_at == MOMENT
