"""How likely one of k programs passes, from some answers to each question."""

import math

import pytest

from mlmodelscope.measure import executing
from mlmodelscope.measure.executing import pass_at
from mlmodelscope.measure.generation import Generation

OPTIONS = {"execute": "python", "insert": "[[answer]]", "timeout_s": 5, "memory_mib": 256}
NAMES = ["pass-at-1", "pass-at-5", "pass-at-10", "pass-at-100"]


def test_of_several_programs_the_shares_are_without_bias(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []

    def run_all(programs: list[str], allowance: object) -> list[str]:
        ran.extend(programs)
        return ["passed", "failed: AssertionError"] * (len(programs) // 2)

    monkeypatch.setattr(executing, "run_all", run_all)
    item = ({}, {"text": "1", "texts": ["1", "2"] * 5}, {"answers": ["assert [[answer]] == 1"]})
    found = [each for each in Generation().score_together([item], OPTIONS) if isinstance(each, bytes)]
    assert ran[:2] == ["assert 1 == 1", "assert 2 == 1"]
    due = 1 - math.comb(5, 5) / math.comb(10, 5)
    assert Generation().numbers(found, NAMES, None) == pytest.approx(
        {"pass-at-1": 0.5, "pass-at-5": due, "pass-at-10": 1.0}
    )
    assert Generation().details(found)["executed"] == {"passed": 5, "failed: AssertionError": 5}


@pytest.mark.parametrize("count", [1, 2, 5, 10])
def test_the_estimator_is_the_share_of_draws_that_have_one(count: int) -> None:
    for passed in range(count + 1):
        for tries in range(1, count + 1):
            due = 1 - math.comb(count - passed, tries) / math.comb(count, tries)
            assert pass_at(count, passed, tries) == pytest.approx(due, abs=1e-12)
    assert math.isnan(pass_at(count, 0, count + 1))
