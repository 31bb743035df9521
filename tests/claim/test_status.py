"""The status of a claim is what all checks of it come to."""

import pytest

from claim.claim_world import check_of
from mlmodelscope.claim.status import NOT_CHECKED, STATUSES, standing_of, standings, status_named
from mlmodelscope.errors import UsageError
from mlmodelscope.replicate.kind import EXIT_CODES


def test_what_nobody_has_checked_is_unchecked():
    assert standing_of("b", standings([check_of("a")])) is NOT_CHECKED
    assert NOT_CHECKED.status == "unchecked" and NOT_CHECKED.check is None


def test_the_newest_check_that_decides_counts():
    old, new = check_of(verdict="not reproduced"), check_of(record="r2", days=1)
    for order in ([old, new], [new, old]):
        found = standings(order)["a"]
        assert (found.status, found.check, found.checks, found.contradicted) == ("reproduced", new, 2, 1)


def test_a_check_that_decides_nothing_takes_no_verdict_away():
    found = standings([check_of(verdict="not reproduced"), check_of(record="r2", verdict="undecided", days=1)])["a"]
    assert (found.status, found.checks, found.contradicted) == ("not reproduced", 2, 0)
    assert standings([check_of(verdict="undecided")])["a"].status == "undecided"


def test_every_verdict_is_a_status():
    assert set(EXIT_CODES) | {"unchecked"} == set(STATUSES)


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("better", "better than claimed"),
        ("not-reproduced", "not reproduced"),
        ("Not_Reproduced", "not reproduced"),
        ("not checked", "unchecked"),
        ("undecided", "undecided"),
    ],
)
def test_a_status_is_named_as_people_type_it(text, status):
    assert status_named(text) == status


@pytest.mark.parametrize("text", ["", "right", "repro", "x" * 1000])
def test_a_status_that_does_not_exist_is_refused_with_those_that_do(text):
    with pytest.raises(UsageError, match="known: unchecked, reproduced") as caught:
        status_named(text)
    assert len(str(caught.value)) < 300
