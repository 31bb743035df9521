"""Where load is run: fresh processes of one plan, with the machine watched around each."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from mlmodelscope.bench.run import Run
from mlmodelscope.dataset.sample import Sample
from mlmodelscope.plan.plan import Plan
from mlmodelscope.provision.machine.energy import read_meters, spent
from mlmodelscope.provision.machine.noise import Noise, NoiseLimits, compare_samples, take_sample
from mlmodelscope.provision.site import Site
from mlmodelscope.worker.client import Worker, contents
from mlmodelscope_worker.messages import Opened, RunLoad

_LONGEST_S = 3600.0


@dataclass
class Lab:
    """A plan ready to be run under load; what its processes have in common is kept here."""

    plan: Plan
    site: Site
    samples: Sequence[Sample]
    seed: int = 0
    end_to_end: bool = False
    samples_per_query: int | None = None
    random: Mapping[str, Any] | None = None
    """Seed and shapes of the tensors that stand in for samples, where there are none."""
    limits: NoiseLimits = field(default_factory=NoiseLimits)
    noise: list[Noise] = field(default_factory=list)
    """The machine meanwhile, for each process that was opened."""
    notes: list[str] = field(default_factory=list)
    opened: Opened | None = None
    """What the first process said of itself."""

    @property
    def lanes(self) -> int:
        return self.site.lanes

    @property
    def gpu(self) -> bool:
        return str(self.plan.predictor.options.get("device") or "cpu") != "cpu"

    @contextmanager
    def process(self, batch_size: int | None = None) -> Iterator[Station]:
        """A fresh worker with the model open, watched from then until it is left."""
        plan = self.plan
        if batch_size is not None:
            plan = plan.model_copy(update={"scenario": plan.scenario.model_copy(update={"batch_size": batch_size})})
        started = time.monotonic()
        with Worker(self.site, plan) as worker:
            station = Station(self, worker, len(self.noise), time.monotonic() - started, plan.scenario.batch_size)
            self.opened = self.opened or worker.opened
            before = take_sample(worker.pid, gpu=self.gpu)
            yield station
            self.noise.append(compare_samples(before, take_sample(worker.pid, gpu=self.gpu), self.limits))


@dataclass
class Station:
    """One process of a lab."""

    lab: Lab
    worker: Worker
    number: int
    opened_s: float
    """From starting the process until the model was open."""
    batch_size: int

    @property
    def load_s(self) -> float:
        return self.worker.opened.load_ns / 1e9

    @property
    def samples_per_query(self) -> int:
        return self.lab.samples_per_query or self.batch_size

    def closed(self, scenario: str, queries: int, seconds: float, warm_up_runs: int = 0) -> Run:
        """Queries in turn: single-stream or multi-stream."""
        per_query = self.samples_per_query if scenario == "multi-stream" else self.batch_size
        request = self._request(scenario, seconds)._replace(
            queries=queries, warm_up_runs=warm_up_runs, calls_per_query=-(-per_query // self.batch_size)
        )
        return self._run(request, per_query)

    def offline(self, batches: int, seconds: float = _LONGEST_S, warm_up_runs: int = 1) -> Run:
        """Everything at once, in batches."""
        request = self._request("offline", seconds)._replace(
            queries=batches, warm_up_runs=warm_up_runs, lanes=self.lab.lanes
        )
        return self._run(request, self.batch_size)

    def server(self, rate: float, queries: int, seed: int, patience_s: float, warm_up_runs: int = 2) -> Run:
        """Poisson arrivals."""
        request = self._request("server", _LONGEST_S)._replace(
            queries=queries,
            warm_up_runs=warm_up_runs,
            lanes=self.lab.lanes,
            rate=rate,
            seed=seed,
            patience_s=patience_s,
        )
        return self._run(request, self.batch_size, rate, seed)

    def loadgen(
        self, scenario: str, seconds: float, *, expected_ns: float, rate: float, bound_s: float
    ) -> dict[str, Any]:
        """The same by MLPerf's LoadGen, in its own words."""
        request = self._request("loadgen", seconds)._replace(
            driven=scenario,
            lanes=self.lab.lanes,
            seed=self.lab.seed,
            samples_per_query=self.samples_per_query,
            expected_ns=expected_ns,
            rate=rate,
            bound_s=bound_s,
        )
        return self.worker.loadgen(request)

    def _request(self, scenario: str, seconds: float) -> RunLoad:
        random = dict(self.lab.random) if self.lab.random is not None else None
        return RunLoad(contents(self.lab.samples), scenario, seconds, end_to_end=self.lab.end_to_end, random=random)

    def _run(self, request: RunLoad, samples_per_query: int, rate: float | None = None, seed: int | None = None) -> Run:
        meters = read_meters(gpu=self.lab.gpu)
        loaded = self.worker.load(request)
        energy = spent(meters, read_meters(gpu=self.lab.gpu)) if meters else None
        self.lab.notes += [note for note in loaded.notes if note not in self.lab.notes]
        return Run(request.scenario, loaded, self.number, samples_per_query, rate, seed, energy)
