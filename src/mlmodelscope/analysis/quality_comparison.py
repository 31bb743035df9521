"""Two records whose answers are more or less good: which samples differ, and how much."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from mlmodelscope.analysis.table import Analysis, Column, Table, Value
from mlmodelscope.errors import UsageError
from mlmodelscope.record.record import Record
from mlmodelscope.record.store import Store
from mlmodelscope.report import words
from mlmodelscope.task.quality import quality_of
from mlmodelscope.task.task import task_named

_SAME = 1e-9


@dataclass(frozen=True)
class QualityPair:
    sample: str
    first: float
    second: float
    same: bool
    """Whether both answers are the same to the last digit."""

    @property
    def change(self) -> float:
        return self.second - self.first


@dataclass(frozen=True)
class QualityComparison:
    task: str
    only_one: int
    """Samples that one of them lacks or failed at, or whose file is another."""
    pairs: tuple[QualityPair, ...]
    """Every sample of both, those whose quality differs most first."""

    @property
    def facts(self) -> list[tuple[str, str]]:
        better = sum(each.change > _SAME for each in self.pairs)
        worse = sum(each.change < -_SAME for each in self.pairs)
        mean = sum(each.change for each in self.pairs) / len(self.pairs)
        return [
            ("samples in both", words.count(len(self.pairs))),
            ("same answer", words.count(sum(each.same for each in self.pairs))),
            ("better in the second", words.count(better)),
            ("worse in the second", words.count(worse)),
            ("mean change of quality", f"{100 * mean:+.2f} points".replace("-", "\N{MINUS SIGN}")),
        ]

    def to_json(self) -> dict[str, Any]:
        apart = [{**asdict(each), "change": each.change} for each in self.pairs if not each.same]
        return {"samples": len(self.pairs), "only_one": self.only_one, "apart": apart}

    def analysis(self) -> Analysis:
        columns = [
            Column("sample", "sample"),
            Column("first", "quality in the first", kind="share"),
            Column("second", "quality in the second", kind="share"),
            Column("same", "same answer"),
        ]
        rows: list[tuple[Value, ...]] = [(each.sample, each.first, each.second, each.same) for each in self.pairs]
        notes = tuple(filter(None, [task_named(self.task).quality]))
        return Analysis("answers", "Answers", Table("answers", "Answers", columns, rows), {}, notes)


def compare_qualities(first: Record, second: Record, store: Store) -> QualityComparison:
    """Of the samples that both answered."""
    for name in ("task", "dataset"):
        one, other = (_about(each)[name] for each in (first, second))
        if one != other:
            raise UsageError(f"the answers cannot be compared: {one} in {first.id}, {other} in {second.id}")
    task = task_named(first.plan.task)
    rows = [
        {row["id"]: row for row in store.samples(each).to_pylist() if row["error"] is None} for each in (first, second)
    ]
    common = [name for name in rows[0] if name in rows[1] and rows[0][name]["digest"] == rows[1][name]["digest"]]
    if not common:
        raise UsageError(f"records {first.id} and {second.id} have no common samples")
    pairs = []
    for name in common:
        one, other = rows[0][name], rows[1][name]
        qualities = [quality_of(each.get("score")) or 0.0 for each in (one, other)]
        pairs.append(QualityPair(name, qualities[0], qualities[1], task.plain(one) == task.plain(other)))
    pairs.sort(key=lambda each: (-abs(each.change), each.same, each.sample))
    return QualityComparison(task.name, len(rows[0]) + len(rows[1]) - 2 * len(common), tuple(pairs))


def _about(record: Record) -> dict[str, str]:
    plan = record.plan
    return {"task": plan.task, "dataset": plan.dataset.reference}
