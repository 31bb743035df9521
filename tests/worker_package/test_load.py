"""Load: every query once, in its turn, and counted from when it was due. Clocks are made up, so nothing is timed."""

import math
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mlmodelscope_worker.function_session import FunctionSession
from mlmodelscope_worker.messages import RunLoad
from mlmodelscope_worker.predictor import ModelError
from mlmodelscope_worker.scenario.load import Load
from mlmodelscope_worker.scenario.load.all_at_once import offline
from mlmodelscope_worker.scenario.load.closed import multi_stream, single_stream
from mlmodelscope_worker.scenario.load.inputs import Inputs
from mlmodelscope_worker.scenario.load.loadgen import parse_log
from mlmodelscope_worker.scenario.load.open_loop import queue_depths, server
from mlmodelscope_worker.scenario.load.schedule import arrivals
from mlmodelscope_worker.session import Session
from worker_package.pictures import jpeg, scene
from worker_package.tasks import fake_model, task

PICTURES = [jpeg(scene()[::step].copy()) for step in (1, 2, 3)]
LONG_NS = 10**15


class Clock:
    """Time that passes only when somebody sleeps or works."""

    def __init__(self) -> None:
        self.now = 1000

    def __call__(self) -> int:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += round(seconds * 1e9)

    def work(self, duration_ns: int) -> None:
        self.now += duration_ns


def latencies(kept: Any) -> list[int]:
    return [end - due for end, due in zip(kept.ended_ns, kept.due_ns, strict=True)]


def nothing() -> None:
    pass


# Arrivals.


def test_the_same_seed_gives_the_same_arrivals_everywhere() -> None:
    assert list(arrivals(1000, 5, seed=7)) == [391314, 554833, 1607328, 1682522, 2450139]
    assert arrivals(1000, 50, 7) == arrivals(1000, 100, 7)[:50]
    assert arrivals(1000, 50, 7) != arrivals(1000, 50, 8)


def kolmogorov_smirnov(values: list[float], rate: float) -> float:
    """The largest distance from an exponential distribution, times the square root of the count."""
    ordered, count = sorted(values), len(values)
    expected = [1 - math.exp(-rate * value) for value in ordered]
    distance = max(max((i + 1) / count - e, e - i / count) for i, e in enumerate(expected))
    return distance * math.sqrt(count)


def gaps(rate: float, count: int, seed: int) -> list[float]:
    moments = arrivals(rate, count, seed)
    return [(b - a) / 1e9 for a, b in zip([0, *moments], moments, strict=False)]


@pytest.mark.parametrize("rate", [0.5, 100, 20000])
def test_gaps_between_arrivals_are_exponential(rate: float) -> None:
    """1.36 is passed by one honest schedule of twenty; 1.95 by one of a thousand."""
    found = [kolmogorov_smirnov(gaps(rate, 2000, seed), rate) for seed in range(40)]
    assert sum(each < 1.36 for each in found) >= 34 and max(found) < 1.95


def test_the_test_of_arrivals_sees_other_distributions() -> None:
    even = [0.01] * 2000
    assert kolmogorov_smirnov(even, 100) > 10
    assert kolmogorov_smirnov(gaps(110, 2000, 1), 100) > 1.36


# One after the other.


def test_a_single_stream_times_each_call_alone() -> None:
    clock = Clock()
    calls = [(clock.work, 10), (clock.work, 30)]
    kept = single_stream(calls, queries=5, budget_ns=LONG_NS, clock=clock)
    assert latencies(kept) == [10, 30, 10, 30, 10]
    assert list(kept.ended_ns) == [10, 40, 50, 80, 90] and kept.unanswered == 0


def test_a_single_stream_ends_when_its_time_is_over() -> None:
    clock = Clock()
    assert len(single_stream([(clock.work, 10)], 1000, budget_ns=35, clock=clock)) == 4
    assert len(single_stream([(clock.work, 10)], 1000, budget_ns=0, clock=clock)) == 1


def test_a_query_of_the_multi_stream_is_over_with_its_last_call() -> None:
    clock = Clock()
    calls = [(clock.work, 10), (clock.work, 20), (clock.work, 30)]
    kept = multi_stream(calls, queries=3, calls_per_query=2, budget_ns=LONG_NS, clock=clock)
    assert latencies(kept) == [30, 40, 50]


# A server.


def serve(due: list[int], service_ns: int, patience_ns: int = LONG_NS) -> Any:
    from array import array

    clock = Clock()
    return server([(clock.work, service_ns)], 1, nothing, array("q", due), patience_ns, clock, clock.sleep)


def test_latency_counts_from_when_a_query_was_due_not_from_when_it_was_begun() -> None:
    kept = serve([100, 110, 120, 500], service_ns=50)
    assert list(kept.started_ns) == [100, 150, 200, 500]
    assert latencies(kept) == [50, 90, 130, 50]


def test_a_stall_is_felt_by_all_who_arrive_meanwhile() -> None:
    """The omission that a closed loop coordinates: it would have seen one slow call and nine quick ones."""
    from array import array

    clock = Clock()
    calls = [(clock.work, 1000)] + [(clock.work, 1)] * 9
    kept = server(calls, 1, nothing, array("q", range(100, 1100, 100)), LONG_NS, clock, clock.sleep)
    assert latencies(kept) == [1000, 901, 802, 703, 604, 505, 406, 307, 208, 109]


@pytest.mark.parametrize("load", [0.3, 0.7])
def test_waiting_is_what_the_theory_of_queues_says(load: float) -> None:
    """Poisson arrivals, one lane, calls that all take as long: the mean wait is that of Pollaczek and Khinchine."""
    service_ns = 1_000_000
    kept = serve(list(arrivals(load * 1000, 60000, seed=11)), service_ns)
    waits = [start - due for start, due in zip(kept.started_ns, kept.due_ns, strict=True)]
    expected = load / (2 * (1 - load)) * service_ns
    assert sum(waits) / len(waits) == pytest.approx(expected, rel=0.1)


def test_what_is_due_and_cannot_be_begun_in_time_is_counted() -> None:
    kept = serve([10, 20, 30, 40], service_ns=100, patience_ns=150)
    assert len(kept) == 2 and kept.unanswered == 2


def test_queries_that_wait_are_counted() -> None:
    from array import array

    assert list(queue_depths(array("q", [0, 1, 2, 3, 90]), array("q", [0, 10, 20, 30, 90]))) == [0, 2, 1, 0, 0]


def test_lanes_share_the_arrivals_and_none_is_taken_twice() -> None:
    seen, lock = [], threading.Lock()

    def call(number: int) -> None:
        with lock:
            seen.append(number)

    calls = [(call, number) for number in range(200)]
    kept = server(calls, 3, nothing, arrivals(50000, 200, 1), LONG_NS, _ticking())
    assert sorted(seen) == list(range(200)) and len(kept) == 200
    assert all(due <= start <= end for due, start, end in zip(kept.due_ns, kept.started_ns, kept.ended_ns, strict=True))


def _ticking() -> Any:
    from mlmodelscope_worker.clock import nanoseconds

    return nanoseconds


def test_every_lane_is_warmed_up_before_the_first_query() -> None:
    done = []
    server([(done.append, "query")], 2, lambda: done.append("warm"), arrivals(50000, 4, 1), LONG_NS, _ticking())
    assert done == ["warm", "warm", "query", "query", "query", "query"]


def test_a_lane_that_fails_ends_the_run_and_says_why() -> None:
    def fail(_: Any) -> None:
        raise ModelError("no")

    with pytest.raises(ModelError, match="no"):
        server([(fail, None)], 2, nothing, arrivals(50000, 50, 1), LONG_NS, _ticking())
    with pytest.raises(ModelError, match="no"):
        server([(nothing, None)], 2, lambda: fail(None), arrivals(50000, 50, 1), LONG_NS, _ticking())


# Offline.


def test_offline_answers_every_batch_once() -> None:
    seen, lock = [], threading.Lock()

    def call(number: int) -> None:
        with lock:
            seen.append(number)

    kept = offline([(call, number) for number in range(60)], 3, nothing, 60, LONG_NS, _ticking())
    assert sorted(seen) == list(range(60)) and len(kept) == 60 and set(kept.due_ns) == {0}


def test_offline_ends_when_its_time_is_over() -> None:
    clock = Clock()
    kept = offline([(clock.work, 10)], 1, nothing, 1000, 35, clock, clock.sleep)
    assert latencies(kept) == [10, 20, 30, 40]


# A request.


def ask(session: Any, scenario: str, buffers: list[bytes] | None = None, **more: Any) -> tuple[Any, tuple]:
    buffers = PICTURES if buffers is None else buffers
    asked = RunLoad([{"buffer": n} for n in range(len(buffers))], scenario, budget_s=60, queries=20, patience_s=60)
    asked = asked._replace(warm_up_runs=1, lanes=2, calls_per_query=2, seed=3, rate=50000.0)
    return Load(session)(asked._replace(**more), buffers)


@pytest.mark.parametrize("scenario", ["single-stream", "multi-stream", "server", "offline"])
@pytest.mark.parametrize("end_to_end", [False, True])
def test_every_scenario_answers_with_times_and_costs(tmp_path: Path, scenario: str, end_to_end: bool) -> None:
    header, buffers = ask(Session(task(fake_model(tmp_path), batch_size=2)), scenario, end_to_end=end_to_end)
    due, started, ended, depths = buffers
    assert header.queries == len(due) == len(started) == len(ended) == 20 and header.unanswered == 0
    assert len(depths) == (20 if scenario == "server" else 0) and header.batch_size == 2
    assert header.lanes == (2 if scenario in ("server", "offline") else 1)
    assert header.cpu_ns >= 0 and header.peak_memory_bytes > 1 << 20 and header.end_to_end is end_to_end


def test_an_unknown_scenario_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="does not know the scenario `rush`"):
        ask(Session(task(fake_model(tmp_path))), "rush")


def test_a_predictor_that_is_not_concurrent_has_one_lane(tmp_path: Path) -> None:
    session = Session(task(fake_model(tmp_path)))
    session.predictor.concurrent = False
    assert ask(session, "offline")[0].lanes == 1


def test_prepared_inputs_are_what_the_pipeline_gives_each_in_memory_of_its_own(tmp_path: Path) -> None:
    session = Session(task(fake_model(tmp_path)))
    calls = Inputs(session, [{"buffer": n} for n in range(3)], PICTURES, False).calls
    assert len(calls) == 3 and all(call == session.predictor.run for call, _ in calls)
    for number, (_, (tensor,)) in enumerate(calls):
        assert np.array_equal(tensor[0], session.prepare({"buffer": number}, PICTURES).tensors[0])
    assert len({tensor.ctypes.data for _, (tensor,) in calls}) == 3


def test_too_few_samples_are_repeated(tmp_path: Path) -> None:
    session = Session(task(fake_model(tmp_path), batch_size=5))
    ((_, (tensor,)),) = Inputs(session, [{"buffer": 0}, {"buffer": 1}], PICTURES, False).calls
    assert np.array_equal(tensor[0], tensor[4]) and not np.array_equal(tensor[0], tensor[1])


def test_a_very_large_batch_is_there_only_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mlmodelscope_worker.scenario.load import inputs

    session = Session(task(fake_model(tmp_path)))
    monkeypatch.setattr(inputs, "_MOST_BYTES", 1000)
    ((_, (tensor,)),) = Inputs(session, [{"buffer": n} for n in range(3)], PICTURES, False).calls
    assert tensor is session.stack([session.prepare({"buffer": 0}, PICTURES)])[0]


def test_samples_that_fail_are_left_out_and_said(tmp_path: Path) -> None:
    session = Session(task(fake_model(tmp_path)))
    header, _ = ask(session, "single-stream", [b"", PICTURES[0]])
    assert header.notes == ["1 samples that fail are left out: the file is empty"]
    with pytest.raises(ModelError, match="none of the samples can be used: the file is empty"):
        ask(session, "single-stream", [b""])


def test_inputs_are_kept_from_one_run_to_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session(task(fake_model(tmp_path)))
    load, made = Load(session), []
    prepare = session.prepare
    monkeypatch.setattr(session, "prepare", lambda *given: made.append(1) or prepare(*given))
    asked = RunLoad([{"buffer": 0}], "single-stream", budget_s=60, queries=3)
    for _ in range(3):
        load(asked, PICTURES)
    assert len(made) == 1
    load(asked._replace(end_to_end=True), PICTURES)
    assert len(made) > 1


def test_warm_up_calls_are_told_apart(tmp_path: Path) -> None:
    header, buffers = ask(Session(task(fake_model(tmp_path))), "single-stream", warm_up_runs=4)
    assert len(header.warm_up_ns) == 4 and len(buffers[2]) == 20


def test_a_manifests_own_functions_are_run_whole(tmp_path: Path) -> None:
    code = "def run(ctx, data):\n    return [0 for _ in data['data']]\n"
    functions = {"run": {"code": code, "function": "run", "gets": "files", "file": "m.yml", "line": 1}}
    spec = task({}, batch_size=2)
    nothing_to_open = spec.predictor._replace(name=None)
    session = FunctionSession(spec._replace(predictor=nothing_to_open, inputs=[], functions=functions, task="general"))
    asked = RunLoad([{"file": "a"}, {"file": "b"}], "single-stream", budget_s=60, queries=3)
    answer, (_, _, ended, _) = Load(session)(asked, [])
    assert len(ended) == 3 and answer.end_to_end and "own functions" in answer.notes[0]


# LoadGen.


def test_loadgens_results_are_read_from_its_log() -> None:
    text = ':::MLLOG {"key": "result_validity", "value": "VALID", "time_ms": 1.0}\nnoise\n:::MLLOG {"key": "logger"}\n{'
    assert parse_log(text) == {"result_validity": "VALID"}


def test_where_loadgen_is_missing_it_is_said_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "mlperf_loadgen", None)
    with pytest.raises(ModelError, match="pip install mlcommons-loadgen"):
        ask(Session(task(fake_model(tmp_path))), "loadgen", driven="single-stream")


@pytest.mark.parametrize("driven", ["single-stream", "multi-stream", "server", "offline"])
def test_loadgen_drives_the_same_calls(tmp_path: Path, driven: str) -> None:
    pytest.importorskip("mlperf_loadgen", reason="mlcommons-loadgen is not installed")
    session = Session(task(fake_model(tmp_path), batch_size=1))
    more = {"expected_ns": 50000, "samples_per_query": 4, "bound_s": 1.0, "rate": 500.0}
    header, _ = ask(session, "loadgen", driven=driven, budget_s=0.2, **more)
    found = header.loadgen
    assert found["result_query_count"] >= 1 and "result_validity" in found and found["loadgen_version"]
