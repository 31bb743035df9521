"""claim → evaluation → verdict → cause: does the number hold, and if not, why?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Unpack

from mlmodelscope.dataset.open import open_dataset
from mlmodelscope.errors import PlanError, UsageError
from mlmodelscope.evaluation import evaluate
from mlmodelscope.plan.options import Options
from mlmodelscope.plan.plan import Plan
from mlmodelscope.preparation import Conditions, DatasetSource, ModelSource, ask
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.provision.site import provision
from mlmodelscope.record.record import Record
from mlmodelscope.replicate.candidate import Candidate, Goal
from mlmodelscope.replicate.claim import Claim, claim_of, is_measurable
from mlmodelscope.replicate.evidence import Evidence, collect
from mlmodelscope.replicate.kept import KeptAnswers
from mlmodelscope.replicate.pitfall import Variant, load_plugins, variants_of
from mlmodelscope.replicate.recorded import read_recorded
from mlmodelscope.replicate.reference import LogSource, Reference, read_reference
from mlmodelscope.replicate.search import Found, search
from mlmodelscope.replicate.trial import Cost, Trials
from mlmodelscope.replicate.verdict import Verdict, judge, pair
from mlmodelscope.report.claims import is_same_dataset
from mlmodelscope.settings import Settings
from mlmodelscope.watcher import Watcher
from mlmodelscope.worker.variants import Answer


@dataclass(frozen=True)
class Replication:
    """A claim, what was measured, and what can be said of the two."""

    record: Record
    verdict: Verdict
    found: Found | None
    """The search for a cause; none where none was needed."""
    cost: Cost | None
    samples: int
    evidence: Evidence | None = None
    """The samples that show the cause."""
    not_sought: str = ""
    """Why no cause was sought though the claim does not hold."""

    @property
    def causes(self) -> tuple[Candidate, ...]:
        """What explains the number; where nothing does, what comes nearest."""
        if self.found is None:
            return ()
        near = self.found.near
        return self.found.explained or ((near,) if near is not None else ())


def replicate(
    model: ModelSource | None = None,
    dataset: DatasetSource | None = None,
    options: Options | None = None,
    *,
    claim: Claim | None = None,
    log: LogSource | None = None,
    within: float | None = None,
    explain: bool = True,
    stacks: Sequence[str] = (),
    budget: float | None = None,
    pictures: int = 6,
    **conditions: Unpack[Conditions],
) -> Replication:
    """Evaluate as the manifest says, judge the claim, and search for the pitfall where it does not hold.

    `log` is the claimant's reference log: what is not named otherwise is what it names, and its answers are compared
    with ours. `stacks` are other software to try, `budget` is how many evaluations a search may take, `pictures` how
    many samples are looked at as evidence.
    """
    settings = conditions["settings"] = conditions.get("settings") or Settings.from_environment()
    watcher = conditions["watcher"] = conditions.get("watcher") or Watcher()
    reference = read_reference(log, settings) if log is not None else None
    if reference is not None:
        model, dataset = model or reference.model, dataset or reference.dataset
        options = options or reference.options
    if model is None:
        raise UsageError("no model is named", hint="name one, or a reference log that names it: --log FILE")
    record = evaluate(model, dataset, options, made_for="replicate", **conditions)
    verdict, theirs = _judge(record, claim, reference, within, settings)
    if verdict.kind != "not reproduced" or not explain:
        return Replication(record, verdict, None, None, verdict.samples)
    if record.plan.input is None or record.plan.functions:
        reason = f"No cause was sought: {_own_code(record.plan)}."
        return Replication(record, verdict, None, None, verdict.samples, not_sought=reason)
    chosen, measured = verdict.claim, verdict.measured.value
    watcher.judged(chosen.metric, chosen.value, measured, (verdict.low, verdict.high))
    goal = Goal(chosen, measured, verdict.low, verdict.high, verdict.noise, theirs or None)
    plans = {name: _plan_with(name, model, dataset, options, conditions) for name in stacks}
    others = [Variant(("software-stack",), f"stack {name}", plan) for name, plan in plans.items()]
    with open_trials(record, settings, watcher, others=others) as trials:
        found = search(goal, trials, watcher.building, budget, watcher.tried)
        cost = replace(trials.cost)
        evidence = _show(found, chosen, trials, pictures, record)
        return Replication(record, verdict, found, cost, verdict.samples, evidence)


def _judge(
    record: Record, claim: Claim | None, reference: Reference | None, within: float | None, settings: Settings
) -> tuple[Verdict, Mapping[int, Answer]]:
    """The verdict on a record, and the claimant's answers, where there is a log of them."""
    plan, ours = record.plan, read_recorded(record, settings)
    chosen = claim or (reference.claim if reference is not None else choose_claim(plan))
    theirs = reference.answers_to(ours.samples) if reference is not None else {}
    population = plan.dataset.size if is_same_dataset(chosen.dataset, plan.dataset) else None
    verdict = judge(
        chosen,
        chosen.measure.interval(ours.rows, population),
        len(ours.rows),
        population=population,
        within=within,
        paired=pair(ours.labels, ours.answers, theirs),
    )
    return verdict, theirs


def _show(found: Found, claim: Claim, trials: Trials, pictures: int, record: Record) -> Evidence | None:
    """The samples that show the cause that was found."""
    if not found.explained and not found.near:
        return None
    k = 5 if claim.metric.startswith("top5") else 1
    return collect(trials, found.candidates[0].variant, pictures, names=record.class_names, k=k)


def choose_claim(plan: Plan) -> Claim:
    """The manifest's claim about this dataset."""
    fitting = [each for each in plan.claims if is_measurable(each) and is_same_dataset(each.dataset, plan.dataset)]
    if fitting:
        return claim_of(fitting[0])
    others = ", ".join(f"{each.metric} {each.value} on {each.dataset or 'no dataset'}" for each in plan.claims)
    raise UsageError(
        f"{plan.model.name} claims nothing about {plan.dataset.name}" + (f"; it claims {others}" if others else ""),
        hint=f"say what is claimed: --claim top1=75.1@{plan.dataset.name}",
    )


def open_trials(
    record: Record,
    settings: Settings,
    watcher: Watcher,
    pitfalls: Iterable[str] | None = None,
    others: Sequence[Variant] = (),
) -> Trials:
    """The variants of a finished record, with the record's own answers known."""
    load_plugins()
    plan = record.plan
    if plan.input is None or plan.functions:
        raise PlanError(_own_code(plan))
    artifacts = ArtifactStore(settings, watcher.downloading)
    trials = Trials(
        plan,
        open_dataset(plan.dataset, artifacts),
        lambda each: provision(each, artifacts),
        [*variants_of(plan, pitfalls), *others],
        names=record.class_names,
        kept=KeptAnswers(settings.cache / "trials" / f"{record.plan_digest[:32]}.sqlite"),
        told=lambda done, total: watcher.answered(done, total, 0),
    )
    trials.give(dict(enumerate(read_recorded(record, settings).answers)))
    return trials


def _own_code(plan: Plan) -> str:
    return f"{plan.model.name} prepares its samples in code of its own, of which no variants are known"


def _plan_with(
    stack: str, model: ModelSource, dataset: DatasetSource | None, options: Options | None, conditions: Conditions
) -> Plan:
    """The same evaluation with other software."""
    other: Conditions = {**conditions, "software": stack, "hardware": None}
    return ask(model, dataset, options, **other).plan()
