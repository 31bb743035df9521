"""Batch sizes: throughput at each, and the one that is best."""

from __future__ import annotations

from mlmodelscope.bench.adapt import GOALS, measure
from mlmodelscope.bench.batch_size import GAIN, Point, TooLarge, sweep
from mlmodelscope.bench.lab import Lab
from mlmodelscope.bench.outcome import Outcome
from mlmodelscope.bench.run import Run, join
from mlmodelscope.bench.scenario.closed import taker
from mlmodelscope.bench.scenario.pace import samples_per_s
from mlmodelscope.bench.scenario.request import Progress, Request
from mlmodelscope.bench.summary import mean_interval
from mlmodelscope.errors import WorkerError
from mlmodelscope.record.bench import SweepRecord
from mlmodelscope.types import Interval
from mlmodelscope.worker.process import WorkerDied


def batch_sweep(lab: Lab, request: Request, say: Progress) -> Outcome:
    """Throughput over batch sizes, each in a fresh process; latency is that of single calls in turn."""
    runs: list[Run] = []
    speeds: dict[int, Interval | None] = {}
    share_s = request.budget_s / 8
    tight: list[bool] = []

    def try_size(size: int) -> Point:
        say(f"batch size {size}")
        try:
            with lab.process(size) as station:
                found = measure(taker(station, "single-stream"), share_s, GOALS[:2], request.queries)
        except WorkerDied as error:
            raise TooLarge(f"a batch of {size} ended the worker: {error.message.splitlines()[0]}") from None
        except WorkerError as error:
            if size == lab.plan.scenario.batch_size:
                raise
            raise TooLarge(f"a batch of {size} was refused: {error.message.splitlines()[0]}") from None
        tight.append(found.tight)
        kept = [stretch.run for stretch in found.kept]
        runs.append(join(kept))
        speeds[size] = mean_interval([samples_per_s(run) for run in kept])
        return Point(size, samples_per_s(runs[-1]))

    found = sweep(try_size, lab.plan.scenario.batch_size, request.most_batch)
    best = found.optimal.batch_size
    return Outcome(
        runs,
        [run for run in runs if run.loaded.batch_size == best],
        throughput=speeds[best],
        tight=all(tight),
        ended=found.ended,
        sweep=SweepRecord(optimal_batch=best, gain=GAIN, ended=found.ended),
    )
