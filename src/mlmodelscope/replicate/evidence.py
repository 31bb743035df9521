"""What can be seen of a cause: the samples whose answer it changes, and what the model sees of them.

`before` is always the plan as the manifest says it, `after` the plan with the edit that explains the claim. Pictures
are of the tensors that the model gets, drawn with one scale, that of `after`: where that one looks as it should, the
other shows what is wrong with it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from mlmodelscope.dataset.sample import Sample
from mlmodelscope.errors import MLModelScopeError
from mlmodelscope.manifest.schema import Step
from mlmodelscope.measure.facts import facts_of
from mlmodelscope.plan.plan import Plan
from mlmodelscope.replicate.candidate import spoken
from mlmodelscope.replicate.kind import CHANGES, Change
from mlmodelscope.replicate.pitfall import Variant
from mlmodelscope.replicate.trial import Trials
from mlmodelscope.report.sample_pictures import picture_size
from mlmodelscope.report.thumbnail import Thumbnails, from_pixels
from mlmodelscope.task.class_answer import ClassAnswer
from mlmodelscope.task.measure import Measure
from mlmodelscope.task.ruled import shown_of
from mlmodelscope.task.shape import Shape, named_by
from mlmodelscope.worker.variants import Difference, Picture, View

SPELLED: dict[Change, str] = {"fixed": "fixed", "broken": "broken", "other answer": "another wrong answer"}
"""What people read; programs know them by their names."""
GRADED: dict[Change, str] = {"fixed": "better", "broken": "worse", "other answer": "as good as before"}
"""The same where answers are more or less good."""
_TOP = 5


@dataclass(frozen=True)
class Choice:
    """A class that the model answered with."""

    number: int
    name: str
    score: float
    is_right: bool


@dataclass(frozen=True)
class Sight:
    """What the model sees of a sample, before and after."""

    before: View
    after: View
    is_same: bool = False
    """Whether it sees the very same: then the answer is only read otherwise."""

    @property
    def difference(self) -> Difference | None:
        return self.before.difference


@dataclass(frozen=True)
class Overlaid:
    """What is true of a sample and both answers, as shapes over its picture."""

    truth: tuple[Shape, ...]
    before: tuple[Shape, ...]
    after: tuple[Shape, ...]
    size: tuple[int, int] | None
    """Width and height of the picture in pixels."""
    uri: str | None
    """The picture itself, small."""


@dataclass(frozen=True)
class Flip:
    """A sample whose answer is another one."""

    sample: str
    kind: Change
    label: str | None
    before: tuple[Choice, ...]
    """The best classes, best first; none where the sample failed."""
    after: tuple[Choice, ...]
    change: float
    """By how much the score of the new answer has risen, or by how much the sample is better or worse."""
    sight: Sight | None = None
    """Looked at for the most telling ones only."""
    quality: tuple[float, float] | None = None
    """Before and after, where answers are more or less good and not simply right or wrong."""
    overlaid: Overlaid | None = None
    """For the most telling ones of tasks whose answers can be seen."""
    number: tuple[float, float] | None = None
    """The claimed measure of this sample alone, before and after, where its score has it."""

    @property
    def spelled(self) -> str:
        return (SPELLED if self.quality is None else GRADED)[self.kind]


@dataclass(frozen=True)
class Evidence:
    """For a cause: numbers, and the samples that show it, the most telling first."""

    cause: Variant
    compared: int
    """Samples that were answered both ways."""
    flips: tuple[Flip, ...]
    probabilities: bool
    """Whether scores are shares of 1."""
    without_pictures: str = ""
    """Why nothing could be looked at."""
    measure: Measure | None = None
    """What the claim is about."""

    @property
    def is_graded(self) -> bool:
        """Whether answers are more or less good, and not simply right or wrong."""
        return any(each.quality is not None for each in self.flips)

    def count(self, kind: Change) -> int:
        return sum(each.kind == kind for each in self.flips)

    @property
    def shown(self) -> tuple[Flip, ...]:
        """Those that were looked at."""
        return tuple(each for each in self.flips if each.sight is not None)


def collect(
    trials: Trials, cause: Variant, count: int = 6, *, names: Sequence[str] = (), measure: Measure | None = None
) -> Evidence:
    """The evidence for a cause; answers that are not known yet are asked for, and `count` samples are looked at.

    `names` are those of the classes, by number; `measure` is what the claim is about.
    """
    k = measure.kept_classes if measure is not None else 1
    names = names or trials.dataset.classes
    samples = trials.dataset.samples
    trials.ask((trials.plan, cause.plan), range(len(samples)))
    flips = []
    for at, sample in enumerate(samples):
        before, after = trials.answer(trials.plan, at), trials.answer(cause.plan, at)
        kind = _kind(sample, before, after, k, measure)
        if kind is not None:
            flips.append((at, _flip(sample, kind, before, after, names, measure)))
    flips.sort(key=lambda pair: (CHANGES.index(pair[1].kind), -pair[1].change, pair[0]))
    sights, reason = _look(trials, cause, [samples[at] for at, _ in flips[:count]])
    looked = [
        replace(flip, sight=sight, overlaid=_overlaid(trials, cause, at, names) if flip.quality is not None else None)
        for (at, flip), sight in zip(flips, sights, strict=False)
    ]
    rest = [flip for _, flip in flips[len(looked) :]]
    return Evidence(cause, len(samples), (*looked, *rest), trials.plan.answer.probabilities, reason, measure)


def _kind(sample: Sample, before: Any, after: Any, k: int, measure: Measure | None = None) -> Change | None:
    if measure is not None and measure.outcome is not None and isinstance(before, bytes) and isinstance(after, bytes):
        was, is_now = measure.outcome(before), measure.outcome(after)
        if was != is_now:
            return "fixed" if is_now else "broken"
        return None if spoken(before, measure) == spoken(after, measure) else "other answer"
    if isinstance(before, bytes) or isinstance(after, bytes):
        rise = _rise(before, after, measure)
        if not rise:
            return None if before == after else "other answer"
        return "fixed" if rise > 0 else "broken"

    def is_right(answer: ClassAnswer | None) -> bool:
        return answer is not None and sample.label_for(answer) in answer.classes[:k]

    if is_right(before) != is_right(after):
        return "fixed" if is_right(after) else "broken"
    first, second = (each.classes[:1] if each is not None else None for each in (before, after))
    return None if first == second else "other answer"


def _quality(answer: Any) -> float:
    """How good an answer is, by its score."""
    return float(facts_of(answer).get("quality", 0.0)) if isinstance(answer, bytes) else 0.0


def _number(before: Any, after: Any, measure: Measure | None) -> tuple[float, float] | None:
    """The measure of one sample, as far as both scores have it."""
    known = [shown_of(each).get(measure.name) for each in (before, after) if isinstance(each, bytes) and measure]
    found = [float(each) for each in known if isinstance(each, int | float) and math.isfinite(each)]
    return (found[0], found[1]) if len(found) == 2 else None


def _rise(before: Any, after: Any, measure: Measure | None) -> float:
    """By how much an answer is better: by the claimed measure where it has a number for one sample, else by quality."""
    number = _number(before, after, measure)
    if number is None or measure is None:
        return _quality(after) - _quality(before)
    return (number[1] - number[0]) * (1 if measure.is_better_higher else -1)


def _flip(
    sample: Sample, kind: Change, before: Any, after: Any, names: Sequence[str], measure: Measure | None = None
) -> Flip:
    if isinstance(before, bytes) or isinstance(after, bytes):
        quality, number = (_quality(before), _quality(after)), _number(before, after, measure)
        change = abs(_rise(before, after, measure))
        return Flip(sample.id, kind, None, (), (), change, quality=quality, number=number)
    label = None if sample.label is None else _name(sample.label, names)
    change = 0.0
    if after is not None and after.classes:
        known = dict(zip(before.classes, before.scores, strict=True)) if before is not None else {}
        lowest = min(known.values(), default=0.0)
        change = after.scores[0] - known.get(after.classes[0], lowest)
    return Flip(sample.id, kind, label, _choices(sample, before, names), _choices(sample, after, names), change)


def _overlaid(trials: Trials, cause: Variant, at: int, names: Sequence[str]) -> Overlaid | None:
    """None where the task has nothing to show, or the model cannot be asked again."""
    sample, named = trials.dataset.samples[at], named_by(names)
    try:
        before, after = (trials.shapes(plan, at, named) for plan in (trials.plan, cause.plan))
    except MLModelScopeError:  # evidence is welcome, but a verdict stands without it
        return None
    if not before and not after:
        return None
    truth = tuple(each for each in after or before if each.side == "truth")
    answers = [tuple(each for each in shapes if each.side == "answer") for shapes in (before, after)]
    size, picture = picture_size(sample.content), Thumbnails().make(sample.content)
    return Overlaid(truth, answers[0], answers[1], size, picture.uri)


def _choices(sample: Sample, answer: ClassAnswer | None, names: Sequence[str]) -> tuple[Choice, ...]:
    if answer is None:
        return ()
    pairs = list(zip(answer.classes, answer.scores, strict=True))[:_TOP]
    label = sample.label_for(answer)
    return tuple(Choice(number, _name(number, names), score, number == label) for number, score in pairs)


def _name(number: int, names: Sequence[str]) -> str:
    return names[number] if 0 <= number < len(names) and names[number] else f"class {number}"


def _look(trials: Trials, cause: Variant, samples: Sequence[Sample]) -> tuple[list[Sight], str]:
    """(what the model sees of each, why there is nothing more to see)."""
    found: list[Sight] = []
    try:
        if trials.plan.stack != cause.plan.stack:  # another version of a library may make other pixels
            befores = [trials.worker_of(trials.plan).look(each, [trials.plan])[0] for each in samples]
            afters = [trials.worker_of(cause.plan).look(each, [cause.plan])[0] for each in samples]
            return [Sight(*pair) for pair in zip(befores, afters, strict=True)], ""
        worker = trials.worker_of(trials.plan)
        is_same = _steps(trials.plan) == _steps(cause.plan)
        for sample in samples:
            # The plan that explains the claim comes first: it sets the scale.
            views = worker.look(sample, [cause.plan] if is_same else [cause.plan, trials.plan])
            found.append(Sight(views[-1], views[0], is_same))
    except MLModelScopeError as error:  # evidence is welcome, but a verdict stands without it
        return found, error.message
    return found, ""


def _steps(plan: Plan) -> tuple[Step, ...]:
    return plan.input.steps if plan.input is not None else ()


def evidence_json(evidence: Evidence) -> dict[str, Any]:
    """The same for programs; pictures are PNG files as `data:` addresses."""
    return {
        "pitfalls": list(evidence.cause.pitfalls),
        "words": evidence.cause.words,
        "samples": evidence.compared,
        "fixed": evidence.count("fixed"),
        "broken": evidence.count("broken"),
        "right_now": evidence.count("fixed"),  # its former names, for one more minor version
        "wrong_now": evidence.count("broken"),
        "other_answer": evidence.count("other answer"),
        "graded": evidence.is_graded,
        "without_pictures": evidence.without_pictures or None,
        "flips": [_flip_json(each) for each in evidence.flips],
    }


def _flip_json(flip: Flip) -> dict[str, Any]:
    body: dict[str, Any] = {
        "sample": flip.sample,
        "kind": flip.kind,
        "label": flip.label,
        "change": flip.change,
        "before": _choices_json(flip.before),
        "after": _choices_json(flip.after),
    }
    if flip.sight is not None:
        body["seen"] = _sight_json(flip.sight)
    if flip.quality is not None:
        body["quality"] = {"before": flip.quality[0], "after": flip.quality[1]}
    if flip.number is not None:
        body["number"] = {"before": flip.number[0], "after": flip.number[1]}
    if flip.overlaid is not None:
        sides = {name: [asdict(each) for each in getattr(flip.overlaid, name)] for name in ("truth", "before", "after")}
        body["overlaid"] = {**sides, "size": flip.overlaid.size}
    return body


def _choices_json(choices: Iterable[Choice]) -> list[dict[str, Any]]:
    return [{"class": each.number, "name": each.name, "score": each.score, "right": each.is_right} for each in choices]


def _sight_json(sight: Sight) -> dict[str, Any]:
    body: dict[str, Any] = {"same": sight.is_same}
    for name, view in (("before", sight.before), ("after", sight.after)):
        body[name] = {"tensor": view.tensor or None, "picture": data_uri(view.picture), "reason": view.reason or None}
    body["scale"] = {"low": sight.after.low, "high": sight.after.high}
    apart = sight.difference
    body["difference"] = apart and {
        "largest": apart.largest,
        "mean": apart.mean,
        "share": apart.share,
        "stretch": apart.stretch,
        "picture": data_uri(apart.picture),
    }
    return body


def data_uri(picture: Picture | None) -> str | None:
    """A picture as a browser takes it."""
    if picture is None:
        return None
    return from_pixels(picture.pixels, picture.height, picture.width, picture.channels).uri
