"""Where no pitfall explains a gap, the search goes on into the model: it is compared with a reference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mlmodelscope.analysis.answer_distance import AnswerDistance, Told, answer_distance, precision_of
from mlmodelscope.diff.diff import diff
from mlmodelscope.diff.result import Difference, Fault
from mlmodelscope.diff.side import SideRequest
from mlmodelscope.errors import MLModelScopeError, UsageError
from mlmodelscope.evaluation import evaluate
from mlmodelscope.manifest.catalog import find_model
from mlmodelscope.manifest.schema import ModelManifest
from mlmodelscope.manifest.schema.log import Expected
from mlmodelscope.plan.options import Options
from mlmodelscope.preparation import Conditions, DatasetSource, ModelSource, SoftwareSource
from mlmodelscope.record.log import expected_rows
from mlmodelscope.record.record import Record
from mlmodelscope.record.store import Store
from mlmodelscope.replicate.recorded import read_recorded
from mlmodelscope.replicate.reference import Reference
from mlmodelscope.replicate.verdict import Verdict
from mlmodelscope.settings import Settings

_SAMPLES = 2
"""That both models get; a fault shows in any sample."""


@dataclass(frozen=True)
class Inside:
    """What comparing the model with a reference came to."""

    reference: str
    difference: Difference | None = None
    answers: AnswerDistance | None = None
    """Our answers beside those of the claimant's log."""
    measured: float | None = None
    """What the reference measures on the dataset."""
    reaches: bool | None = None
    """Whether that is what was claimed."""
    note: str = ""
    """Why no layers were compared."""

    @property
    def layer(self) -> str | None:
        """The layer that differs first beyond rounding; none where the model agrees, or only its outputs are known."""
        found = self.difference
        if found is None or found.outcome != "different" or found.first is None or found.first.pair.is_output:
            return None
        return found.named

    @property
    def fault(self) -> Fault | None:
        """The mistake that the layer looks like."""
        faults = self.difference.faults if self.difference is not None else ()
        return faults[0] if self.layer is not None and faults else None


@dataclass(frozen=True)
class Implementation:
    """Another implementation of the model, which is taken for right."""

    model: ModelManifest
    software: SoftwareSource | None = None


def reference_implementation(model: ModelSource) -> Implementation:
    """As a user names it; a name that is unknown is found before anything runs."""
    found = find_model(model)
    if found.job_type == "training":
        raise UsageError(f"{found.reference} describes a training, and a reference is a model that answers")
    return Implementation(found)


def logged_implementation(reference: Reference, record: Record) -> Implementation | str:
    """What the claimant's log was made with, where it is not the very thing that we ran; or why there is none."""
    named, software = reference.log.manifests.model, reference.log.manifests.software
    ours = record.plan.manifests.get("model")
    runs = record.plan.manifests.get("software")
    digest = (named.digest or "").removeprefix("sha256:")
    is_ours = ours is not None and (named.name, named.version) == (ours.name, ours.version)
    is_ours = is_ours and (not digest or digest == getattr(ours, "digest", digest))
    try:
        model = find_model(named.reference)
        if not is_ours:
            return Implementation(model)
    except MLModelScopeError:
        advice = "--reference MODEL names a reference implementation whose layers can be compared"
        return f"The claimant's model, {named.reference}, is not here: {advice}."
    if software is None or (runs is not None and (software.name, software.version) == (runs.name, runs.version)):
        return "The claimant's log names the model and the software that ran here, so there are no others to compare."
    return Implementation(model, software.reference)


def look_inside(
    theirs: Implementation,
    model: ModelSource,
    dataset: DatasetSource | None,
    options: Options | None,
    record: Record,
    verdict: Verdict,
    conditions: Conditions,
) -> Inside:
    """Compare layer by layer with a reference, and see whether it measures what was claimed."""
    name = theirs.model.reference
    shared: Conditions = {**conditions, "software": theirs.software, "hardware": None}
    threads = (options or Options()).threads
    try:
        found = diff(
            SideRequest(theirs.model, theirs.software, threads=threads),
            SideRequest(model, conditions.get("software"), threads=threads),
            dataset,
            samples=_SAMPLES,
            trust=conditions.get("trust", False),
            settings=conditions.get("settings"),
            watcher=conditions.get("watcher"),
        )
    except MLModelScopeError as error:
        return Inside(name, note=f"The layers could not be compared with {name}: {_line(error)}.")
    measured = _measured(theirs, dataset, options, record, verdict, shared) if found.outcome != "same" else None
    return Inside(
        name,
        found,
        measured=measured,
        reaches=None if measured is None else verdict.low <= measured <= verdict.high,
    )


def _measured(
    theirs: Implementation,
    dataset: DatasetSource | None,
    options: Options | None,
    record: Record,
    verdict: Verdict,
    conditions: Conditions,
) -> float | None:
    """The claimed number of the reference, on the same samples."""
    try:
        made = evaluate(theirs.model, dataset, options, made_for="replicate", **conditions)
        if made.plan.task != record.plan.task:
            return None
        settings = conditions.get("settings") or Settings.from_environment()
        value: float = verdict.claim.measure.interval(read_recorded(made, settings).rows, None).value
        return value
    except MLModelScopeError:
        return None


def logged_answers(outputs: Mapping[str, Expected], record: Record, settings: Settings) -> AnswerDistance | None:
    """How far our answers are from those of a log; None where it has none of these samples."""
    store = Store(settings)
    try:
        ours = list(expected_rows(record, store))
    finally:
        store.close()
    both = [(outputs[row.sample], row) for row in ours if row.sample in outputs]
    pairs = [(_told(one), _told(other)) for one, other in both if one.error is None and other.error is None]
    return answer_distance(pairs, precision_of([record.plan], settings)) if pairs else None


def _told(row: Expected) -> Told:
    return Told(tuple(row.classes), tuple(row.scores), row.answer)


def _line(error: MLModelScopeError) -> str:
    return next(iter(error.message.splitlines()), "").rstrip(".")


def inside_json(inside: Inside, text: str) -> dict[str, Any]:
    found, first = inside.difference, inside.difference.first if inside.difference is not None else None
    distance = inside.answers
    return {
        "reference": inside.reference,
        "outcome": found.outcome if found is not None else "no verdict",
        "sentence": found.sentence if found is not None else inside.note,
        "layer": inside.layer,
        "layer_kind": first.pair.kind or None if inside.layer is not None and first is not None else None,
        "fault": inside.fault.kind if inside.fault is not None else None,
        "fault_words": inside.fault.words if inside.fault is not None else None,
        "parts": [
            {"part": each.part, "verdict": each.verdict, "step": each.step, "words": each.words}
            for each in (found.parts if found is not None else ())
        ],
        "reference_measures": inside.measured,
        "reference_reproduces": inside.reaches,
        "claimants_answers": distance.judgment if distance is not None else None,
        "text": text,
    }
