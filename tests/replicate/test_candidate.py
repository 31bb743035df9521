"""What a few samples let expect of a variant, where the number is no share of samples."""

from types import SimpleNamespace
from typing import Any

import pytest

from mlmodelscope.replicate.baseline import Baseline
from mlmodelscope.replicate.candidate import Candidate, judge
from mlmodelscope.replicate.goal import Goal
from mlmodelscope.replicate.pitfall import Variant
from mlmodelscope.replicate.stratified_sampling import in_one_stratum

TOTAL, SEEN = 160, 16


class Mean:
    """Of numbers between 0 and 1, one for each sample."""

    name, outcome, bounds, is_better_higher, needs_scores = "mean", None, (0.0, 1.0), True, True
    is_of_the_best = False

    def quality(self, row: tuple[int, float]) -> float:
        return row[1]

    def difference(self, before: Any, after: Any) -> tuple[float, float]:
        moved = [now[1] - then[1] for then, now in zip(before, after, strict=True)]
        mean = sum(moved) / len(moved)
        return mean, (sum((each - mean) ** 2 for each in moved) / len(moved) ** 2) ** 0.5


def judged(before: float, after: float, claimed: float, seen: int = SEEN) -> Candidate:
    """A variant that gives every sample `after` where the plan gives it `before`."""
    own, other = SimpleNamespace(digest="own"), SimpleNamespace(digest="other")
    values = {id(own): before, id(other): after}
    trials: Any = SimpleNamespace(
        plan=own, labelled=list(range(TOTAL)), rows=lambda plan, some: [(0, values[id(plan)])] * len(some)
    )
    claim: Any = SimpleNamespace(measure=Mean(), value=claimed)
    goal = Goal(claim, before, claimed - 0.0005, claimed + 0.0005)
    plan: Any = own
    baseline = Baseline(plan, before, in_one_stratum(range(TOTAL)), {})
    changed: Any = other
    return judge(Variant(("sampling",), "drawn", changed), goal, trials, range(seen), baseline)


@pytest.mark.parametrize(("before", "claimed"), [(0.98, 1.0), (0.5, 0.55)])
def test_what_spoils_every_answer_does_not_close_a_small_gap(before: float, claimed: float) -> None:
    assert not judged(before, 0.0, claimed).is_possible


def test_what_closes_some_of_a_gap_may_close_all_of_it() -> None:
    assert judged(0.5, 0.9, 1.0).is_possible
    assert not judged(0.5, 0.9, 1.0, seen=TOTAL).is_possible


def test_what_goes_beyond_a_claim_may_come_to_it() -> None:
    assert judged(0.5, 0.9, 0.8).is_possible


def test_where_a_claim_is_too_low_the_way_is_down() -> None:
    assert judged(0.9, 0.6, 0.5).is_possible and not judged(0.5, 1.0, 0.45).is_possible
