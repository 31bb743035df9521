"""Two records whose answers are more or less good: which samples differ, and how much."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any, Literal

from mlmodelscope.analysis.table import Analysis, Column, Table, Value
from mlmodelscope.errors import UsageError
from mlmodelscope.record.record import Record
from mlmodelscope.record.store import Store
from mlmodelscope.report import words
from mlmodelscope.task.quality import quality_of
from mlmodelscope.task.task import task_named

_SAME = 1e-9
_ROWS = 64
Change = Literal["worse", "better", "other"]
"""What became of an answer's quality in the second record; `other` where another answer is just as good."""


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
    def mean_change(self) -> float:
        return sum(each.change for each in self.pairs) / len(self.pairs)

    @property
    def facts(self) -> list[tuple[str, str]]:
        better = sum(each.change > _SAME for each in self.pairs)
        worse = sum(each.change < -_SAME for each in self.pairs)
        return [
            ("samples in both", words.count(len(self.pairs))),
            ("same answer", words.count(sum(each.same for each in self.pairs))),
            ("better in the second", words.count(better)),
            ("worse in the second", words.count(worse)),
            ("mean change of quality", f"{100 * self.mean_change:+.2f} points".replace("-", "\N{MINUS SIGN}")),
        ]

    def changed(self) -> dict[Change, list[QualityPair]]:
        """Samples with another answer, by what became of it, those whose quality changed most first."""
        found: dict[Change, list[QualityPair]] = {"worse": [], "better": [], "other": []}
        for each in self.pairs:
            if not each.same:
                kind: Change = "other" if abs(each.change) <= _SAME else "better" if each.change > 0 else "worse"
                found[kind].append(each)
        return found

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
    rows = [_graded(each, store) for each in (first, second)]
    common = [name for name in rows[0] if name in rows[1] and rows[0][name].digest == rows[1][name].digest]
    if not common:
        raise UsageError(f"records {first.id} and {second.id} have no common samples")
    pairs = []
    for name in common:
        before, after = rows[0][name], rows[1][name]
        pairs.append(QualityPair(name, before.quality, after.quality, before.answer == after.answer))
    pairs.sort(key=lambda each: (-abs(each.change), each.same, each.sample))
    only_one = len(rows[0]) + len(rows[1]) - 2 * len(common)
    return QualityComparison(first.plan.task, only_one, tuple(pairs))


@dataclass(frozen=True)
class _Graded:
    digest: str
    quality: float
    answer: bytes
    """Its sha256: pictures and maps of a whole dataset would not fit into memory twice."""


def _graded(record: Record, store: Store) -> dict[str, _Graded]:
    """Every sample that was answered."""
    task, found = task_named(record.plan.task), {}
    for batch in store.samples(record).to_batches(max_chunksize=_ROWS):
        for row in batch.to_pylist():
            if row["error"] is None:
                answer = json.dumps(task.plain(row), sort_keys=True).encode()
                quality = quality_of(row.get("score")) or 0.0
                found[row["id"]] = _Graded(row["digest"], quality, hashlib.sha256(answer).digest())
    return found


def _about(record: Record) -> dict[str, str]:
    plan = record.plan
    return {"task": plan.task, "dataset": plan.dataset.reference}
