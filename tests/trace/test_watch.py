"""What is seen from outside finds its place on the timeline, and what cannot be seen is said."""

from collections.abc import Sequence
from typing import Any

import pytest
from timelines import toy, watched

from mlmodelscope.errors import WorkerError
from mlmodelscope.provision.usage import Sample
from mlmodelscope.trace import watch as watching
from mlmodelscope.trace.counters import counter_lines, counter_values, sample_lanes
from mlmodelscope.trace.perf import PerfError
from mlmodelscope.trace.watch import counter_spans, watch
from mlmodelscope.worker.process import WorkerDied
from mlmodelscope_worker.messages import Watched


class FakeWorker:
    pid = 1

    def __init__(self, fails: Exception | None = None) -> None:
        self.fails, self.asked = fails, []

    def watch(self, samples: Sequence[Any], runs: int, *, counted: bool = False, budget_s: float = 0.0) -> Watched:
        self.asked.append(counted)
        if self.fails is not None:
            raise self.fails
        told = {"task_clock_ns": 5} if counted else {}
        return Watched(
            runs=[[10 * run, 10 * run + 5, told] for run in range(runs)],
            without_ns=[5] * runs if counted else [],
            notes=["cycles unavailable: no"] if counted else [],
            batch_size=1,
        )


@pytest.fixture(autouse=True)
def no_perf(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*words: Any) -> None:
        raise PerfError("perf is not installed")

    monkeypatch.setattr(watching, "Perf", refuse)


def test_counters_belong_to_the_run_and_not_to_a_layer_around_them() -> None:
    trace = watched()
    by_id = {span.id: span for span in trace.spans}
    for span in trace.spans:
        if span.attributes.get("kind") in ("counters", "sample", "symbol"):
            assert span.parent is not None and by_id[span.parent].name == "run"
            assert by_id[span.parent].start_ns <= span.start_ns <= span.end_ns <= by_id[span.parent].end_ns


def test_samples_are_cut_to_their_run() -> None:
    samples = [Sample("memory", "bytes", 0, 15, 7), Sample("memory", "bytes", 15, 90, 9)]
    spans = counter_spans([[10, 20, {}], [50, 60, {}], [95, 99, {}]], samples)
    assert [(span.start_ns, span.end_ns, span.attributes["value"]) for span in spans if span.name == "memory"] == [
        (10, 15, 7),
        (15, 20, 9),
        (50, 60, 9),
    ]


def test_counters_are_told_for_people() -> None:
    rows = dict(counter_lines(watched()))
    assert rows["processor"] == "3,000 instructions, 2.00 a cycle, 2.00 cache misses per thousand of them"
    assert rows["a run"] == "page faults 2" and rows["power"].startswith("12.5 W")
    assert counter_values(toy()) == {} and counter_lines(toy()) == [] and sample_lanes(toy()) == {}


def test_each_level_asks_for_what_it_needs_and_no_more() -> None:
    worker = FakeWorker()
    assert watch(worker, [], "framework", 2) == ([], []) and worker.asked == []
    runs, notes = watch(worker, [], "library", 2, seen={"library"})
    assert runs == [] and notes == [] and worker.asked == []
    runs, notes = watch(worker, [], "library", 2, gpu=True)
    assert runs == [] and notes == []


def test_without_perf_the_counters_are_there_all_the_same() -> None:
    runs, notes = watch(FakeWorker(), [], "hardware", 2)
    assert [run.level for run in runs] == ["hardware"] and runs[0].without_ns == (5, 5)
    assert notes[:2] == ["library: perf is not installed", "hardware: cycles unavailable: no"]


def test_a_refusal_is_a_note_and_a_death_is_not() -> None:
    runs, notes = watch(FakeWorker(WorkerError("it may not")), [], "hardware", 2)
    assert runs == [] and notes[-1] == "hardware: it may not"
    with pytest.raises(WorkerDied):
        watch(FakeWorker(WorkerDied("gone")), [], "hardware", 2)
