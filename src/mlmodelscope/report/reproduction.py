"""What it takes to reproduce the numbers: the command, the files, the software, the machine."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from mlmodelscope.plan.options import Options
from mlmodelscope.plan.plan import Plan, PlannedFile
from mlmodelscope.plugins.predictors import PREDICTORS
from mlmodelscope.record.builds import build_rows
from mlmodelscope.record.record import Record
from mlmodelscope.report import words


@dataclass(frozen=True)
class NamedFile:
    role: str
    sha256: str
    url: str


def command(plan: Plan) -> str:
    """The evaluation as one would type it; what has its default is left out."""
    default = Options()
    training = plan.job_type == "training"
    parts = ["mlmodelscope", "train" if training else "evaluate", plan.model.reference]
    parts.append(plan.dataset.reference)
    for aspect in ("software", "hardware"):
        if aspect in plan.manifests:
            parts += [f"--{aspect}", f"{plan.manifests[aspect].name}@{plan.manifests[aspect].version}"]
    for flag, value, usual in (
        ("--batch-size", plan.scenario.batch_size, default.batch_size),
        ("--threads", plan.predictor.options.get("threads", default.threads), default.threads),
        ("--limit", plan.dataset.subset.count, default.limit),
        ("--seed", plan.seed, default.seed),
        ("--top-k", plan.answer.top_k, default.top_k),
    ):
        if value != usual:
            parts += [flag, str(value)]
    if plan.dataset.subset.stratified:
        parts.append("--stratified")
    for name, value in _predictor_options(plan).items():
        parts += ["--option", f"{name}={words.value(value)}"]
    for name, value in plan.hyperparameters.items() if training else ():
        parts += ["--set", f"{name}={words.value(value)}"]
    parts += _loop_options(plan)
    if plan.stack.relaxed is not None:
        parts.append("--relax-framework")
    if plan.functions or plan.setup:
        parts.append("--trust")
    return shlex.join([*parts, "--again"])


def _loop_options(plan: Plan) -> list[str]:
    """How long a training runs; the rest is its manifest's."""
    loop = plan.training
    if loop is None:
        return []
    parts = ["--steps", str(loop.steps)] if loop.steps is not None else ["--epochs", str(loop.epochs)]
    parts += [part for name, value in loop.target.items() for part in ("--target", f"{name}={value:g}")]
    return [*parts, "--batch-size", str(loop.batch_size)]


def _predictor_options(plan: Plan) -> dict[str, Any]:
    declaration = PREDICTORS.get(plan.predictor.name or "")
    usual = declaration.defaults if declaration else {}
    where = {name: "URL" if name == "url" else value for name, value in plan.predictor.where.items()}  # for all to see
    return {
        name: value
        for name, value in {**plan.predictor.options, **where}.items()
        if name != "threads" and value is not None and value != usual.get(name)
    }


def unusual_timing(plan: Plan) -> str | None:
    """How latency was measured, where that can only be said in Python."""
    default = Options()
    given = {name: getattr(plan.scenario, name) for name in ("warm_up_runs", "timed_runs", "timed_budget_s")}
    changed = [f"{name}={value}" for name, value in given.items() if value != getattr(default, name)]
    return f"Options({', '.join(changed)})" if changed else None


def files(plan: Plan) -> list[NamedFile]:
    """Every file that the evaluation read, by digest."""
    return [NamedFile(role, file.sha256, file.url) for role, file in _files(plan) if file is not None]


def _files(plan: Plan) -> Iterator[tuple[str, PlannedFile | None]]:
    yield "model graph" if plan.model.weights else "model", plan.model.graph
    yield "model weights", plan.model.weights
    yield "firmware", plan.model.firmware
    yield "names of the model's classes", plan.answer.names
    several = len(plan.dataset.sources) > 1
    for source in plan.dataset.sources:
        of = f" of {source.name}" if several else ""
        yield f"samples{of}", source.files
        yield f"labels{of}", source.labels
    yield "classes of the dataset", plan.dataset.classes


def software(record: Record) -> list[tuple[str, str]]:
    """Python and the packages that the result depends on."""
    stack = record.plan.stack
    python = f"{record.stack.implementation} {record.stack.python}" if record.stack else stack.python
    return [
        ("Python", python),
        *stack.packages.items(),
        *{each.package: each.version for each in record.plan.plugins}.items(),
        *((f"${name}", value) for name, value in stack.environment.items()),
        *build_rows(record),
        ("mlmodelscope", record.worker_version),
    ]


def machine(record: Record) -> list[tuple[str, str]]:
    """The hardware and how it was set, without the host's name: reports are published."""
    of = record.machine
    rows = [
        ("processor", of.cpu),
        ("architecture", of.architecture),
        ("cores", str(of.cores)),
        ("memory", words.size(of.memory_bytes) if of.memory_bytes else None),
        ("caches", ", ".join(f"{name} {size}" for name, size in of.caches.items())),
        ("frequency governor", of.governor),
        ("turbo", _yes_or_no(of.turbo)),
        ("threads share cores", _yes_or_no(of.smt)),
        ("GPU", "; ".join(of.gpus)),
        ("system", of.system),
        ("container", of.container),
        ("server that answered", server_words(record)),
    ]
    return [(name, text) for name, text in rows if text]


def server_words(record: Record) -> str | None:
    """The server that answered, in its own words, without its address: reports are published."""
    server = record.server
    if server is None:
        return None
    model = f"model {server.model}" + (f" {'/'.join(server.model_versions)}" if server.model_versions else "")
    product = " ".join(word for word in (server.name, server.version) if word) or "of unknown make"
    return ", ".join([product, model] + ([f"run by {server.platform}"] if server.platform else []))


def _yes_or_no(flag: bool | None) -> str | None:
    return None if flag is None else "yes" if flag else "no"
