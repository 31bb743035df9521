"""Times of tokens become numbers: what counts, from when, and whether a bound was met."""

from array import array
from dataclasses import replace
from typing import Any

import pytest
from simulated import loaded

from mlmodelscope.bench.mlperf import RULES, limits_of
from mlmodelscope.bench.run import Run, join
from mlmodelscope.bench.scenario import Request
from mlmodelscope.bench.summary import summarise
from mlmodelscope.bench.tokens import Limit, judge_limits, keeps_to, paces, tokens_of, written_per_s
from mlmodelscope.errors import UsageError
from mlmodelscope.record.bench import EACH, FIRST
from mlmodelscope.worker.texts import Texts

MS = 10**6


def texts(rows: list[tuple[int, int, int, int, int]]) -> Texts:
    return Texts(*(array("q", column) for column in zip(*rows, strict=True)))


def run(rows: list[tuple[int, int, int, int, int]], durations: list[int], **changes: Any) -> Run:
    return Run("single-stream", loaded(durations, texts=texts(rows), **changes))


def test_the_first_token_counts_from_when_the_query_was_due() -> None:
    """The second query is due at 5 ms, and waits until the first is answered at 10."""
    rows = [(0, 7, 5, 2 * MS, 10 * MS), (1, 9, 3, 2 * MS, 6 * MS)]
    found = tokens_of(replace(run(rows, [10 * MS, 6 * MS], due_ns=[0, 5 * MS]), scenario="server"))
    assert found is not None
    assert found.first_mean_s == pytest.approx((0.002 + 0.007) / 2)
    assert found.each_mean_s == pytest.approx((8 / 4 + 4 / 2) / 2 / 1000)
    assert (found.texts, found.read, found.written) == (2, 16, 8)
    assert found.written_per_s == pytest.approx(8 / 0.016) and found.read_per_s == pytest.approx(16 / 0.016)


def test_what_a_server_does_not_tell_is_left_out() -> None:
    found = tokens_of(run([(0, -1, 5, -1, -1), (1, 4, 1, MS, MS)], [10 * MS, MS]))
    assert found is not None and found.read is None and found.read_per_s is None
    assert found.first_mean_s == 0.001 and found.each_mean_s is None and found.written == 6


def test_models_without_tokens_have_none() -> None:
    assert tokens_of(Run("offline", loaded([MS]))) is None
    assert (
        summarise(Run("offline", loaded([MS]))).tokens is None and written_per_s(Run("offline", loaded([MS]))) is None
    )
    scored = tokens_of(run([(0, 30, 0, -1, -1)], [10 * MS]))
    assert scored is not None and scored.written_per_s == 0 and scored.read_per_s == pytest.approx(3000)


def test_runs_together_keep_their_texts_at_their_queries() -> None:
    one, other = run([(0, 1, 2, MS, 2 * MS), (1, 1, 2, MS, 3 * MS)], [2 * MS, 3 * MS]), run([(0, 1, 4, MS, MS)], [MS])
    whole = join([one, other])
    assert whole.loaded.texts is not None and list(whole.loaded.texts.queries) == [0, 1, 2]
    assert paces(whole) == [MS, 1.5 * MS, MS / 4]


def test_energy_is_shared_by_the_tokens() -> None:
    found = tokens_of(replace(run([(0, 10, 5, MS, 5 * MS)], [5 * MS]), energy_j={"package-0": 2.0}))
    assert found is not None and found.energy_j_per_token == {"package-0": 0.4}


def many(first_ms: float, count: int = 1000) -> Run:
    rows = [(query, 5, 11, round(first_ms * MS), round((first_ms + 30) * MS)) for query in range(count)]
    return run(rows, [round((first_ms + 30) * MS)] * count)


def test_a_bound_is_met_or_not_and_says_who_wants_it() -> None:
    limits = [Limit(FIRST, 0.4), Limit(EACH, 0.002, 0.9, "the boss")]
    first, each = judge_limits(many(350), limits)
    assert first.verdict == "met" and first.found is not None and first.found.value == pytest.approx(0.35)
    assert each.verdict == "not met" and each.source == "the boss" and each.percentile == 0.9
    assert not keeps_to(many(350), limits) and keeps_to(many(350), limits[:1])


def test_a_bound_that_too_few_texts_can_tell_is_undecided() -> None:
    (found,) = judge_limits(many(350, 20), [Limit(FIRST, 0.4)])
    assert found.verdict == "undecided" and found.because == "20 texts are too few: a 95 % interval needs 563"
    (found,) = judge_limits(run([(0, -1, 5, -1, -1)], [MS]), [Limit(FIRST, 0.4)])
    assert found.verdict == "undecided" and found.because == "nobody knows when the tokens came"
    assert not keeps_to(run([(0, -1, 5, -1, -1)], [MS]), [Limit(FIRST, 0.4)])


def test_a_bound_between_the_ends_of_an_interval_is_undecided() -> None:
    rows = [(query, 5, 1, (100 + query % 100) * MS, (100 + query % 100) * MS) for query in range(1000)]
    (found,) = judge_limits(run(rows, [200 * MS] * 1000), [Limit(FIRST, 0.1985)])
    assert found.verdict == "undecided" and found.found is not None


@pytest.mark.parametrize("name", RULES)
def test_a_rule_of_mlperfs_bounds_both_at_the_99th_percentile(name: str) -> None:
    first, each = Request(mlperf=name).limits
    assert first.what == FIRST and each.what == EACH and first.bound_s > each.bound_s
    assert first.percentile == each.percentile == 0.99 and name in first.source and first.rule == name


def test_an_unknown_rule_names_those_that_there_are() -> None:
    with pytest.raises(UsageError, match=r"llama2-70b-interactive") as error:
        limits_of("llama2-70b-interactiv")
    assert "did you mean" in str(error.value.hint)


def test_own_bounds_and_a_rule_go_together() -> None:
    asked = Request(first_s=0.1, each_s=None, percentile=0.9, mlperf="llama2-70b").limits
    assert [(each.what, each.bound_s, each.percentile) for each in asked] == [
        (FIRST, 0.1, 0.9),
        (FIRST, 2.0, 0.99),
        (EACH, 0.2, 0.99),
    ]
