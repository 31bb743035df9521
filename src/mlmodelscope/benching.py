"""manifest → plan → site → worker → bench → record: how fast, at which load, and whether that can be believed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Unpack

from mlmodelscope.bench.lab import Lab
from mlmodelscope.bench.outcome import Outcome
from mlmodelscope.bench.run import Run, join
from mlmodelscope.bench.scenario import MLPERF, SCENARIOS, Request, by_loadgen
from mlmodelscope.bench.stable import judge
from mlmodelscope.bench.summary import mean_interval, summarise
from mlmodelscope.bench.tokens import judge_limits, paces, written_per_s
from mlmodelscope.dataset.open import open_dataset
from mlmodelscope.errors import UsageError
from mlmodelscope.manifest.schema import DatasetManifest
from mlmodelscope.manifest.schema.task import LANGUAGE_MODEL
from mlmodelscope.plan.options import Options
from mlmodelscope.plan.plan import Plan
from mlmodelscope.preparation import Asked, Conditions, DatasetSource, ModelSource, ask
from mlmodelscope.provision.site import provision
from mlmodelscope.record.bench import RANDOM, BenchRecord
from mlmodelscope.record.latencies import RawRun, save_latencies
from mlmodelscope.record.measured import with_worker
from mlmodelscope.record.record import Record
from mlmodelscope.record.store import Store
from mlmodelscope.running import machine_set_for, new_record, opened_store, with_container, with_settings, with_setup
from mlmodelscope.watcher import Watcher

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
    **conditions: Unpack[Conditions],
) -> Record:
    """Run a model under load, and keep the record with its raw latencies.

    Every bench is a new record: it is about this moment of this machine. `random` puts random tensors in the place of
    samples, of the model's own shapes or of those given for its inputs, by name.
    """
    request = request or Request()
    _check(request)
    if random is not None and (dataset is not None or end_to_end):
        other = "--end-to-end" if end_to_end else "a dataset"
        raise UsageError(f"random tensors stand in for prepared samples: --random goes without {other}")
    asked = ask(model, no_samples() if random is not None else dataset, options, **conditions)
    if random is not None:
        asked = replace(asked, aspects=replace(asked.aspects, dataset=no_samples(asked.model.task)))
    plan = asked.plan(_options(asked, request))
    if plan.dataset.is_known_by_functions:
        raise UsageError("the manifest's own code reads the dataset: its samples cannot be made into queries")
    identity = sha256(f"bench {request} {plan.digest}".encode()).hexdigest()
    with opened_store(asked) as store:
        record = new_record(plan, identity)  # the machine as it is before it is set
        with machine_set_for(plan, asked.settings.home, asked.watcher) as done:
            record = with_setup(with_container(with_settings(record, done), asked.aspects))
            lab = _open_lab(plan, asked, random, end_to_end=end_to_end, streams=streams)
            return _bench(record, request, lab, store, asked.watcher)


def _options(asked: Asked, request: Request) -> Options:
    """Queries take turns with a few samples: only those need to be fetched."""
    options = asked.options
    if asked.model.job_type == "training":
        raise UsageError(
            f"{asked.model.name} describes a training, which no queries can be put to",
            hint="`mlmodelscope train` reports its throughput, and `mlmodelscope profile` what its steps are made of",
        )
    if request.loadgen and options.batch_size > 1 and request.scenario in ("single-stream", "server"):
        raise UsageError(f"LoadGen puts one sample into a query of {request.scenario}, not {options.batch_size}")
    if options.limit is not None:
        return options
    return replace(options, limit=max(_SAMPLES, min(options.batch_size, 4 * _SAMPLES)))


def no_samples(task: str = "classification") -> DatasetManifest:
    """What stands in a plan where a dataset would: there are no files to check, so that nothing is validated."""
    made: dict[str, Any] = {"name": RANDOM, "version": "1.0.0", "sources": ()}
    if task == LANGUAGE_MODEL:  # which is asked to write something; what it is asked are random tokens
        prompt = {"question": "nothing", "answer": "nothing"}
        return DatasetManifest.model_construct(**made, task="text_generation", format="documents", prompt=prompt)
    return DatasetManifest.model_construct(**made, task=task, format="files")


def _check(request: Request) -> None:
    if request.scenario not in SCENARIOS:
        raise UsageError(f"there is no scenario `{request.scenario}`\nknown: {', '.join(SCENARIOS)}")
    if request.loadgen and request.scenario not in MLPERF:
        raise UsageError(f"LoadGen knows no scenario `{request.scenario}`\nit knows: {', '.join(MLPERF)}")
    if request.scenario == "max-rate" and request.bound_s is None and not request.limits:
        hint = "add --bound MILLISECONDS, or for a language model --ttft, --tpot or --mlperf"
        raise UsageError("the highest rate depends on what is fast enough", hint=hint)


def _open_lab(
    plan: Plan, asked: Asked, random: Mapping[str, Sequence[int]] | None, *, end_to_end: bool, streams: int | None
) -> Lab:
    if random is None:
        samples = open_dataset(plan.dataset, asked.artifacts).samples
        return Lab(plan, provision(plan, asked.artifacts), samples, plan.seed, end_to_end, streams)
    shapes = {name: tuple(shape) for name, shape in random.items()}
    tensors = {"seed": plan.seed, "shapes": shapes}
    lab = Lab(plan, provision(plan, asked.artifacts), [], plan.seed, end_to_end, streams, tensors)
    lab.notes.append("the model was given random tensors")
    return lab


def _bench(record: Record, request: Request, lab: Lab, store: Store, watcher: Watcher) -> Record:
    run = by_loadgen if request.loadgen else SCENARIOS[request.scenario]
    outcome = run(lab, request, watcher.benching)
    assert lab.opened is not None
    record = with_worker(record, lab.opened).model_copy(
        update={
            "status": "finished",
            "finished_at": datetime.now(UTC),
            "samples": len(lab.samples),
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
    # is how long the calls themselves took, for each token where they write some.
    judged = _answered(outcome.counted)
    whole = join(judged) if judged else None
    speeds = [speed for run in outcome.stretches if (speed := written_per_s(run)) is not None]
    stability = judge(
        [paces(run) for run in judged],
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
        measured=summarise(whole) if whole else None,
        throughput=outcome.throughput,
        tokens_per_s=mean_interval(speeds),
        bounds=judge_limits(whole, request.limits) if whole else (),
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
