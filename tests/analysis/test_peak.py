"""The machine's best goes with a trace, and says how long a layer would take at it."""

import pytest

from mlmodelscope.analysis.peak import Peak

V100 = Peak(15.7e12, 900e9, 1, "cuda:0", "its data sheet")


def test_the_ridge_is_where_neither_waits_for_the_other() -> None:
    assert V100.intensity == pytest.approx(17.44, abs=0.01)  # as in the paper
    assert V100.bound(20, 1) == "compute" and V100.bound(10, 1) == "memory"


def test_the_slower_of_the_two_is_the_limit() -> None:
    assert V100.ideal_ns(15.7e9, 1) == pytest.approx(1e6) and V100.ideal_ns(1, 900e6) == pytest.approx(1e6)


def test_it_comes_back_from_a_trace_as_it_went_in() -> None:
    assert Peak.from_resource({"model.name": "toy", **V100.to_resource()}) == V100


def test_old_traces_have_none() -> None:
    assert Peak.from_resource({}) is None
    assert Peak.from_resource({**V100.to_resource(), "peak.flops_per_s": "many"}) is None
    assert Peak.from_resource({**V100.to_resource(), "peak.bytes_per_s": "0"}) is None


def test_a_worker_that_could_not_measure_says_why() -> None:
    assert Peak.from_worker({"problem": "no GPU", "device": "cuda", "threads": 1}) is None
    said = {"flops_per_s": 15.7e12, "bytes_per_s": 900e9, "threads": 1, "device": "cuda:0", "how": "its data sheet"}
    assert Peak.from_worker(said) == V100
