"""manifest → plan → provision → worker → trace → record: where the time goes, level by level."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from mlmodelscope import __version__
from mlmodelscope.dataset.open import open_dataset
from mlmodelscope.errors import UsageError
from mlmodelscope.evaluation import Watcher, provision_site, storage_errors
from mlmodelscope.plan.options import Options
from mlmodelscope.plan.plan import Plan
from mlmodelscope.preparation import (
    DatasetSource,
    HardwareSource,
    ModelSource,
    SoftwareSource,
    find_aspects,
    plan_aspects,
)
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.provision.machine import describe_machine
from mlmodelscope.provision.setup import run_setup
from mlmodelscope.provision.stack import worker_digest
from mlmodelscope.record.record import LevelCost, ProfileRecord, Record, ServerRecord, StackRecord, new_record_id
from mlmodelscope.record.store import Store
from mlmodelscope.record.summary import summarise_latency
from mlmodelscope.settings import Settings
from mlmodelscope.trace.layers import agreement, run_ns
from mlmodelscope.trace.merge import LeveledRun, Taken, merge, number
from mlmodelscope.trace.span import LEVELS, Trace, trace_id_of
from mlmodelscope.trace.store import save_trace
from mlmodelscope.worker.client import Worker

PROFILED = ("application", "model", "framework", "library")
"""The levels that a profile can be asked for."""


def profile(
    model: ModelSource,
    dataset: DatasetSource | None = None,
    options: Options | None = None,
    *,
    level: str = "framework",
    runs: int = 10,
    software: SoftwareSource | None = None,
    hardware: HardwareSource | None = None,
    trust: bool = False,
    settings: Settings | None = None,
    watcher: Watcher | None = None,
) -> tuple[Record, Trace]:
    """Trace some batches of a model down to a level, and keep the record with its trace.

    Every profile is a new record: it is about this moment of this machine.
    """
    if level not in PROFILED:
        raise UsageError(f"there is no level `{level}` to profile\nknown: {', '.join(PROFILED)}")
    settings = settings or Settings.from_environment()
    watcher = watcher or Watcher()
    artifacts = ArtifactStore(settings, watcher.downloading)
    aspects = find_aspects(model, dataset, software, hardware)
    if aspects.model.job_type == "training":
        raise UsageError(f"{aspects.model.name} describes a training, which cannot be profiled")
    options = options or Options()
    if options.limit is None:  # a profile looks at a few batches: only their samples need be there
        options = replace(options, limit=runs * options.batch_size)
    plan = plan_aspects(aspects, options, artifacts, settings, trust=trust, progress=watcher.building)
    with storage_errors(settings.home):
        store = Store(settings)
        try:
            return _profile(plan, level, runs, store, artifacts, watcher)
        finally:
            store.close()


def _profile(
    plan: Plan, level: str, runs: int, store: Store, artifacts: ArtifactStore, watcher: Watcher
) -> tuple[Record, Trace]:
    record = Record(
        id=new_record_id(),
        status="running",
        created_at=datetime.now(UTC),
        plan_digest=sha256(f"profile {level} {runs} {plan.digest}".encode()).hexdigest(),
        plan=plan,
        machine=describe_machine().model_copy(update={"server": plan.predictor.where.get("url")}),
        worker_version=__version__,
        worker_digest=worker_digest(),
    )
    if plan.setup is not None:
        record = record.model_copy(update={"setup_output": run_setup(plan.setup)})
    if plan.dataset.is_known_by_functions:
        raise UsageError("the manifest's own code reads the dataset: its samples cannot be profiled")
    dataset = open_dataset(plan.dataset, artifacts)
    samples = dataset.samples[: runs * plan.scenario.batch_size]
    with Worker(provision_site(plan, artifacts), plan) as worker:
        latency = worker.measure_latency(samples, plan)
        watcher.measured(latency)
        began_ns = time.time_ns()
        taken = worker.trace(samples, level, runs, plan.scenario.warm_up_runs)
        opened = worker.opened
    trace = make_trace(record, taken, began_ns)
    record = record.model_copy(
        update={
            "status": "finished",
            "finished_at": datetime.now(UTC),
            "stack": StackRecord(**opened["environment"]),
            "server": ServerRecord(**opened["server"]) if opened["server"] else None,
            "load_s": opened["load_ns"] / 1e9,
            "latency": summarise_latency(latency.batch_size, latency.warm_up_ns, latency.raw_ns, latency.parts_ns),
            "samples": len(samples),
            "profile": _described(trace, level, runs),
            "notes": tuple(taken["notes"]),
        }
    )
    store.add(record)
    store.save(record)
    save_trace(trace, store.folder(record.id))
    return record, trace


def make_trace(record: Record, taken: Mapping[str, Any], began_ns: int) -> Trace:
    """What a worker took, as one timeline."""
    spans, overheads = merge([_run_of(each) for each in taken["runs"]])
    plan = record.plan
    if spans:
        about = {"record": record.id, "batch_size": taken["batch_size"]}
        spans[0] = replace(spans[0], name=f"{plan.model.name} {plan.model.version}", attributes=about)
    identity = trace_id_of(record.id, plan.seed)
    resource = {
        "record": record.id,
        "model.name": plan.model.name,
        "model.version": plan.model.version,
        "dataset.name": plan.dataset.name,
        "predictor": plan.predictor.name or "functions",
        "stack": " ".join(sorted(f"{name} {version}" for name, version in plan.stack.packages.items())),
        "batch_size": str(taken["batch_size"]),
        "host.cpu": record.machine.cpu,
        "host.arch": record.machine.architecture,
    }
    return Trace(identity, began_ns, number(spans, identity), tuple(overheads), resource)


def _run_of(run: Mapping[str, Any]) -> LeveledRun:
    spans: Sequence[Sequence[Any]] = run["spans"]
    return LeveledRun(
        run["level"], tuple(Taken(*each) for each in spans), run["compared"], tuple(run.get("without_ns", ()))
    )


def _described(trace: Trace, level: str, runs: int) -> ProfileRecord:
    sums = agreement(trace)
    return ProfileRecord(
        level=level,
        levels=tuple(each for each in LEVELS if trace.at(each)),
        runs=runs,
        spans=len(trace.spans),
        run_ns=run_ns(trace),
        layers_ns=sums.layers_ns if sums else None,
        overheads=tuple(LevelCost(**asdict(each)) for each in trace.overheads),
    )
