"""What is seen of a model from outside its framework: counters, samples of memory and power, functions by `perf`.

Each is a run of its own, asked of the worker, which says when its runs began and ended by the clock of both.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, Protocol

from mlmodelscope.dataset.sample import Sample as DatasetSample
from mlmodelscope.errors import WorkerError
from mlmodelscope.provision.usage import Sample, Sampler
from mlmodelscope.trace.merge import LeveledRun, Taken
from mlmodelscope.trace.perf import Perf, PerfError, symbol_spans
from mlmodelscope.trace.span import LEVELS
from mlmodelscope.worker.process import WorkerDied
from mlmodelscope_worker.messages import Watched

SAMPLED_S = 2.0
"""How long `perf` looks on: some thousand samples, whatever a run takes."""


class Watchable(Protocol):
    """A worker, as far as it is needed here."""

    @property
    def pid(self) -> int: ...

    def watch(
        self, samples: Sequence[DatasetSample], runs: int, *, counted: bool = False, budget_s: float = 0.0
    ) -> Watched: ...


def watch(
    worker: Watchable,
    samples: Sequence[DatasetSample],
    level: str,
    runs: int,
    *,
    seen: Collection[str] = (),
    gpu: bool = False,
) -> tuple[list[LeveledRun], list[str]]:
    """Further runs for the lower levels, down to `level`; what cannot be had is said in notes.

    `seen` are the levels that the framework itself told: functions are sampled where it did not tell what layers call.
    """
    found: list[LeveledRun] = []
    notes: list[str] = []
    deepest = LEVELS.index(level)
    try:
        if deepest >= LEVELS.index("library") and "library" not in seen and not gpu:
            try:
                found.append(sampled_symbols(worker, samples, runs))
            except PerfError as error:
                notes.append(f"library: {error}")
        if deepest >= LEVELS.index("hardware"):
            counted, told = counted_runs(worker, samples, runs, gpu=gpu)
            found.append(counted)
            notes += [f"hardware: {each}" for each in told]
    except WorkerDied:
        raise
    except WorkerError as error:
        notes.append(f"{'hardware' if deepest >= LEVELS.index('hardware') else 'library'}: {error.message}")
    return found, notes


def sampled_symbols(worker: Watchable, samples: Sequence[DatasetSample], runs: int) -> LeveledRun:
    perf = Perf(worker.pid)
    try:
        plain = worker.watch(samples, runs).runs
        with perf:
            watched = [(start, end) for start, end, _ in worker.watch(samples, runs, budget_s=SAMPLED_S).runs]
        spans = symbol_spans(watched, perf.read(), runs)
    finally:
        perf.close()
    if not any(span.level == "library" for span in spans):
        raise PerfError("perf saw nothing: the runs are too short or too few")
    return LeveledRun("library", tuple(spans), "run", tuple(end - start for start, end, _ in plain))


def counted_runs(
    worker: Watchable, samples: Sequence[DatasetSample], runs: int, *, gpu: bool = False
) -> tuple[LeveledRun, list[str]]:
    with Sampler(worker.pid, gpu=gpu) as sampler:
        answer = worker.watch(samples, runs, counted=True)
    spans = counter_spans(answer.runs, sampler.samples)
    run = LeveledRun("hardware", tuple(spans), "run", tuple(answer.without_ns))
    return run, [*answer.notes, *sampler.notes]


def counter_spans(runs: Sequence[Sequence[Any]], samples: Sequence[Sample]) -> list[Taken]:
    """Runs, each with its counters and with the samples that fall into it."""
    first, last = runs[0][0], runs[-1][1]
    spans = [Taken("application", "application", first, last, None)]
    lanes: dict[str, list[Sample]] = {}
    for sample in samples:
        if sample.end_ns > first and sample.start_ns < last:
            lanes.setdefault(sample.name, []).append(sample)
    for start, end, counted in runs:
        batch = len(spans)
        spans.append(Taken("batch", "application", start, end, 0))
        spans.append(Taken("run", "model", start, end, batch))
        said = {"kind": "counters", "lane": "counters", **counted}
        spans.append(Taken("counters", "hardware", start, end, batch + 1, said))
        for lane in lanes.values():
            for sample in lane:
                if sample.end_ns > start and sample.start_ns < end:
                    clipped = replace(sample, start_ns=max(start, sample.start_ns), end_ns=min(end, sample.end_ns))
                    spans.append(_sample_span(clipped, batch + 1))
    return spans


def _sample_span(sample: Sample, run: int) -> Taken:
    value = int(sample.value) if sample.unit == "bytes" else round(sample.value, 3)
    said = {"kind": "sample", "lane": sample.name, "value": value, "unit": sample.unit}
    return Taken(sample.name, "hardware", sample.start_ns, sample.end_ns, run, said)
