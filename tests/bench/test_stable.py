"""Stable, or unstable with every reason."""

from simulated import latencies

from mlmodelscope.bench.stable import differs, judge, self_test_processes
from mlmodelscope.provision.machine.noise import Noise
from mlmodelscope.types import Interval

QUIET = Noise(verdict="stable", duration_s=1, cpus=2)
BUSY = Noise(
    verdict="unstable", because=("other processes took 1.35 of 2 processors (limit 0.2)",), duration_s=1, cpus=2
)
BUSIER = Noise(
    verdict="unstable", because=("other processes took 1.50 of 2 processors (limit 0.2)",), duration_s=1, cpus=2
)


def test_a_quiet_machine_is_stable_in_at_least_95_of_100() -> None:
    verdicts = [
        judge(
            [latencies(800, 2 * seed, spread=0.05), latencies(800, 2 * seed + 1, spread=0.05)], [0, 1], [QUIET]
        ).verdict
        for seed in range(100)
    ]
    assert verdicts.count("stable") >= 95


def test_a_drift_is_seen() -> None:
    found = judge([latencies(2000, 1, drift=0.2)], [0], [QUIET])
    assert (
        found.verdict == "unstable" and "the second half of the queries differs from the first by" in found.because[0]
    )


def test_processes_that_differ_are_seen() -> None:
    found = judge([latencies(1000, 1), latencies(1000, 2, median_ns=1.2e6)], [0, 1], [QUIET, QUIET])
    assert found.processes is not None and 1.15 < found.processes.ratio.value < 1.25
    assert found.because == ("two fresh processes differ by 20.0 % (limit 5 %)",) or "two fresh" in found.because[0]


def test_slow_calls_here_and_there_are_seen() -> None:
    found = judge([[1000] * 95 + [9000] * 5], [0], [QUIET])
    assert "5.0 % of the queries took more than 3 times the median (limit 1 %)" in found.because


def test_the_machines_reasons_are_told_once() -> None:
    found = judge([latencies(1000, 1)] * 2, [0, 1], [BUSY, BUSIER])
    assert found.because == ("other processes took 1.35 of 2 processors (limit 0.2), in 2 of 2 processes",)
    assert str(found).startswith("unstable, because other processes took 1.35")
    assert len(found.noise) == 2


def test_other_doubts_and_an_unfinished_warm_up_are_reasons() -> None:
    found = judge([latencies(30, 1)], [0], [QUIET], steady=False, extra=["LoadGen says INVALID"])
    assert found.because == ("LoadGen says INVALID", "it did not become steady while it was warmed up")


def test_a_single_process_or_too_few_calls_cannot_be_tested_against_themselves() -> None:
    assert self_test_processes([[1.0] * 50], [0]) is None
    few = judge([[1, 1, 1]], [0], [QUIET])
    assert few.halves is None and few.verdict == "stable"


def test_a_ratio_differs_only_if_its_whole_interval_does() -> None:
    assert differs(Interval(1.06, 1.04, 1.08), 0.03) and differs(Interval(0.9, 0.88, 0.92), 0.03)
    assert not differs(Interval(1.06, 1.02, 1.1), 0.03)


def test_a_warm_up_that_looked_unsteady_does_not_matter_where_both_halves_are_surely_the_same() -> None:
    assert judge([[1000, 1001] * 500], [0], [QUIET], steady=False).verdict == "stable"
    drifting = judge([latencies(2000, 1, drift=0.2)], [0], [QUIET], steady=False)
    assert "it did not become steady while it was warmed up" in drifting.because
