"""Which of two records is more accurate: judged where both answered the same samples, and only there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mlmodelscope.analysis.divergence import Divergence
from mlmodelscope.metric.interval import wilson
from mlmodelscope.metric.mcnemar import mcnemar
from mlmodelscope.record.record import Record
from mlmodelscope.report import words
from mlmodelscope.types import Interval

_SIGNIFICANT = 0.05


@dataclass(frozen=True)
class PairedAccuracy:
    """Top-1 of two records over the labeled samples that both answered."""

    first: Interval
    second: Interval
    samples: int
    only_first: int
    """Samples that only the first gets right."""
    only_second: int
    p_value: float
    """McNemar's exact test: how likely so unequal a split is, were both equally accurate."""

    @property
    def verdict(self) -> Literal["more accurate", "less accurate", "no difference"]:
        """The second, against the first."""
        if self.p_value >= _SIGNIFICANT:
            return "no difference"
        return "more accurate" if self.only_second > self.only_first else "less accurate"

    @property
    def sentence(self) -> str:
        split = f"{self.only_first} right in the first only, {self.only_second} in the second only"
        test = f"McNemar's test: p = {self.p_value:.2g}; {split}, of {words.plural(self.samples, 'sample')}"
        if self.verdict == "no difference":
            return f"no significant difference in accuracy ({test})"
        return f"the second is {self.verdict} ({test})"


def paired_accuracy(found: Divergence) -> PairedAccuracy | None:
    """None where the samples have no labels."""
    if None in (found.both_right, found.first_right, found.second_right, found.both_wrong):
        return None
    both, first, second = found.both_right or 0, found.first_right or 0, found.second_right or 0
    samples = both + first + second + (found.both_wrong or 0)
    intervals = (wilson(both + first, samples), wilson(both + second, samples))
    return PairedAccuracy(*intervals, samples, first, second, mcnemar(second, first))


def accuracy_row(one: Record, other: Record) -> tuple[str, str, str] | None:
    """Name, first, second: each with the samples that it is over."""
    if one.metrics.top1 is None or other.metrics.top1 is None:
        return None
    return "top-1", _spelled(one), _spelled(other)


def _spelled(record: Record) -> str:
    top1, dataset = record.metrics.top1, record.plan.dataset
    assert top1 is not None
    over = words.plural(record.samples - record.failed, "sample")
    return f"{words.percent(top1.value)} ({words.percent_range(top1)}) of {over} of {dataset.name}"
