"""Raw times become numbers, and numbers that so few cannot tell are refused."""

import pytest
from simulated import latencies, loaded, run

from mlmodelscope.bench.percentiles import has_interval, queries_needed
from mlmodelscope.bench.run import join
from mlmodelscope.bench.summary import lateness_s, mean_interval, summarise, trimmed_mean
from mlmodelscope.errors import MetricError


def test_percentiles_come_with_intervals_around_them() -> None:
    made = summarise(run(latencies(6000, 1)))
    assert list(made.percentiles_s) == ["p50", "p90", "p95", "p99", "p99.9"] and not made.refused
    for each in made.percentiles_s.values():
        assert each.low <= each.value <= each.high
    assert made.percentiles_s["p50"].value == pytest.approx(1e-3, rel=0.02)


def test_a_percentile_that_so_few_queries_cannot_tell_is_refused() -> None:
    made = summarise(run(latencies(100, 1)))
    assert list(made.percentiles_s) == ["p50", "p90"]
    assert made.refused["p99"] == "100 queries are too few: a 95 % interval needs 563"


@pytest.mark.parametrize("quantile", [0.5, 0.9, 0.95, 0.99, 0.999])
def test_so_many_queries_are_needed_and_no_more(quantile: float) -> None:
    needed = queries_needed(quantile)
    assert has_interval(needed, quantile) and not has_interval(needed - 1, quantile)


def test_the_trimmed_mean_leaves_out_a_fifth_on_each_side() -> None:
    assert trimmed_mean([1, 2, 3, 4, 5, 6, 7, 8, 9, 1000]) == 5.5
    assert trimmed_mean([3]) == 3


def test_costs_are_told_for_a_sample_not_for_a_query() -> None:
    from dataclasses import replace

    one = replace(run([1000] * 10, cpu_ns=20000, batch_size=4), samples_per_query=4, energy_j={"package": 2.0})
    made = summarise(one)
    assert made.samples_per_s == pytest.approx(4e6) and made.cpu_s_per_sample == pytest.approx(0.5e-6)
    assert made.energy_j_per_sample == {"package": 0.05}


def test_runs_are_joined_one_after_the_other() -> None:
    whole = join([run([10, 20], cpu_ns=5), run([30], cpu_ns=6, peak_memory_bytes=7)])
    assert whole.loaded.latencies_ns == [10, 20, 30] and list(whole.loaded.ended_ns) == [10, 30, 60]
    assert whole.loaded.cpu_ns == 11 and whole.loaded.peak_memory_bytes == 1 << 20


def test_nothing_is_not_summarised() -> None:
    with pytest.raises(MetricError, match="no query was answered"):
        summarise(run([]))


def test_waiting_for_a_lane_is_not_the_generators_lateness() -> None:
    busy = loaded([50, 50, 50], due_ns=[100, 110, 300])
    assert lateness_s(busy) == [0, 0]  # the second waited for the first


def test_the_mean_of_a_few_runs_has_an_interval() -> None:
    found = mean_interval([9.0, 10.0, 11.0])
    assert found is not None and found.value == 10 and found.low == pytest.approx(10 - 4.303 / 3**0.5)
    assert mean_interval([9.0, 10.0]) is None
