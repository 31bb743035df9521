"""Compares one model in several stacks: what each measured, and which library changed the answers."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mlmodelscope.record.log import expected_rows
from mlmodelscope.record.record import Record
from mlmodelscope.record.store import Store

Answers = Mapping[str, tuple[object, ...]]


@dataclass(frozen=True)
class Row:
    """One stack of a sweep, beside the first."""

    stack: str
    packages: dict[str, str]
    """Version of each package that the plan uses, and of Python."""
    top1: float | None
    p50_s: float | None
    samples: int
    same_classes: int
    """Samples whose best class is that of the first stack."""
    same_scores: int
    """Samples whose scores have the same bits as in the first stack."""


@dataclass(frozen=True)
class Cause:
    """A package whose change alone moved answers, or did not."""

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


def compare_stacks(records: Sequence[Record], store: Store) -> tuple[list[Row], list[Cause]]:
    """Rows in the order of the records, and what can be said of single packages."""
    answers = [_answers(record, store) for record in records]
    rows = [_row(record, each, answers[0]) for record, each in zip(records, answers, strict=True)]
    return rows, _causes(records, rows, answers)


def _answers(record: Record, store: Store) -> Answers:
    return {row.sample: (row.classes[:1], row.scores, row.answer, row.error) for row in expected_rows(record, store)}


def _row(record: Record, answers: Answers, first: Answers) -> Row:
    stack = record.plan.stack
    return Row(
        stack=stack.name,
        packages={"python": stack.python, **stack.packages},
        top1=record.metrics.top1.value if record.metrics.top1 else None,
        p50_s=record.latency.p50_s.value if record.latency else None,
        samples=record.samples,
        same_classes=sum(_class(answers[name]) == _class(first.get(name, ())) for name in answers),
        same_scores=sum(answers[name] == first.get(name) for name in answers),
    )


def _class(answer: tuple[object, ...]) -> tuple[object, ...]:
    return (answer[0], answer[2], answer[3]) if answer else ()


def _causes(records: Sequence[Record], rows: Sequence[Row], answers: Sequence[Answers]) -> list[Cause]:
    """Two stacks that differ in one package alone tell what that package does."""
    found: dict[tuple[str, str, str], Cause] = {}
    for one, other in itertools.combinations(range(len(records)), 2):
        before, after = rows[one].packages, rows[other].packages
        changed = [name for name in sorted({*before, *after}) if before.get(name) != after.get(name)]
        if len(changed) != 1:
            continue
        (name,) = changed
        common = [sample for sample in answers[one] if sample in answers[other]]
        found.setdefault(
            (name, before.get(name, "none"), after.get(name, "none")),
            Cause(
                package=name,
                before=before.get(name, "none"),
                after=after.get(name, "none"),
                moved_classes=sum(_class(answers[one][each]) != _class(answers[other][each]) for each in common),
                moved_scores=sum(answers[one][each] != answers[other][each] for each in common),
                stacks=(rows[one].stack, rows[other].stack),
            ),
        )
    return sorted(found.values(), key=lambda cause: (-cause.moved_classes, -cause.moved_scores))
