"""Kinds of work that an agent does: a function each, registered under the name that requests use.

What a function needs is imported when it runs: a process does one thing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from mlmodelscope.cluster.events import say
from mlmodelscope.errors import UsageError
from mlmodelscope.ledger.request import Work
from mlmodelscope.manifest.aspects import Aspects, find_aspects, find_in_text
from mlmodelscope.manifest.schema import DatasetManifest, ModelManifest
from mlmodelscope.manifest.version import both
from mlmodelscope.plan.framework import framework_word
from mlmodelscope.plan.options import Options
from mlmodelscope.preparation import Conditions
from mlmodelscope.settings import Settings
from mlmodelscope.watcher import Watcher


@dataclass(frozen=True)
class Assignment:
    """Some work with its manifests found, ready to be done here."""

    work: Work
    aspects: Aspects
    options: Options
    settings: Settings
    watcher: Watcher

    @property
    def subject(self) -> tuple[ModelManifest, DatasetManifest, Options]:
        """What evaluate, bench, profile, train and replicate begin with."""
        return self.aspects.model, self.aspects.dataset, self.options

    @property
    def conditions(self) -> Conditions:
        return Conditions(
            software=self.aspects.software_word or self.aspects.software,
            hardware=self.aspects.hardware,
            trust=self.work.trust,
            settings=self.settings,
            watcher=self.watcher,
        )


Doing = Callable[[Assignment], dict[str, str]]
"""Does the work and names its outcome: the record, or the file with the answers of a part."""
DOING: dict[str, Doing] = {}


def work(kind: str) -> Callable[[Doing], Doing]:
    def register(function: Doing) -> Doing:
        DOING[kind] = function
        return function

    return register


def do(asked: Work, settings: Settings, watcher: Watcher, speaks_for: str | None = None) -> dict[str, str]:
    """Do some work; `speaks_for` is the server that models are asked at which name none."""
    if asked.kind not in DOING:
        raise UsageError(f"this agent does not know the work `{asked.kind}`", hint="upgrade mlmodelscope there")
    aspects = find_aspects(
        asked.model, asked.dataset, asked.software, asked.hardware, find=find_in_text, split=asked.split
    )
    aspects = replace(aspects, model=with_framework(aspects.model, asked.framework))
    options = at_device(Options(**asked.options), aspects.model, speaks_for)
    return DOING[asked.kind](Assignment(asked, aspects, options, settings, watcher))


def with_framework(model: ModelManifest, version: str | None) -> ModelManifest:
    """The model for those releases of its framework only that a request wants."""
    if version is None or model.framework is None:
        return model
    joined = both(model.framework.version, version)
    return model.model_copy(update={"framework": model.framework.model_copy(update={"version": joined})})


def at_device(options: Options, model: ModelManifest, own: str | None) -> Options:
    """A model that names no server is asked at the one that this agent speaks for."""
    is_remote = model.framework is not None and framework_word(model.framework) == "remote"
    named = options.predictor_options.get("url") or (model.remote.url if model.remote else None)
    if not own or not is_remote or named:
        return options
    return replace(options, predictor_options={**options.predictor_options, "url": own})


@work("evaluate")
def _evaluate(given: Assignment) -> dict[str, str]:
    from mlmodelscope.evaluation import evaluate

    return {"record": evaluate(*given.subject, again=given.work.again, **given.conditions).id}


@work("bench")
def _bench(given: Assignment) -> dict[str, str]:
    from mlmodelscope.benching import Request, bench

    asked = dict(given.work.arguments)
    outside: dict[str, Any] = {key: asked.pop(key) for key in ("streams", "end_to_end") if key in asked}
    return {"record": bench(*given.subject, Request(**asked), **outside, **given.conditions).id}


@work("profile")
def _profile(given: Assignment) -> dict[str, str]:
    from mlmodelscope.profiling import profile

    record, _ = profile(*given.subject, **given.work.arguments, **given.conditions)
    return {"record": record.id}


@work("train")
def _train(given: Assignment) -> dict[str, str]:
    from mlmodelscope.training import train

    return {"record": train(*given.subject, again=given.work.again, **given.work.arguments, **given.conditions).id}


@work("replicate")
def _replicate(given: Assignment) -> dict[str, str]:
    """The verdict goes out as an event; what was found is kept with the record of the manifest as it is."""
    from mlmodelscope.plan.claim import parse_claim
    from mlmodelscope.record.store import Store
    from mlmodelscope.replicate.outcome import finding_of, keep
    from mlmodelscope.replicate.replication import replicate

    asked = dict(given.work.arguments)
    claim = asked.pop("claim", None)
    chosen = parse_claim(claim) if claim else None
    done = replicate(*given.subject, claim=chosen, again=given.work.again, **asked, **given.conditions)
    store = Store(given.settings)
    try:
        key = keep(done, store)
    finally:
        store.close()
    told = finding_of(done).model_dump(mode="json", exclude={"candidates", "causes", "shown"})
    say("verdict", **told, finding=key)
    return {"record": done.record.id}


@work("sensitivity")
def _sensitivity(given: Assignment) -> dict[str, str]:
    """What each pitfall would cost goes out as an event; the record is that of the manifest as it is."""
    from mlmodelscope.evaluation import evaluate
    from mlmodelscope.replicate.pitfall import check_names
    from mlmodelscope.replicate.sensed import sensed_of
    from mlmodelscope.replicate.sensitivity import measure

    chosen = given.work.arguments.get("pitfalls") or None
    check_names(chosen or ())
    record = evaluate(*given.subject, again=given.work.again, made_for="sensitivity", **given.conditions)
    exact, budget = bool(given.work.arguments.get("exact")), given.work.arguments.get("budget")
    measured = measure(record, given.settings, chosen, watcher=given.watcher, exact=exact, budget=budget)
    say("sensed", **sensed_of(record, measured).model_dump(mode="json"))
    return {"record": record.id}


@work("shard")
def _shard(given: Assignment) -> dict[str, str]:
    from mlmodelscope.sharding import evaluate_shard

    part = given.work.shard
    assert part is not None
    return {"shard": str(evaluate_shard(*given.subject, part.number, part.of, **given.conditions))}
