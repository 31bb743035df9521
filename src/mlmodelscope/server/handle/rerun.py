"""The request that runs a record again, and the command that does the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from mlmodelscope.ledger.request import Request, Where
from mlmodelscope.ledger.tokens import Person
from mlmodelscope.plan.options import Options
from mlmodelscope.plugins.predictors import PREDICTORS
from mlmodelscope.record.bench import FIRST
from mlmodelscope.record.record import Record
from mlmodelscope.report.reproduction import command
from mlmodelscope.server.desk import Desk, demand
from mlmodelscope.server.handle.reuse import chosen


def request(desk: Desk, person: Person, name: str) -> Mapping[str, Any]:
    """What asks for the same plan once more, and the command that does."""
    demand(person, "read")
    record = desk.store.get(name)
    return {"request": request_of(record), "command": command(record.plan)}


def request_of(record: Record) -> Request:
    """What has its default is left out, so that a person can read it."""
    plan = record.plan
    kind = "bench" if record.bench else "profile" if record.profile else "evaluate"
    hardware = plan.manifests.get("hardware")
    return Request(
        kind="train" if kind == "evaluate" and plan.job_type == "training" else kind,  # type: ignore[arg-type]
        model=plan.model.reference,
        dataset=plan.dataset.reference if plan.dataset.sources else None,
        hardware=f"{hardware.name}@{hardware.version}" if hardware is not None else None,
        options=_options(record),
        arguments=_arguments(record),
        where=Where(stack=plan.stack.name.partition("@")[0]),
        trust=bool(plan.functions or plan.setup),
        again=record.status == "finished",  # one that was interrupted resumes where it left off
    )


def _options(record: Record) -> dict[str, Any]:
    plan = record.plan
    usual = asdict(Options())
    found = {key: value for key, value in chosen(plan).items() if value != usual[key]}
    known = PREDICTORS.get(plan.predictor.name or "")
    defaults = known.defaults if known else {}
    own = {
        key: value
        for key, value in found.pop("predictor_options", {}).items()
        if key != "threads" and value is not None and value != defaults.get(key)
    }
    if plan.job_type != "training":
        found.pop("hyperparameters", None)
    return {**found, "predictor_options": own} if own else found


def _arguments(record: Record) -> dict[str, Any]:
    if record.profile is not None:
        return {"level": record.profile.level, "runs": record.profile.runs, "cold": record.profile.cold}
    bench = record.bench
    if bench is None:
        return {}
    found: dict[str, Any] = {"scenario": bench.scenario, "budget_s": bench.budget_s, "end_to_end": bench.end_to_end}
    if bench.scenario == "server" and bench.measured is not None and bench.measured.rate_qps is not None:
        found["rate_qps"] = bench.measured.rate_qps
    if bench.rate is not None:
        found |= {"bound_s": bench.rate.bound_s, "percentile": bench.rate.percentile}
    for bound in bench.bounds:
        if bound.rule is not None:
            found["mlperf"] = bound.rule
        else:
            found |= {"first_s" if bound.what == FIRST else "each_s": bound.bound_s, "percentile": bound.percentile}
    if bench.cold:
        found["cold_starts"] = len(bench.cold)
    return found
