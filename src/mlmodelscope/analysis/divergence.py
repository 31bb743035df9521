"""How far two records' answers to the same samples lie apart.

A record keeps the k most probable classes of a sample. A class that only one record kept gets, in the other, an even
share of the probability that is left there: of all ways to fill the gap it is the one that claims least. What neither
kept is one more class. Where all classes were kept the numbers are exact.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mlmodelscope.errors import UsageError
from mlmodelscope.record.record import Record
from mlmodelscope.record.store import Store
from mlmodelscope.statistic.interval import wilson
from mlmodelscope.task.task import task_named
from mlmodelscope.types import Interval

_ROUNDING = 2.0**-24
"""Scores are kept with this precision: less than that is left nowhere."""


@dataclass(frozen=True)
class Answer:
    """What one record says of a sample."""

    classes: Sequence[int]
    scores: Sequence[float]


@dataclass(frozen=True)
class Apart:
    """How far two answers to one sample lie apart; in nats, None where scores are no probabilities."""

    sample: str
    label: int | None
    first: int
    """The class that the first record says."""
    second: int
    same_set: bool
    """Whether both kept the same classes, in any order."""
    overlap: float
    """Share of the kept classes that both kept."""
    kl: float | None = None
    """Of the second from the first; infinite where the second rules out what the first does not."""
    kl_back: float | None = None
    js: float | None = None
    hellinger: float | None = None

    @property
    def same(self) -> bool:
        return self.first == self.second


@dataclass(frozen=True)
class Divergence:
    first: str
    second: str
    samples: int
    """Samples that both answered."""
    only_one: int
    """Samples that one of them lacks or failed at."""
    other_bytes: int
    """Samples of the same name that are not the same file; they are left out."""
    kept: int
    """Classes kept of each sample."""
    exact: bool
    """Whether all classes were kept."""
    mass: tuple[float, float] | None
    """Probability that the kept classes hold, on average, in each record."""
    agree: Interval
    """Share of the samples to which both say the same class."""
    same_set: Interval
    overlap: float
    both_right: int | None
    first_right: int | None
    """Samples that only the first gets right."""
    second_right: int | None
    both_wrong: int | None
    means: Mapping[str, float | None]
    """Mean of each divergence; of `kl` over the samples where it is finite."""
    most: Mapping[str, float | None]
    infinite: int
    """Samples at which a Kullback–Leibler divergence is infinite."""
    notes: tuple[str, ...]
    apart: tuple[Apart, ...]
    """Every sample, those that differ most first."""

    def to_json(self, most: int = 20) -> dict[str, Any]:
        """For programs; of the samples those that differ most."""
        plain = {name: value for name, value in vars(self).items() if name not in ("apart", "agree", "same_set")}
        for name in ("agree", "same_set"):
            found: Interval = getattr(self, name)
            plain[name] = {"value": found.value, "low": found.low, "high": found.high}
        plain["apart"] = [
            {name: _finite(value) for name, value in vars(each).items()} for each in self.apart[:most] if _differs(each)
        ]
        return plain


MEASURES = ("kl", "kl_back", "js", "hellinger")


def compare_answers(first: Record, second: Record, store: Store) -> Divergence:
    """Read both records' answers and set them side by side, sample by sample."""
    one, other = (each.plan.dataset.reference for each in (first, second))
    if one != other:
        raise UsageError(f"the answers are to different samples: {one} in {first.id}, {other} in {second.id}")
    for record in (first, second):
        if task_named(record.plan.task).is_ruled:
            raise UsageError(
                f"the answers of {record.id} are not lists of classes",
                hint=f"mlmodelscope compare {first.id} {second.id}",
            )
    tables = [_answers(record, store) for record in (first, second)]
    classes = max(len(first.class_names), len(second.class_names))
    are_probabilities = first.plan.answer.probabilities and second.plan.answer.probabilities
    return measure(tables[0], tables[1], first.id, second.id, classes, are_probabilities)


def measure(
    first: Mapping[str, tuple[str, int | None, Answer]],
    second: Mapping[str, tuple[str, int | None, Answer]],
    first_id: str,
    second_id: str,
    classes: int,
    are_probabilities: bool,
) -> Divergence:
    """The same of answers by sample id, each with the sample's digest and label."""
    common = [name for name in first if name in second]
    same = [name for name in common if first[name][0] == second[name][0]]
    if not same:
        reason = "the files of the same names differ" if common else "no sample was answered in both"
        raise UsageError(f"records {first_id} and {second_id} have no common samples: {reason}")
    pairs = [(name, first[name][1], first[name][2], second[name][2]) for name in same]
    seen = max(number for _, _, one, other in pairs for number in (*one.classes, *other.classes))
    classes = max(classes, seen + 1)
    apart = [_apart(name, label, one, other, classes, are_probabilities) for name, label, one, other in pairs]
    kept = max(len(one.classes) for _, _, one, _ in pairs)
    exact = all(len(each.classes) >= classes for _, _, *both in pairs for each in both)
    labelled = [each for each in apart if each.label is not None]
    rights = [(each.first == each.label, each.second == each.label) for each in labelled]
    notes = _notes(exact, kept, are_probabilities, len(common) - len(same))
    return Divergence(
        first=first_id,
        second=second_id,
        samples=len(same),
        only_one=len(first) + len(second) - 2 * len(common),
        other_bytes=len(common) - len(same),
        kept=kept,
        exact=exact,
        mass=_mass(pairs) if are_probabilities else None,
        agree=wilson(sum(each.same for each in apart), len(apart)),
        same_set=wilson(sum(each.same_set for each in apart), len(apart)),
        overlap=sum(each.overlap for each in apart) / len(apart),
        both_right=rights.count((True, True)) if rights else None,
        first_right=rights.count((True, False)) if rights else None,
        second_right=rights.count((False, True)) if rights else None,
        both_wrong=rights.count((False, False)) if rights else None,
        means={name: _mean(getattr(each, name) for each in apart) for name in MEASURES},
        most={name: max(_known(getattr(each, name) for each in apart), default=None) for name in MEASURES},
        infinite=sum(math.inf in (each.kl, each.kl_back) for each in apart),
        notes=tuple(notes),
        apart=tuple(sorted(apart, key=_order)),
    )


def kullback_leibler(first: Sequence[float], second: Sequence[float]) -> float:
    """In nats, of the second distribution from the first."""
    total = 0.0
    for p, q in zip(first, second, strict=True):
        if p > 0:
            if q <= 0:
                return math.inf
            total += p * math.log(p / q)
    return max(total, 0.0)


def jensen_shannon(first: Sequence[float], second: Sequence[float]) -> float:
    """In nats; ln 2 at most."""
    middle = [(p + q) / 2 for p, q in zip(first, second, strict=True)]
    return (kullback_leibler(first, middle) + kullback_leibler(second, middle)) / 2


def hellinger(first: Sequence[float], second: Sequence[float]) -> float:
    """Between 0, where both are the same, and 1, where they have nothing in common."""
    apart = sum((math.sqrt(p) - math.sqrt(q)) ** 2 for p, q in zip(first, second, strict=True))
    return math.sqrt(min(apart / 2, 1.0))


def side_by_side(first: Answer, second: Answer, classes: int) -> tuple[list[float], list[float]]:
    """Both answers as distributions over the classes that either kept, and one more for the rest."""
    union = list(dict.fromkeys((*first.classes, *second.classes)))
    found = []
    for answer in (first, second):
        scores = dict(zip(answer.classes, answer.scores, strict=True))
        others = classes - len(scores)
        left = max(1.0 - math.fsum(scores.values()), others * _ROUNDING) if others > 0 else 0.0
        values = [max(scores[name], 0.0) if name in scores else left / others for name in union]
        if classes > len(union):
            values.append(left * (classes - len(union)) / others)
        whole = math.fsum(values)
        found.append([value / whole for value in values] if whole > 0 else values)
    return found[0], found[1]


def _apart(name: str, label: int | None, one: Answer, other: Answer, classes: int, are_probabilities: bool) -> Apart:
    mine, theirs = set(one.classes), set(other.classes)
    numbers: dict[str, float] = {}
    if are_probabilities:
        p, q = side_by_side(one, other, classes)
        numbers = {
            "kl": kullback_leibler(p, q),
            "kl_back": kullback_leibler(q, p),
            "js": jensen_shannon(p, q),
            "hellinger": hellinger(p, q),
        }
    overlap = len(mine & theirs) / max(len(mine), len(theirs), 1)
    return Apart(name, label, one.classes[0], other.classes[0], mine == theirs, overlap, **numbers)


def _answers(record: Record, store: Store) -> dict[str, tuple[str, int | None, Answer]]:
    if record.bench is not None or record.profile is not None or record.training is not None:
        raise UsageError(f"record {record.id} is no evaluation: it has no answers")
    table, columns = store.samples(record), ["id", "digest", "label", "classes", "scores"]
    if not set(columns) <= set(table.column_names):
        raise UsageError(
            f"the answers of record {record.id} are not lists of classes; only its numbers can be compared"
        )
    rows = table.select(columns).to_pylist()
    found = {
        row["id"]: (row["digest"] or "", row["label"], Answer(row["classes"], row["scores"]))
        for row in rows
        if row["classes"]
    }
    if not found:
        raise UsageError(f"no sample of record {record.id} was answered with classes")
    return found


def _mass(pairs: Sequence[tuple[str, int | None, Answer, Answer]]) -> tuple[float, float]:
    one = math.fsum(math.fsum(first.scores) for _, _, first, _ in pairs) / len(pairs)
    other = math.fsum(math.fsum(second.scores) for _, _, _, second in pairs) / len(pairs)
    return one, other


def _notes(exact: bool, kept: int, are_probabilities: bool, other_bytes: int) -> list[str]:
    notes = []
    if not are_probabilities:
        notes.append("the scores are no probabilities, so that only the classes can be compared")
    elif not exact:
        notes.append(
            f"the records keep the {kept} most probable classes: the rest is one more class, and a class that only one "
            "record kept has an even share of the other's rest"
        )
    if other_bytes:
        notes.append(f"{other_bytes} samples of the same name are other files and are left out")
    return notes


def _order(each: Apart) -> tuple[float, bool, float, str]:
    return (-(each.js or 0.0), each.same, each.overlap, each.sample)


def _differs(each: Apart) -> bool:
    return not each.same or not each.same_set or bool(each.js)


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None and math.isfinite(value)]


def _mean(values: Iterable[float | None]) -> float | None:
    known = _known(values)
    return math.fsum(known) / len(known) if known else None


def _finite(value: Any) -> Any:
    """JSON knows no infinity."""
    return "infinite" if isinstance(value, float) and math.isinf(value) else value
