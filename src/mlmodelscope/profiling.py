"""manifest → plan → provision → worker → trace → record: where the time goes, level by level."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Unpack

from mlmodelscope.analysis.peak import Peak
from mlmodelscope.dataset.files import source_files
from mlmodelscope.dataset.open import open_dataset
from mlmodelscope.dataset.sample import Sample
from mlmodelscope.errors import UsageError
from mlmodelscope.plan.options import Options
from mlmodelscope.plan.plan import Plan
from mlmodelscope.plan.predictor import ELSEWHERE
from mlmodelscope.preparation import Asked, Conditions, DatasetSource, ModelSource, ask
from mlmodelscope.provision.progress import Transfer
from mlmodelscope.provision.site import Site, provision
from mlmodelscope.record.measured import with_latency, with_worker
from mlmodelscope.record.record import LevelCost, ProfileRecord, Record
from mlmodelscope.record.store import Store
from mlmodelscope.running import new_record, opened_store, with_container, with_setup
from mlmodelscope.trace.caller import CALLED_BY, parse_traceparent
from mlmodelscope.trace.counting import count_kernels, same_kernels
from mlmodelscope.trace.disk import opening_run, with_transfers
from mlmodelscope.trace.layers import agreement, run_ns
from mlmodelscope.trace.merge import LeveledRun, Taken, merge, number
from mlmodelscope.trace.span import LEVELS, Trace, trace_id_of
from mlmodelscope.trace.store import save_trace
from mlmodelscope.trace.watch import watch
from mlmodelscope.worker.client import Worker
from mlmodelscope_worker.messages import Traced

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
    traceparent: str | None = None,
    **conditions: Unpack[Conditions],
) -> tuple[Record, Trace]:
    """Trace some batches of a model down to a level, and keep the record with its trace.

    `traceparent` is the caller's trace by W3C's Trace Context: exported as OTLP, the spans are part of that one.
    Every profile is a new record: it is about this moment of this machine. A cold one is of the very first call of as
    many fresh processes.
    """
    if level not in PROFILED:
        raise UsageError(f"there is no level `{level}` to profile\nknown: {', '.join(PROFILED)}")
    if cold and level != "framework":
        raise UsageError("a first call shows its layers and nothing below: --cold goes with the level framework only")
    asked = ask(model, dataset, options, **conditions)
    if asked.model.job_type == "training":
        return _profile_training(asked, level, runs, cold, traceparent)
    options = asked.options
    if options.limit is None:  # a profile looks at a few batches: only their samples need to be fetched
        options = replace(options, limit=runs * options.batch_size)
    plan = asked.plan(options)
    with opened_store(asked) as store:
        record, trace = _profile(plan, level, runs, cold, store, asked)
        return record, _joined(trace, store.folder(record.id), traceparent)


def _joined(trace: Trace, folder: Path, traceparent: str | None) -> Trace:
    """The trace with its caller, kept so; what is no `traceparent` is left out, as its recommendation demands."""
    caller = parse_traceparent(traceparent)
    if caller is None:
        return trace
    trace = replace(trace, resource={**trace.resource, CALLED_BY: caller.traceparent})
    save_trace(trace, folder)
    return trace


def _profile(plan: Plan, level: str, runs: int, cold: bool, store: Store, asked: Asked) -> tuple[Record, Trace]:
    artifacts, watcher = asked.artifacts, asked.watcher
    identity = sha256(f"profile {level} {runs} {'cold ' if cold else ''}{plan.digest}".encode()).hexdigest()
    record = with_setup(with_container(new_record(plan, identity), asked.aspects))
    if plan.dataset.is_known_by_functions:
        raise UsageError("the manifest's own code reads the dataset: its samples cannot be profiled")
    dataset = open_dataset(plan.dataset, artifacts)
    samples = dataset.samples[: runs * plan.scenario.batch_size]
    cold_calls = _first_calls(provision(plan, artifacts), plan, samples, runs) if cold else None
    counts = level == "hardware" and _on_gpu(plan) and not cold
    with TemporaryDirectory() as folder:
        shared = same_kernels(plan, folder) if counts else {}
        with Worker(provision(plan, artifacts), plan, environment=shared) as worker:
            opening = opening_run(worker.pid) if level == "hardware" and not _is_boxed(plan) else None
            latency = worker.measure_latency(samples, plan)
            watcher.measured(latency)
            began_ns = time.time_ns()
            taken = cold_calls or worker.trace(samples, level, runs, plan.scenario.warm_up_runs)
            more, said = ([], []) if cold else _look_on(worker, samples, level, runs, taken, _on_gpu(plan))
            more += [opening] if opening is not None else []
            best = _measure_peak(worker, plan) if LEVELS.index(level) >= LEVELS.index("framework") else {}
            opened = worker.opened
        if counts:
            said += count_kernels(provision(plan, artifacts), plan, samples, taken.runs, shared)
    transfers = artifacts.transfers.found if level == "hardware" else ()
    trace = make_trace(record, taken, began_ns, more, transfers)
    peak = Peak.from_worker(best) if best else None
    if peak is not None:
        trace = replace(trace, resource={**trace.resource, **peak.to_resource()})
    record = with_latency(with_worker(record, opened), latency).model_copy(
        update={
            "status": "finished",
            "finished_at": datetime.now(UTC),
            "samples": len(samples),
            "profile": _described(trace, level, runs, cold),
            "notes": (*record.notes, *taken.notes, *said, *([best["problem"]] if "problem" in best else [])),
        }
    )
    save_trace(trace, store.folder(record.id))
    store.add(record)
    return record, trace


def _profile_training(asked: Asked, level: str, runs: int, cold: bool, traceparent: str | None) -> tuple[Record, Trace]:
    """Steps of a training, on the timeline that calls of a model have; its layers are the framework's own business."""
    if asked.model.training is None:
        raise UsageError(
            f"{asked.model.name} is a training in one function, whose steps nobody can see",
            hint="a manifest with `training:` can be profiled: docs/training.md",
        )
    if cold:
        raise UsageError("--cold is for the first call of a model, and this is a training")
    plan = asked.plan()
    identity = sha256(f"profile {level} {runs} {plan.digest}".encode()).hexdigest()
    with opened_store(asked) as store, TemporaryDirectory() as folder:
        record = with_setup(with_container(new_record(plan, identity), asked.aspects))
        site = replace(provision(plan, asked.artifacts), folder=folder)
        with Worker(site, plan) as worker:
            began_ns = time.time_ns()
            data = source_files(plan.dataset, asked.artifacts)
            taken = worker.trace_steps(data, runs, plan.scenario.warm_up_runs)
            opened = worker.opened
        if level == "application":
            taken.runs[:] = [each for each in taken.runs if each["level"] == level]
        trace = make_trace(record, taken, began_ns)
        below = LEVELS.index(level) > LEVELS.index("model")
        notes = [f"{level}: the layers of a training step are not traced"] if below else []
        record = with_worker(record, opened).model_copy(
            update={
                "status": "finished",
                "finished_at": datetime.now(UTC),
                "profile": _described(trace, level, runs),
                "notes": (*record.notes, *taken.notes, *notes),
            }
        )
        save_trace(trace, store.folder(record.id))
        store.add(record)
        return record, _joined(trace, store.folder(record.id), traceparent)


def _on_gpu(plan: Plan) -> bool:
    return str(plan.predictor.options.get("device") or "cpu") != "cpu"


def _is_boxed(plan: Plan) -> bool:
    """Whether the process that was started is a container engine's client, which reads nothing for the model."""
    return plan.stack.recipe is not None and plan.stack.recipe.image is not None


def _look_on(
    worker: Worker, samples: Sequence[Sample], level: str, runs: int, taken: Traced, gpu: bool
) -> tuple[list[LeveledRun], list[str]]:
    """What is seen from outside the framework; a level that was had so is no longer missed."""
    more, said = watch(worker, samples, level, runs, seen={run["level"] for run in taken.runs}, gpu=gpu)
    if any(run.level == "library" for run in more):
        taken.notes[:] = [note for note in taken.notes if not note.startswith("library: ")]
    return more, said


def _measure_peak(worker: Worker, plan: Plan) -> dict[str, Any]:
    """What the machine could do at its best, for how far each layer is from it; nothing where a server answers."""
    if plan.predictor.name in ELSEWHERE:
        return {}
    options = plan.predictor.options
    peak = worker.peak(str(options.get("device") or "cpu"), int(options.get("threads") or 1))
    return {**peak.found, "device": peak.device, "threads": peak.threads}


def _first_calls(site: Site, plan: Plan, samples: Sequence[Sample], processes: int) -> Traced:
    """The very first call of some fresh processes, one behind the other on one timeline."""
    joined: Traced | None = None
    for _ in range(processes):
        with Worker(site, plan) as worker:
            taken = worker.trace(samples, "cold", 1, 0)
        if joined is None:
            joined = taken
            continue
        rows, new = joined.runs[0]["spans"], taken.runs[0]["spans"]
        end, places = rows[0][3], len(rows) - 1  # all but the first, which is the one around all
        rows += [
            [name, level, start + end, stop + end, parent and parent + places, more]
            for name, level, start, stop, parent, more in new[1:]
        ]
        rows[0][3] = max(row[3] for row in rows)
    assert joined is not None
    return joined


def make_trace(
    record: Record,
    taken: Traced,
    began_ns: int,
    more: Sequence[LeveledRun] = (),
    transfers: Sequence[Transfer] = (),
) -> Trace:
    """What a worker took, and what was seen of it from outside, as one timeline; `transfers` come before the rest."""
    spans, overheads = merge([*(_run_of(each) for each in taken.runs), *more])
    spans = with_transfers(spans, transfers)
    plan = record.plan
    if spans:
        about = {"record": record.id, "batch_size": taken.batch_size}
        spans[0] = replace(spans[0], name=f"{plan.model.name} {plan.model.version}", attributes=about)
    identity = trace_id_of(record.id, plan.seed)
    resource = {
        "record": record.id,
        "model.name": plan.model.name,
        "model.version": plan.model.version,
        "dataset.name": plan.dataset.name,
        "predictor": plan.predictor.name or "functions",
        "stack": " ".join(sorted(f"{name} {version}" for name, version in plan.stack.packages.items())),
        "batch_size": str(taken.batch_size),
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
