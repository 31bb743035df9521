"""Checks of claims are the same in every database."""

from __future__ import annotations

from claim.claim_world import MOMENT, check_of
from mlmodelscope.record.checks import keep_checks, read_checks
from mlmodelscope.record.database import Database


def test_checks_are_kept_and_found_in_every_database(database: Database) -> None:
    old, new = check_of(verdict="not reproduced", cause="crop"), check_of(record="r2", days=1, population=None)
    keep_checks(database, [old, new, check_of("b", model="timm:other")])
    keep_checks(database, [check_of(verdict="not reproduced", days=5, person="another", replication="e1")])
    first, second = read_checks(database, claim="a")
    assert first == new and (second.cause, second.person, second.replication) == ("crop", "somebody", "e1")
    assert second.checked_at == MOMENT and [each.claim for each in read_checks(database, model="timm:other")] == ["b"]
