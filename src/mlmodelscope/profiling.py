"""manifest → plan → provision → worker → trace → record: where the time goes, level by level."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from hashlib import sha256
from tempfile import TemporaryDirectory
from typing import Any

from mlmodelscope.analysis.peak import Peak
from mlmodelscope.dataset.open import open_dataset
from mlmodelscope.dataset.sample import Sample
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
from mlmodelscope.provision.site import Site
from mlmodelscope.provision.stack import worker_digest
from mlmodelscope.record.record import LevelCost, ProfileRecord, Record, ServerRecord, StackRecord, new_record_id
from mlmodelscope.record.store import Store
from mlmodelscope.record.summary import summarise_latency
from mlmodelscope.settings import Settings
from mlmodelscope.trace.counting import count_kernels, same_kernels
from mlmodelscope.trace.layers import agreement, run_ns
from mlmodelscope.trace.merge import LeveledRun, Taken, merge, number
from mlmodelscope.trace.span import LEVELS, Trace, trace_id_of
from mlmodelscope.trace.store import save_trace
from mlmodelscope.trace.watch import watch
from mlmodelscope.worker.client import Worker
from mlmodelscope_worker import __version__

PROFILED = ("application", "model", "framework", "library", "hardware")
"""The levels that a profile can be asked for."""


def profile(
    model: ModelSource,
    dataset: DatasetSource | None = None,
    options: Options | None = None,
    *,
    level: str = "framework",
    runs: int = 10,
    cold: bool = False,
    software: SoftwareSource | None = None,
    hardware: HardwareSource | None = None,
    trust: bool = False,
    settings: Settings | None = None,
    watcher: Watcher | None = None,
) -> tuple[Record, Trace]:
    """Trace some batches of a model down to a level, and keep the record with its trace.

    Every profile is a new record: it is about this moment of this machine. A cold one is of the very first call of as
    many fresh processes.
    """
    if level not in PROFILED:
        raise UsageError(f"there is no level `{level}` to profile\nknown: {', '.join(PROFILED)}")
    if cold and level != "framework":
        raise UsageError("a first call shows its layers and nothing below: --cold goes with the level framework only")
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
            return _profile(plan, level, runs, cold, store, artifacts, watcher)
        finally:
            store.close()


def _profile(
    plan: Plan, level: str, runs: int, cold: bool, store: Store, artifacts: ArtifactStore, watcher: Watcher
) -> tuple[Record, Trace]:
    record = Record(
        id=new_record_id(),
        status="running",
        created_at=datetime.now(UTC),
        plan_digest=sha256(f"profile {level} {runs} {'cold ' if cold else ''}{plan.digest}".encode()).hexdigest(),
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
    cold_calls = _first_calls(provision_site(plan, artifacts), plan, samples, runs) if cold else None
    counts = level == "hardware" and _on_gpu(plan) and not cold
    with TemporaryDirectory() as folder:
        shared = same_kernels(plan, folder) if counts else {}
        with Worker(provision_site(plan, artifacts), plan, environment=shared) as worker:
            latency = worker.measure_latency(samples, plan)
            watcher.measured(latency)
            began_ns = time.time_ns()
            taken = cold_calls or worker.trace(samples, level, runs, plan.scenario.warm_up_runs)
            more, said = ([], []) if cold else _look_on(worker, samples, level, runs, taken, _on_gpu(plan))
            best = _measure_peak(worker, plan) if LEVELS.index(level) >= LEVELS.index("framework") else {}
            opened = worker.opened
        if counts:
            said += count_kernels(provision_site(plan, artifacts), plan, samples, taken["runs"], shared)
    trace = make_trace(record, taken, began_ns, more)
    peak = Peak.from_worker(best) if best else None
    if peak is not None:
        trace = replace(trace, resource={**trace.resource, **peak.to_resource()})
    record = record.model_copy(
        update={
            "status": "finished",
            "finished_at": datetime.now(UTC),
            "stack": StackRecord(**opened["environment"]),
            "server": ServerRecord(**opened["server"]) if opened["server"] else None,
            "load_s": opened["load_ns"] / 1e9,
            "latency": summarise_latency(latency.batch_size, latency.warm_up_ns, latency.raw_ns, latency.parts_ns),
            "samples": len(samples),
            "profile": _described(trace, level, runs, cold),
            "notes": (*taken["notes"], *said, *([best["problem"]] if "problem" in best else [])),
        }
    )
    save_trace(trace, store.folder(record.id))
    store.add(record)
    return record, trace


def _on_gpu(plan: Plan) -> bool:
    return str(plan.predictor.options.get("device") or "cpu") != "cpu"


def _look_on(
    worker: Worker, samples: Sequence[Sample], level: str, runs: int, taken: dict[str, Any], gpu: bool
) -> tuple[list[LeveledRun], list[str]]:
    """What is seen from outside the framework; a level that was had so is no longer missed."""
    more, said = watch(worker, samples, level, runs, seen={run["level"] for run in taken["runs"]}, gpu=gpu)
    if any(run.level == "library" for run in more):
        taken["notes"] = [note for note in taken["notes"] if not note.startswith("library: ")]
    return more, said


def _measure_peak(worker: Worker, plan: Plan) -> dict[str, Any]:
    """What the machine could do at its best, for how far each layer is from it; nothing where a server answers."""
    if plan.predictor.name == "remote":
        return {}
    options = plan.predictor.options
    return worker.peak(str(options.get("device") or "cpu"), int(options.get("threads") or 1))


def _first_calls(site: Site, plan: Plan, samples: Sequence[Sample], processes: int) -> dict[str, Any]:
    """The very first call of some fresh processes, one behind the other on one timeline."""
    joined: dict[str, Any] = {}
    for _ in range(processes):
        with Worker(site, plan) as worker:
            taken = worker.trace(samples, "cold", 1, 0)
        if not joined:
            joined = taken
            continue
        rows, new = joined["runs"][0]["spans"], taken["runs"][0]["spans"]
        end, places = rows[0][3], len(rows) - 1  # all but the first, which is the one around all
        rows += [
            [name, level, start + end, stop + end, parent and parent + places, more]
            for name, level, start, stop, parent, more in new[1:]
        ]
        rows[0][3] = max(row[3] for row in rows)
    return joined


def make_trace(record: Record, taken: Mapping[str, Any], began_ns: int, more: Sequence[LeveledRun] = ()) -> Trace:
    """What a worker took, and what was seen of it from outside, as one timeline."""
    spans, overheads = merge([*(_run_of(each) for each in taken["runs"]), *more])
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


def _described(trace: Trace, level: str, runs: int, cold: bool = False) -> ProfileRecord:
    sums = agreement(trace)
    return ProfileRecord(
        level=level,
        levels=tuple(each for each in LEVELS if trace.at(each)),
        runs=runs,
        cold=cold,
        spans=len(trace.spans),
        run_ns=run_ns(trace),
        layers_ns=sums.layers_ns if sums else None,
        overheads=tuple(LevelCost(**asdict(each)) for each in trace.overheads),
    )
