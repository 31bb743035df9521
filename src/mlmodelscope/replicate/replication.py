"""claim → evaluation → verdict → cause: does the number hold, and if not, why?"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Unpack

from mlmodelscope.dataset.open import open_dataset
from mlmodelscope.errors import ArtifactError, MetricError, PlanError, UsageError
from mlmodelscope.evaluation import evaluate
from mlmodelscope.manifest import schema
from mlmodelscope.manifest.catalog import find_model
from mlmodelscope.manifest.schema import DatasetManifest
from mlmodelscope.manifest.splits import claimed_on
from mlmodelscope.model_file.describe import describe_model
from mlmodelscope.model_file.model_file import ModelFile
from mlmodelscope.plan.claim import Claim, claim_of, claimed_dataset, is_measurable, parse_claim
from mlmodelscope.plan.language import planned_task
from mlmodelscope.plan.options import Options
from mlmodelscope.plan.plan import Plan, PlannedDataset
from mlmodelscope.preparation import Conditions, DatasetSource, ModelSource, ask
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.provision.site import provision, provision_model
from mlmodelscope.record.record import Record
from mlmodelscope.replicate.candidate import Candidate
from mlmodelscope.replicate.describe import (
    describe_claims,
    describe_inside,
    describe_paired,
    describe_search,
    describe_verdict,
)
from mlmodelscope.replicate.evidence import Evidence, collect
from mlmodelscope.replicate.goal import Goal
from mlmodelscope.replicate.inside import (
    Implementation,
    Inside,
    logged_answers,
    logged_implementation,
    look_inside,
    reference_implementation,
)
from mlmodelscope.replicate.kept import KeptAnswers
from mlmodelscope.replicate.kind import WORST_FIRST
from mlmodelscope.replicate.pitfall import Variant, load_plugins, variants_of
from mlmodelscope.replicate.recorded import read_recorded
from mlmodelscope.replicate.reference import LogSource, Reference, read_reference
from mlmodelscope.replicate.search import Found, search
from mlmodelscope.replicate.trial import Cost, Trials
from mlmodelscope.replicate.verdict import Tied, Verdict, judge, pair
from mlmodelscope.report.claims import is_other_split, is_same_dataset
from mlmodelscope.settings import Settings
from mlmodelscope.statistic.population import share_interval
from mlmodelscope.task.class_answer import ClassAnswer
from mlmodelscope.task.task import task_named
from mlmodelscope.watcher import Watcher


@dataclass(frozen=True)
class Replication:
    """Claims, what was measured, and what can be said of the two."""

    record: Record
    verdicts: tuple[Verdict, ...]
    """One for each claim about the dataset, in their order."""
    found: Found | None
    """The search for a cause; none where none was needed."""
    cost: Cost | None
    samples: int
    evidence: Evidence | None = None
    """The samples that show the cause."""
    not_sought: str = ""
    """Why no cause was sought though the claim does not hold."""
    inside: Inside | None = None
    """A comparison with a reference, where nothing that was tried explains the gap."""
    unchecked: tuple[str, ...] = ()
    """Claims about the dataset that cannot be checked, each with its reason."""

    @property
    def verdict(self) -> Verdict:
        """The worst: what the replication as a whole came to, and what a cause is sought for."""
        return min(self.verdicts, key=lambda each: WORST_FIRST.index(each.kind))

    @property
    def others(self) -> tuple[Verdict, ...]:
        """The verdicts on the other claims."""
        return tuple(each for each in self.verdicts if each is not self.verdict)

    @property
    def causes(self) -> tuple[Candidate, ...]:
        """What explains the number; where nothing does, what comes nearest."""
        if self.found is None:
            return ()
        near = self.found.near
        return self.found.explained or ((near,) if near is not None else ())

    @property
    def said(self) -> list[str]:
        """All of it in sentences, the verdict first."""
        lines = [f"{self.verdict.kind}: {describe_verdict(self.verdict)}"]
        lines += [*describe_claims(self.others, self.unchecked), *describe_paired(self.verdict)]
        lines += [self.not_sought] if self.not_sought else []
        lines += describe_search(self.found, self.verdict) if self.found is not None else ()
        return lines + (list(describe_inside(self.inside, self.verdict)) if self.inside is not None else [])

    def _repr_html_(self) -> str:
        """What a notebook shows of it."""
        first, *others = (escape(line) for line in self.said)
        return f"<p><strong>{first}</strong></p>" + "".join(f"<p>{line}</p>" for line in others)


def replicate(
    model: ModelSource | None = None,
    dataset: DatasetSource | None = None,
    options: Options | None = None,
    *,
    claim: Claim | str | None = None,
    log: LogSource | None = None,
    reference: ModelSource | None = None,
    within: float | None = None,
    explain: bool = True,
    again: bool = False,
    stacks: Sequence[str] = (),
    budget: float | None = None,
    pictures: int = 6,
    **conditions: Unpack[Conditions],
) -> Replication:
    """Evaluate as the manifest says, judge every claim about the dataset, and search for the pitfall where one fails.

    Without a dataset, it is the one that the claim names; a claim may be a text such as `ap=37.4@coco-val2017`. `log`
    is the claimant's reference log: what is not named otherwise is what it names, and its answers are compared with
    ours. `reference` is a model that is taken for right: where no pitfall explains a gap, the two are compared layer by
    layer. `stacks` are other software to try, `budget` is how many evaluations a search may take, `pictures` how many
    samples are looked at as evidence.
    """
    claim = parse_claim(claim) if isinstance(claim, str) else claim
    settings = conditions["settings"] = conditions.get("settings") or Settings.from_environment()
    watcher = conditions["watcher"] = conditions.get("watcher") or Watcher()
    implementation = reference_implementation(reference) if reference is not None else None
    logged = read_reference(log, settings) if log is not None else None
    if logged is not None:
        model, dataset = model or logged.model, dataset or logged.dataset
        options = options or logged.options
    if model is None:
        raise UsageError("no model is named", hint="name one, or a reference log that names it: --log FILE")
    if dataset is None:
        model = find_model(model)
        dataset = claimed_dataset(model, claim)
    if claim is None and logged is None:  # known before anything runs
        asked = ask(model, dataset, options, **conditions)
        task = planned_task(asked.model, asked.aspects.dataset)
        choose_claims(asked.model.name, asked.model.claims, asked.aspects.dataset, asked.options.top_k, task)
    conditions["tolerant"] = True  # labels that count from another number are one of the things to be found
    record = evaluate(model, dataset, options, made_for="replicate", again=again, **conditions)
    verdicts, unchecked, theirs = judge_record(record, claim, logged, within, settings)
    done = Replication(record, verdicts, None, None, verdicts[0].samples, unchecked=unchecked)
    if not is_sought(done.verdict) or not explain:
        return done
    if record.plan.input is None or record.plan.functions:
        done = replace(done, not_sought=f"No cause was sought: {_own_code(record.plan)}.")
    else:
        plans = {name: _plan_with(name, model, dataset, options, conditions) for name in stacks}
        others = [Variant(("software-stack",), f"stack {name}", plan) for name, plan in plans.items()]
        done = _searched(done, theirs, others, budget, pictures, settings, watcher)
    if (done.found is not None and done.found.explained) or (implementation is None and logged is None):
        return done
    return replace(done, inside=_inside(done, implementation, logged, (model, dataset, options), conditions))


check_claims = replicate
"""The same under a name that no folder has: `from mlmodelscope import check_claims`."""


def _searched(
    done: Replication,
    theirs: Mapping[int, ClassAnswer],
    others: Sequence[Variant],
    budget: float | None,
    pictures: int,
    settings: Settings,
    watcher: Watcher,
) -> Replication:
    """The same with the pitfall that explains the gap, if any does."""
    verdict = done.verdict
    chosen, measured = verdict.claim, verdict.measured.value
    watcher.judged(chosen.metric, chosen.unit.name, chosen.value, measured, (verdict.low, verdict.high))
    goal = Goal(chosen, measured, verdict.low, verdict.high, verdict.noise, theirs or None)
    with open_trials(done.record, settings, watcher, others=others) as trials:
        found = search(goal, trials, watcher.building, budget, watcher.tried)
        cost, evidence = replace(trials.cost), _show(found, chosen, trials, pictures, done.record)
        return replace(done, found=found, cost=cost, evidence=evidence)


def _inside(
    done: Replication,
    implementation: Implementation | None,
    logged: Reference | None,
    asked: tuple[ModelSource, DatasetSource | None, Options | None],
    conditions: Conditions,
) -> Inside:
    """What a reference implementation and the claimant's answers tell of the model itself."""
    settings, record = conditions.get("settings") or Settings.from_environment(), done.record
    answers = logged_answers(logged.outputs, record, settings) if logged is not None else None
    known: Implementation | str = implementation or (logged_implementation(logged, record) if logged else "")
    if isinstance(known, str):
        return Inside(logged.log.reference if logged is not None else "", answers=answers, note=known)
    found = look_inside(known, *asked, record, done.verdict, conditions)
    return replace(found, answers=answers)


def is_sought(verdict: Verdict) -> bool:
    """Whether there is something to explain.

    A share of right answers that is better than claimed is good news. A number that depends on its rule, such as PSNR,
    comes out too high as easily as too low when the rule is another.
    """
    is_made_by_rule = verdict.claim.measure.outcome is None
    return verdict.kind == "not reproduced" or (verdict.kind == "better than claimed" and is_made_by_rule)


def judge_record(
    record: Record, claim: Claim | None, reference: Reference | None, within: float | None, settings: Settings
) -> tuple[tuple[Verdict, ...], tuple[str, ...], Mapping[int, ClassAnswer]]:
    """(the verdict on each claim, claims that cannot be checked, the claimant's answers where there is a log)."""
    plan, ours = record.plan, read_recorded(record, settings)
    unchecked: tuple[str, ...] = ()
    if claim is not None:
        claims = [as_published(claim.for_task(plan.task), plan)]
        _refuse_other_task(claims[0], plan)
    elif reference is not None:
        claims = reference.claims
    else:
        claims, unchecked = choose_claims(plan.model.name, plan.claims, plan.dataset, plan.answer.top_k, plan.task)
    theirs = reference.answers_to(ours.samples) if reference is not None else {}
    paired = pair(ours.labels, ours.answers, theirs) if ours.has_classes else None
    verdicts = []
    for each in claims:
        is_same = is_same_dataset(each.dataset, plan.dataset)
        population = _population(each, record) if is_same else None
        try:
            measured = each.measure.interval(ours.rows, population)
        except MetricError as error:
            if len(claims) == 1:
                raise
            unchecked += (f"{each.metric} {each.published} on {each.dataset}: {error.message}",)
            continue
        verdicts.append(
            judge(
                each,
                measured,
                len(ours.rows),
                population=population,
                within=within,
                paired=paired,
                tied=_tied(each, record, len(ours.rows), population),
                stand_in=_stand_in(each, plan.dataset) if each.dataset is not None and not is_same else "",
                is_other_split=is_other_split(each.dataset, plan.dataset),
            )
        )
    if not verdicts:
        raise MetricError(f"no claim can be checked; {'; '.join(unchecked)}")
    return tuple(verdicts), unchecked, theirs


def as_published(claim: Claim, plan: Plan) -> Claim:
    """A claim that was given, as the manifest has it, where the manifest has just this one: with its source."""
    for each in plan.claims:
        with contextlib.suppress(UsageError):  # one that nobody can measure
            own = claim_of(each, plan.task)
            if (own.metric, own.text, own.dataset, own.factor) == (
                claim.metric,
                claim.text,
                claim.dataset,
                claim.factor,
            ):
                return replace(claim, source=own.source, conditions=own.conditions)
    return claim


def _stand_in(claim: Claim, dataset: PlannedDataset) -> str:
    is_other = is_other_split(claim.dataset, dataset)
    return f"{dataset.name}:{dataset.split}" if is_other and dataset.split else dataset.name


def _refuse_other_task(claim: Claim, plan: Plan) -> None:
    """A number that answers of this task do not have."""
    if plan.task not in claim.measure.tasks:
        known = ", ".join(each.name for each in task_named(plan.task).measures)
        raise UsageError(
            f"claims about `{claim.metric}` cannot be checked: {claim.measure.title} is a number of "
            f"{', '.join(claim.measure.tasks)}, and {plan.model.name} is for {plan.task}",
            hint=f"its numbers are: {known}" if known else None,
        )


def _population(claim: Claim, record: Record) -> int | None:
    """How many samples the dataset has; without a word about it, all that there are, where only those decide."""
    dataset = record.plan.dataset
    if dataset.size is not None or claim.measure.is_stable or dataset.subset.count is not None:
        return dataset.size
    return record.samples


def _tied(claim: Claim, record: Record, samples: int, population: int | None) -> Tied | None:
    """Both ends of the number, where the order of equal scores matters and the record has counted it."""
    ends = task_named(record.plan.task).ends(claim.metric, record.details, samples)
    if ends is None:
        return None
    against, favor = (share_interval(count, samples, population) for count in ends)
    return Tied(abs(ends[1] - ends[0]), against, favor)


def _show(found: Found, claim: Claim, trials: Trials, pictures: int, record: Record) -> Evidence | None:
    """The samples that show the cause that was found."""
    if not found.explained and not found.near:
        return None
    cause = found.candidates[0].variant
    return collect(trials, cause, pictures, names=record.class_names, measure=claim.measure)


def choose_claims(
    model: str, claims: Sequence[schema.Claim], dataset: PlannedDataset | DatasetManifest, top_k: int, task: str
) -> tuple[list[Claim], tuple[str, ...]]:
    """(the manifest's claims about this dataset, those of them that cannot be checked, with the reason)."""
    about = [(each, _obstacle(each, top_k, task)) for each in claims if is_same_dataset(claimed_on(each), dataset)]
    unchecked = tuple(f"{each.metric} {each.value} on {claimed_on(each)}: {reason}" for each, reason in about if reason)
    unchecked += tuple(_other_splits(claims, dataset))
    chosen = [claim_of(each, task) for each, reason in about if not reason]
    if chosen:
        return chosen, unchecked
    others = ", ".join(f"{each.metric} {each.value} on {claimed_on(each) or 'no dataset'}" for each in claims)
    said = "; ".join(unchecked) or (f"it claims {others}" if others else "")
    raise UsageError(
        f"{model} claims nothing about {dataset.name} that can be checked" + (f"; {said}" if said else ""),
        hint=f"to check a number that was published for {dataset.name}: --claim METRIC=VALUE@{dataset.name}",
    )


def _other_splits(claims: Sequence[schema.Claim], dataset: PlannedDataset | DatasetManifest) -> Iterator[str]:
    """Claims about other splits of the dataset: no number of this one decides them."""
    measured = f"the split `{dataset.split}` is measured" if dataset.split else "the dataset names no split"
    for each in claims:
        if is_other_split(claimed_on(each), dataset):
            yield f"{each.metric} {each.value} on {claimed_on(each)}: it is of another split, {measured}"


def _obstacle(published: schema.Claim, top_k: int, task: str) -> str:
    """Why a claim cannot be checked; empty where it can."""
    if not is_measurable(published):
        return f"`{published.metric}` is not a number that can be measured here"
    measured = claim_of(published, task).measure
    if task not in measured.tasks:
        return f"`{published.metric}` is not a number of {task}"
    if measured.kept_classes > top_k:
        return f"only the {top_k} best answers are kept"
    return ""


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
    described = _describe(plan, artifacts)
    trials = Trials(
        plan,
        open_dataset(plan.dataset, artifacts),
        lambda each: provision(each, artifacts),
        [*variants_of(plan, pitfalls, described), *others],
        names=record.class_names,
        described=described,
        kept=KeptAnswers(settings.cache / "trials" / f"{record.plan_digest[:32]}.sqlite"),
        told=lambda done, total: watcher.answered(done, total, 0),
    )
    trials.give(dict(enumerate(read_recorded(record, settings).answers)))
    return trials


def _describe(plan: Plan, artifacts: ArtifactStore) -> ModelFile | None:
    """What the model's file says of itself, where there is one that we can read."""
    try:
        files = provision_model(plan, artifacts)
        return describe_model(Path(files["graph"])) if "graph" in files else None
    except ArtifactError:
        return None


def _own_code(plan: Plan) -> str:
    return f"{plan.model.name} prepares its samples in code of its own, of which no variants are known"


def _plan_with(
    stack: str, model: ModelSource, dataset: DatasetSource | None, options: Options | None, conditions: Conditions
) -> Plan:
    """The same evaluation with other software."""
    other: Conditions = {**conditions, "software": stack, "hardware": None}
    return ask(model, dataset, options, **other).plan()
