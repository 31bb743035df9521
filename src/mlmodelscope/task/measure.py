"""A measure: a number over any set of samples, with its unit, its direction and its uncertainty. One registry for all.

What a measure is computed from is a row for each sample, in the form of its task: what is true of the sample and what
the model answered, or a few numbers made of the two. Whoever shows, keeps, claims, compares or searches a number asks
the measure; nobody else knows its name.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any, Literal, Protocol

from mlmodelscope.errors import MetricError
from mlmodelscope.plugins.registry import Registry
from mlmodelscope.statistic.bootstrap import bootstrapped, paired_difference
from mlmodelscope.statistic.population import narrowed, share_interval
from mlmodelscope.types import Interval
from mlmodelscope_worker.registry import add

Better = Literal["higher", "lower"]
_LONGEST_PART = 100
Row = Any
"""What a task's measures need of one sample."""


class Accumulator(Protocol):
    """Takes rows in one by one, so that the memory it needs does not depend on how many there are."""

    def update(self, target: Any, answer: Any) -> None:
        """Take in one sample that has an answer."""

    def compute(self) -> Any:
        """The number, with its interval where it has one; MetricError on no data."""


@dataclass(frozen=True)
class Unit:
    """What a number is counted in, and how people write it."""

    name: str
    symbol: str = ""
    published: str = ""
    """What claims call it."""
    factor: float = 1.0
    """By which a number is multiplied to be written so."""

    @property
    def apart(self) -> str:
        """What two numbers lie apart in: percentages lie points apart."""
        return "points" if self.symbol == "%" else self.symbol


SHARE = Unit("share", "%", "percent", 100.0)
DECIBEL = Unit("dB", "dB", "dB")
NUMBER = Unit("number")
UNITS = {each.name: each for each in (SHARE, DECIBEL, NUMBER)}


@dataclass(frozen=True)
class Measure:
    """One measure of one or several tasks."""

    name: str
    title: str
    tasks: tuple[str, ...]
    better: Better = "higher"
    unit: Unit = SHARE
    bounds: tuple[float, float] = (0.0, 1.0)
    """What it cannot leave."""
    aliases: tuple[str, ...] = ()
    """Other names under which it is published."""
    outcome: Callable[[Row], bool] | None = None
    """For a share of samples: whether a sample counts."""
    kept_classes: int = 1
    """Best classes that an answer must keep for it."""
    needs_scores: bool = False
    """Whether it depends on more than the order of the answers."""
    is_of_the_best: bool = False
    """Whether it counts the samples whose best class is right: how far that class is ahead then lets it be foreseen."""
    is_recorded: bool = True
    """Whether records keep it; others follow from one that is kept."""
    is_stable: bool = True
    """Whether its value on some of the samples is an unbiased estimate of that on all."""
    parts: str = ""
    """What it can be computed of alone, such as `type of entity`: `NAME:PART` is the measure of that part."""

    @property
    def is_better_higher(self) -> bool:
        return self.better == "higher"

    @property
    def origin(self) -> object:
        """The code that computes it."""
        return type(self)

    @property
    def meaning(self) -> str:
        """What it is, in a sentence or two."""
        return inspect.getdoc(self.origin) or ""

    @property
    def has_right_and_wrong(self) -> bool:
        """Whether a sample is right or wrong by it; else its answer is only more or less good."""
        return self.outcome is not None

    def quality(self, row: Row) -> float:
        """How good the answer to one sample is, between 0 and 1; for a share, whether the sample counts as good."""
        if self.outcome is None:
            raise NotImplementedError
        return float(self.outcome(row) == self.is_better_higher)

    def number(self, rows: Sequence[Row]) -> float:
        """Of these samples."""
        raise NotImplementedError

    def interval(self, rows: Sequence[Row], population: int | None = None) -> Interval:
        """The number with its uncertainty, narrowed by the share of the population that has been seen."""
        raise NotImplementedError

    def difference(self, before: Sequence[Row], after: Sequence[Row]) -> tuple[float, float]:
        """(after minus before, its standard deviation) on the same samples."""
        raise NotImplementedError

    def part(self, part: str) -> Measure:
        """The same measure of one part alone; it is recorded where it is claimed."""
        return replace(self, name=f"{self.name}:{part}", title=f"{self.title}, {part}", aliases=(), is_recorded=False)


@dataclass(frozen=True, kw_only=True)
class CountedMeasure(Measure):
    """A measure that the host counts itself, row by row; a row is (target, answer), without an answer if it failed."""

    make: Callable[[], Accumulator]
    failed: Any = None
    """What stands for the answer of a sample that failed; without one such samples are passed over."""
    good: Callable[[Row], bool] | None = None
    """Whether the answer to a sample is good, where the measure is not a share of samples."""
    true: Callable[[Any, Any], Any] = lambda target, answer: target
    """What a target means to the accumulator, once there is an answer."""

    @property
    def has_right_and_wrong(self) -> bool:
        return self.outcome is not None or self.good is not None

    def quality(self, row: Row) -> float:
        return float(self.good(row)) if self.good is not None else super().quality(row)

    @property
    def origin(self) -> object:
        return getattr(self.make, "func", self.make)  # what a `partial` is made of

    def number(self, rows: Sequence[Row]) -> float:
        if self.outcome is not None:
            return sum(map(self.outcome, rows)) / len(rows)
        accumulator = self.make()
        for target, answer in rows:
            known = self.failed if answer is None else answer
            if known is not None:
                accumulator.update(self.true(target, known), known)
        computed = accumulator.compute()
        return float(computed.value if isinstance(computed, Interval) else computed)

    def interval(self, rows: Sequence[Row], population: int | None = None) -> Interval:
        if not rows:
            raise MetricError(f"{self.title} of no samples is not a number")
        if self.outcome is not None:
            return share_interval(sum(map(self.outcome, rows)), len(rows), population)
        return narrowed(bootstrapped(rows, self.number, bounds=self.bounds), len(rows), population)

    def difference(self, before: Sequence[Row], after: Sequence[Row]) -> tuple[float, float]:
        return paired_difference(before, after, self.number)


class Measures(Registry[Measure]):
    """Measures by name, and by `NAME:PART` those of a part."""

    def find(self, name: str) -> Measure | None:
        base, _, part = name.partition(":")
        found = super().find(base)
        if not part or found is None:
            return found if base == name else None
        return found.part(part) if found.parts and len(part) <= _LONGEST_PART else None

    def __contains__(self, name: str) -> bool:
        return self.get(name) is not None if ":" in name else super().__contains__(name)


MEASURES = Measures(
    "measure",
    "measures",
    {},
    Measure,
    attrgetter("origin"),
    named=attrgetter("name"),
    built_in={
        **dict.fromkeys(
            ("top1", "top5", "top1-error", "top5-error", "class-accuracy", "ece"), "mlmodelscope.task.classification"
        ),
        **dict.fromkeys(
            ("class-f1", "class-f1-micro", "class-f1-macro", "class-f1-weighted", "mcc")
            + ("log-loss", "brier", "roc-auc", "roc-auc-ovr"),
            "mlmodelscope.task.class_measures",
        ),
        **dict.fromkeys(
            ("ap", "ap50", "ap75", "ap-small", "ap-medium", "ap-large", "ar1", "ar10", "ar100")
            + ("ar-small", "ar-medium", "ar-large", "voc-ap", "voc-ap11"),
            "mlmodelscope.task.detection",
        ),
        **dict.fromkeys(
            ("miou", "pixel-accuracy", "mean-accuracy", "fw-iou", "dice"), "mlmodelscope.task.segmentation"
        ),
        **dict.fromkeys(("psnr", "ssim"), "mlmodelscope.task.enhancement"),
        **dict.fromkeys(
            ("mask-ap", "mask-ap50", "mask-ap75", "mask-ap-small", "mask-ap-medium", "mask-ap-large")
            + ("mask-ar1", "mask-ar10", "mask-ar100", "mask-ar-small", "mask-ar-medium", "mask-ar-large"),
            "mlmodelscope.task.instances",
        ),
        **dict.fromkeys(
            ("oks-ap", "oks-ap50", "oks-ap75", "oks-ap-medium", "oks-ap-large")
            + ("oks-ar", "oks-ar50", "oks-ar75", "oks-ar-medium", "oks-ar-large"),
            "mlmodelscope.task.keypoints",
        ),
        **dict.fromkeys(
            ("label-ap", "label-f1-micro", "label-f1-macro", "hamming-loss", "label-exact-match"),
            "mlmodelscope.task.multilabel",
        ),
        **dict.fromkeys(
            ("mse", "rmse", "mae", "r2", "max-error", "explained-variance", "median-absolute-error"),
            "mlmodelscope.task.regression",
        ),
        **dict.fromkeys(("smape", "mase", "mape"), "mlmodelscope.task.forecasting"),
        **dict.fromkeys(("spearman", "pearson", "kendall"), "mlmodelscope.task.similarity"),
        **dict.fromkeys(("anomaly-auc", "anomaly-pauc"), "mlmodelscope.task.anomaly"),
        **dict.fromkeys(
            ("ndcg10", "mrr10", "recall1", "recall5", "recall10", "recall100", "retrieval-map"),
            "mlmodelscope.task.embedding",
        ),
        **dict.fromkeys(("hit-rate", "hit-ndcg"), "mlmodelscope.task.recommendation"),
        **dict.fromkeys(
            ("span-f1", "span-precision", "span-recall", "span-f1-macro", "span-precision-macro", "span-recall-macro")
            + ("token-f1", "token-precision", "token-recall")
            + ("token-f1-macro", "token-precision-macro", "token-recall-macro"),
            "mlmodelscope.task.tokens",
        ),
        **dict.fromkeys(("exact-match", "answer-f1"), "mlmodelscope.task.answering"),
        **dict.fromkeys(
            ("bleu", "chrf", "chrfpp", "ter", "rouge-1", "rouge-2", "rouge-l"), "mlmodelscope.task.translation"
        ),
        **dict.fromkeys(("wer", "cer"), "mlmodelscope.task.speech"),
        **dict.fromkeys(
            ("choice-accuracy", "choice-accuracy-characters", "choice-accuracy-bytes", "choice-accuracy-tokens")
            + ("choice-accuracy-unconditional",),
            "mlmodelscope.task.choice",
        ),
        **dict.fromkeys(("numeric-match", "contains", "any-match"), "mlmodelscope.task.generation"),
        **dict.fromkeys(("pass-at-1", "pass-at-5", "pass-at-10", "pass-at-100"), "mlmodelscope.task.generation"),
        **dict.fromkeys(
            ("perplexity", "perplexity-word", "perplexity-byte", "bits-per-byte", "perplexity-text", "greedy-accuracy"),
            "mlmodelscope.task.likelihood",
        ),
    },
)


def measure(
    name: str, title: str, tasks: Sequence[str], **more: Any
) -> Callable[[Callable[[], Accumulator]], Callable[[], Accumulator]]:
    """Register a class with `update` and `compute` as a measure of these tasks."""

    def register(make: Callable[[], Accumulator]) -> Callable[[], Accumulator]:
        add(MEASURES.things, name, CountedMeasure(name, title, tuple(tasks), make=make, **more), MEASURES.code)
        return make

    return register


def find_measure(name: str, tasks: Collection[str] = ()) -> Measure | None:
    """By its name or an alias, however it is spelled: `Top-1`, `top_1` and `acc@1` are one.

    `token-f1:PER` is the measure of one part, whose name is as the data has it. Where measures of several tasks are
    published under one name, such as `accuracy`, that of `tasks` is meant.
    """
    base, colon, part = name.strip().partition(":")
    if colon:
        whole = find_measure(base, tasks)
        return MEASURES.get(f"{whole.name}:{part}") if whole is not None and part else None
    plain = base.lower().replace("_", "-")
    found = MEASURES.get(plain) if plain in MEASURES else None
    if found is not None:
        return found
    named = [each for each in MEASURES.all().values() if plain in each.aliases]
    return next((each for each in named if not set(tasks).isdisjoint(each.tasks)), named[0] if named else None)


def counterpart(found: Measure, task: str) -> Measure:
    """What a measure is called by is another one's name, too, in this task: that one. Else the measure itself."""
    if task in found.tasks:
        return found
    shared = (each for each in MEASURES.all().values() if task in each.tasks and set(each.aliases) & set(found.aliases))
    return next(shared, found)


def measure_or_bare(name: str) -> Measure:
    """The measure of this name; a bare number, where it is from a package that is not installed."""
    return MEASURES.get(name) or Measure(name, name, (), unit=NUMBER, bounds=(-math.inf, math.inf))


def finite(computed: Any) -> Interval | float:
    """What an accumulator computed, refused rather than lost in a crash where it is not a number."""
    values = (computed.value, computed.low, computed.high) if isinstance(computed, Interval) else (computed,)
    if not all(isinstance(each, (int, float)) and math.isfinite(each) for each in values):
        raise MetricError(f"it computed {str(computed)[:80]}, which is neither a finite number nor an Interval of them")
    return computed if isinstance(computed, Interval) else float(computed)
