"""Compares one model in several stacks: what each measured, and which library changed the answers."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mlmodelscope.analysis.answer_distance import AnswerDistance, Told, answer_distance
from mlmodelscope.record.log import expected_rows
from mlmodelscope.record.number import MeasuredNumber
from mlmodelscope.record.record import Record
from mlmodelscope.record.store import Store
from mlmodelscope.report.numbers import headline_of


@dataclass(frozen=True)
class Answered:
    """What a stack made of one sample."""

    best: tuple[int, ...]
    """The best class; none where the answer is not a list of classes."""
    answer: object
    error: str | None


@dataclass(frozen=True)
class Scored:
    """The same, with the scores to the bit."""

    answered: Answered
    scores: tuple[float, ...]
    classes: tuple[int, ...] = ()
    """All that were kept, best first, in the order of the scores."""


Answers = Mapping[str, Scored]
"""By the name of the sample."""


@dataclass(frozen=True)
class Row:
    """One stack, beside the first."""

    stack: str
    packages: dict[str, str]
    """Version of each package that the plan uses, and of Python."""
    accuracy: MeasuredNumber | None
    """By the measure that comes first in the task."""
    p50_s: float | None
    samples: int
    same_classes: int
    """Samples whose best class is that of the first stack."""
    same_scores: int
    """Samples whose scores have the same bits as in the first stack."""
    distance: AnswerDistance | None = None
    """How far its answers are from those of the first stack, which has none itself."""


@dataclass(frozen=True)
class PackageChange:
    """Two stacks that differ in one package alone, and how many answers that changed."""

    package: str
    before: str
    after: str
    moved_classes: int
    moved_scores: int
    stacks: tuple[str, str]

    @property
    def sentence(self) -> str:
        change = f"{self.package} {self.before} → {self.after}"
        if self.moved_classes:
            return f"{change} changed the answer to {self.moved_classes} samples (the scores of {self.moved_scores})"
        if self.moved_scores:
            return f"{change} changed scores of {self.moved_scores} samples, but no answer"
        return f"{change} changed nothing"


def compare_stacks(
    records: Sequence[Record], store: Store, precision: str = "float32"
) -> tuple[list[Row], list[PackageChange]]:
    """Rows in the order of the records, and what changes of single packages did; `precision` is computed in."""
    answers = [_answers(record, store) for record in records]
    rows = [_row(record, each, answers[0], precision) for record, each in zip(records, answers, strict=True)]
    return rows, _changes(records, rows, answers)


def _answers(record: Record, store: Store) -> Answers:
    return {
        row.sample: Scored(Answered(row.classes[:1], row.answer, row.error), row.scores, row.classes)
        for row in expected_rows(record, store)
    }


def _row(record: Record, answers: Answers, first: Answers, precision: str) -> Row:
    stack = record.plan.stack
    common = [sample for sample in answers if sample in first]
    whole = [each for each in common if answers[each].answered.error is None and first[each].answered.error is None]
    pairs = ((_told(first[each]), _told(answers[each])) for each in whole)
    return Row(
        stack=stack.name,
        packages={"python": stack.python, **stack.packages},
        accuracy=next((number for number in headline_of(record).values() if number is not None), None),
        p50_s=record.latency.p50_s.value if record.latency else None,
        samples=record.samples,
        same_classes=len(common) - _changed_answers(answers, first, common),
        same_scores=len(common) - _changed_scores(answers, first, common),
        distance=answer_distance(pairs, precision) if answers is not first and whole else None,
    )


def _told(scored: Scored) -> Told:
    return Told(scored.classes, scored.scores, scored.answered.answer)


def _changed_answers(one: Answers, other: Answers, samples: Sequence[str]) -> int:
    return sum(one[each].answered != other[each].answered for each in samples)


def _changed_scores(one: Answers, other: Answers, samples: Sequence[str]) -> int:
    return sum(one[each] != other[each] for each in samples)


def _changes(records: Sequence[Record], rows: Sequence[Row], answers: Sequence[Answers]) -> list[PackageChange]:
    """Each pair of stacks that differ in one package alone; the largest effect first."""
    found: dict[tuple[str, str, str], PackageChange] = {}
    for one, other in itertools.combinations(range(len(records)), 2):
        before, after = rows[one].packages, rows[other].packages
        differing = [name for name in sorted({*before, *after}) if before.get(name) != after.get(name)]
        if len(differing) != 1:
            continue
        (name,) = differing
        common = [sample for sample in answers[one] if sample in answers[other]]
        found.setdefault(
            (name, before.get(name, "none"), after.get(name, "none")),
            PackageChange(
                package=name,
                before=before.get(name, "none"),
                after=after.get(name, "none"),
                moved_classes=_changed_answers(answers[one], answers[other], common),
                moved_scores=_changed_scores(answers[one], answers[other], common),
                stacks=(rows[one].stack, rows[other].stack),
            ),
        )
    return sorted(found.values(), key=lambda change: (-change.moved_classes, -change.moved_scores))
