"""Which of two records is more accurate: judged where both answered the same samples, and only there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mlmodelscope.analysis.divergence import Divergence
from mlmodelscope.record.record import Record
from mlmodelscope.report import words
from mlmodelscope.report.numbers import headline_of
from mlmodelscope.statistic.interval import wilson
from mlmodelscope.statistic.mcnemar import mcnemar
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
    shared = (name for name in headline_of(one) if name in one.metrics and name in other.metrics)
    name = next(shared, None)
    return (words.title(name), _spelled(one, name), _spelled(other, name)) if name is not None else None


def _spelled(record: Record, name: str) -> str:
    number, dataset = record.metrics[name], record.plan.dataset
    over = words.plural(record.samples - record.failed, "sample")
    between = f" ({words.measured_range(number)})" if number.interval is not None else ""
    return f"{words.measured_value(number)}{between} of {over} of {dataset.name}"
