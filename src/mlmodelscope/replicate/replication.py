"""claim → evaluation → verdict → cause: does the number hold, and if not, why?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from mlmodelscope.dataset.open import open_dataset
from mlmodelscope.errors import PlanError, UsageError
from mlmodelscope.evaluation import Watcher, evaluate, provision_site
from mlmodelscope.plan.options import Options
from mlmodelscope.plan.plan import Plan
from mlmodelscope.preparation import DatasetSource, HardwareSource, ModelSource, SoftwareSource
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.record.record import Record
from mlmodelscope.record.store import Store
from mlmodelscope.replicate.claim import Claim, claim_of
from mlmodelscope.replicate.pitfall import load_plugins, variants_of
from mlmodelscope.replicate.search import Found, search
from mlmodelscope.replicate.trial import Cost, Trials
from mlmodelscope.replicate.verdict import Verdict, judge
from mlmodelscope.report.claims import is_same_dataset
from mlmodelscope.settings import Settings
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


def replicate(
    model: ModelSource,
    dataset: DatasetSource | None = None,
    options: Options | None = None,
    *,
    claim: Claim | None = None,
    within: float | None = None,
    explain: bool = True,
    software: SoftwareSource | None = None,
    hardware: HardwareSource | None = None,
    trust: bool = False,
    settings: Settings | None = None,
    watcher: Watcher | None = None,
) -> Replication:
    """Evaluate as the manifest says, judge the claim, and search for the pitfall where it does not hold."""
    settings = settings or Settings.from_environment()
    watcher = watcher or Watcher()
    record = evaluate(
        model, dataset, options, software=software, hardware=hardware, trust=trust, settings=settings, watcher=watcher
    )
    chosen = claim or choose_claim(record.plan)
    right, samples = _count(record, chosen, settings)
    population = record.plan.dataset.size if is_same_dataset(chosen.dataset, record.plan.dataset) else None
    verdict = judge(chosen, right, samples, population=population, within=within)
    if verdict.kind != "not reproduced" or not explain or record.plan.input is None or record.plan.functions:
        return Replication(record, verdict, None, None, samples)
    with open_trials(record, settings, watcher) as trials:
        found = search(chosen, trials, verdict.margin, watcher.building)
        return Replication(record, verdict, found, trials.cost, samples)


def choose_claim(plan: Plan) -> Claim:
    """The manifest's claim about this dataset."""
    known = ("top1", "top5")
    fitting = [each for each in plan.claims if each.metric in known and is_same_dataset(each.dataset, plan.dataset)]
    if fitting:
        return claim_of(fitting[0])
    others = ", ".join(f"{each.metric} {each.value} on {each.dataset or 'no dataset'}" for each in plan.claims)
    raise UsageError(
        f"{plan.model.name} claims nothing about {plan.dataset.name}" + (f"; it claims {others}" if others else ""),
        hint=f"say what is claimed: --claim top1=75.1@{plan.dataset.name}",
    )


def open_trials(record: Record, settings: Settings, watcher: Watcher, pitfalls: Iterable[str] | None = None) -> Trials:
    """The variants of a finished record, with the record's own answers known."""
    load_plugins()
    plan = record.plan
    if plan.input is None or plan.functions:
        raise PlanError(f"{plan.model.name} prepares its samples in code of its own, of which no variants are known")
    artifacts = ArtifactStore(settings, watcher.downloading)
    trials = Trials(
        plan,
        open_dataset(plan.dataset, artifacts),
        provision_site(plan, artifacts),
        variants_of(plan, pitfalls),
        told=lambda done, total: watcher.answered(done, total, 0),
    )
    trials.give(_answers(record, settings))
    return trials


def _answers(record: Record, settings: Settings) -> dict[int, Answer | None]:
    store = Store(settings)
    try:
        table = store.samples(record)
    finally:
        store.close()
    columns = zip(table["classes"].to_pylist(), table["scores"].to_pylist(), strict=True)
    return {
        at: Answer(tuple(classes), tuple(scores)) if classes else None for at, (classes, scores) in enumerate(columns)
    }


def _count(record: Record, claim: Claim, settings: Settings) -> tuple[int, int]:
    """(right, samples) of a record for the claim's metric; failed samples count as wrong."""
    store = Store(settings)
    try:
        table = store.samples(record)
    finally:
        store.close()
    k = 5 if claim.metric == "top5" else 1
    pairs = zip(table["label"].to_pylist(), table["classes"].to_pylist(), strict=True)
    labelled = [(label, classes) for label, classes in pairs if label is not None]
    if not labelled:
        raise UsageError(f"{record.plan.dataset.name} has no labels, so nothing can be right or wrong")
    return sum(label in (classes or ())[:k] for label, classes in labelled), len(labelled)
