"""manifest → plan → provision → worker → bench → record: how fast, at which load, and whether that can be believed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256

from mlmodelscope.bench.lab import Lab
from mlmodelscope.bench.outcome import Outcome
from mlmodelscope.bench.scenario import MLPERF, SCENARIOS, Request, by_loadgen
from mlmodelscope.bench.stable import judge
from mlmodelscope.bench.summary import Run, join, summarise
from mlmodelscope.dataset.open import open_dataset
from mlmodelscope.errors import UsageError
from mlmodelscope.evaluation import (
    Watcher,
    machine_set_for,
    provision_site,
    set_machine_back,
    storage_errors,
    with_settings,
)
from mlmodelscope.manifest.schema import DatasetManifest
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
from mlmodelscope.record.bench import RANDOM, BenchRecord
from mlmodelscope.record.latencies import RawRun, save_latencies
from mlmodelscope.record.record import Record, new_record_id
from mlmodelscope.record.store import Store
from mlmodelscope.settings import Settings
from mlmodelscope_worker import __version__

__all__ = ["MLPERF", "SCENARIOS", "Request", "bench"]

_SAMPLES = 64


def bench(
    model: ModelSource,
    dataset: DatasetSource | None = None,
    options: Options | None = None,
    request: Request | None = None,
    *,
    streams: int | None = None,
    end_to_end: bool = False,
    random: Mapping[str, Sequence[int]] | None = None,
    software: SoftwareSource | None = None,
    hardware: HardwareSource | None = None,
    trust: bool = False,
    settings: Settings | None = None,
    watcher: Watcher | None = None,
) -> Record:
    """Run a model under load, and keep the record with its raw latencies.

    Every bench is a new record: it is about this moment of this machine. `random` puts random tensors in the place of
    samples, of the model's own shapes or of those given for its inputs, by name.
    """
    request = request or Request()
    _check(request)
    settings = settings or Settings.from_environment()
    watcher = watcher or Watcher()
    artifacts = ArtifactStore(settings, watcher.downloading)
    if random is not None and (dataset is not None or end_to_end):
        other = "--end-to-end" if end_to_end else "a dataset"
        raise UsageError(f"random tensors stand in for prepared samples: --random goes without {other}")
    aspects = find_aspects(model, _no_samples() if random is not None else dataset, software, hardware)
    if random is not None:
        aspects = replace(aspects, dataset=_no_samples(aspects.model.task))
    if aspects.model.job_type == "training":
        raise UsageError(f"{aspects.model.name} describes a training, which no queries can be put to")
    options = options or Options()
    if request.loadgen and options.batch_size > 1 and request.scenario in ("single-stream", "server"):
        raise UsageError(f"LoadGen puts one sample into a query of {request.scenario}, not {options.batch_size}")
    if options.limit is None:  # queries take turns with a few samples: only those need be there
        options = replace(options, limit=max(_SAMPLES, min(options.batch_size, 4 * _SAMPLES)))
    plan = plan_aspects(aspects, options, artifacts, settings, trust=trust, progress=watcher.building)
    if plan.dataset.is_known_by_functions:
        raise UsageError("the manifest's own code reads the dataset: its samples cannot be made into queries")
    with storage_errors(settings.home):
        set_machine_back(settings.home, watcher)
        store = Store(settings)
        try:
            record = _new_record(plan, request)  # the machine as it is before it is set
            with machine_set_for(plan, settings.home, watcher) as done:
                record = with_settings(record, done)
                return _bench(record, request, streams, end_to_end, random, store, artifacts, watcher)
        finally:
            store.close()


def _no_samples(task: str = "classification") -> DatasetManifest:
    """What stands in a plan where a dataset would: there are no files to check, so that nothing is validated."""
    return DatasetManifest.model_construct(name=RANDOM, version="1.0.0", task=task, format="files", sources=())


def _check(request: Request) -> None:
    if request.scenario not in SCENARIOS:
        raise UsageError(f"there is no scenario `{request.scenario}`\nknown: {', '.join(SCENARIOS)}")
    if request.loadgen and request.scenario not in MLPERF:
        raise UsageError(f"LoadGen knows no scenario `{request.scenario}`\nit knows: {', '.join(MLPERF)}")
    if request.scenario == "max-rate" and request.bound_s is None:
        raise UsageError("the highest rate depends on what is fast enough", hint="add --bound MILLISECONDS")


def _new_record(plan: Plan, request: Request) -> Record:
    return Record(
        id=new_record_id(),
        status="running",
        created_at=datetime.now(UTC),
        plan_digest=sha256(f"bench {request} {plan.digest}".encode()).hexdigest(),
        plan=plan,
        machine=describe_machine().model_copy(update={"server": plan.predictor.where.get("url")}),
        worker_version=__version__,
        worker_digest=worker_digest(),
    )


def _bench(
    record: Record,
    request: Request,
    streams: int | None,
    end_to_end: bool,
    random: Mapping[str, Sequence[int]] | None,
    store: Store,
    artifacts: ArtifactStore,
    watcher: Watcher,
) -> Record:
    plan = record.plan
    if plan.setup is not None:
        record = record.model_copy(update={"setup_output": run_setup(plan.setup)})
    samples = open_dataset(plan.dataset, artifacts).samples if random is None else []
    given = {name: tuple(shape) for name, shape in random.items()} if random is not None else None
    tensors = {"seed": plan.seed, "shapes": given} if given is not None else None
    lab = Lab(plan, provision_site(plan, artifacts), samples, plan.seed, end_to_end, streams, tensors)
    if given is not None:
        lab.notes.append("the model was given random tensors")
    run = by_loadgen if request.loadgen else SCENARIOS[request.scenario]
    outcome = run(lab, request, watcher.benching)
    assert lab.opened is not None
    record = record.model_copy(
        update={
            "status": "finished",
            "finished_at": datetime.now(UTC),
            "stack": lab.stack(),
            "server": lab.server(),
            "load_s": lab.opened["load_ns"] / 1e9,
            "samples": len(samples),
            "bench": _described(outcome, lab, request),
            "notes": (*record.notes, *lab.notes, *outcome.notes),
        }
    )
    save_latencies(
        [
            RawRun(run.loaded.due_ns, run.loaded.started_ns, run.loaded.ended_ns, run.loaded.depths)
            for run in _answered(outcome.runs)
        ],
        store.folder(record.id),
    )
    store.add(record)
    return record


def _answered(runs: Sequence[Run]) -> list[Run]:
    """Runs that have numbers; an overload may leave not a single answer."""
    return [run for run in runs if len(run.loaded.ended_ns)]


def _described(outcome: Outcome, lab: Lab, request: Request) -> BenchRecord:
    # A server's latency is spread by the load itself, and a cold process is not the next one's like: what is judged
    # is how long the calls themselves took.
    judged = _answered(outcome.counted)
    calls = [
        [end - start for end, start in zip(run.loaded.ended_ns, run.loaded.started_ns, strict=True)] for run in judged
    ]
    stability = judge(
        calls,
        [run.process for run in judged],
        lab.noise,
        steady=outcome.steady is not False,
        extra=outcome.doubts,
    )
    return BenchRecord(
        scenario=request.scenario,
        end_to_end=lab.end_to_end,
        random=lab.random["shapes"] if lab.random is not None else None,
        budget_s=request.budget_s,
        seed=lab.seed,
        measured=summarise(join(judged)) if judged else None,
        throughput=outcome.throughput,
        runs=tuple(summarise(run) for run in _answered(outcome.runs)),
        first_s=outcome.first_s,
        warm_up_queries=outcome.warm_up_queries,
        steady=outcome.steady,
        tight=outcome.tight,
        ended=outcome.ended,
        sweep=outcome.sweep,
        rate=outcome.rate,
        cold=outcome.cold,
        loadgen=outcome.loadgen,
        stability=stability,
    )
