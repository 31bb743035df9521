"""How far the answers of two evaluations are apart, and whether rounding explains it: by the tolerance of `diff`."""

from __future__ import annotations

import math
import mmap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from mlmodelscope.errors import ArtifactError
from mlmodelscope.layer.rounding import at_most, coarser, computed_in, derived
from mlmodelscope.plan.plan import Plan, PlannedFile
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.settings import Settings

Judgment = Literal["same bits", "rounding", "unclear", "fault"]
DEPTH = 100
"""Answers are kept without the layers that made them: as many layers as in common networks are taken for granted."""
_QUANTIZED = (b"QuantizeLinear", b"QLinearConv", b"QLinearMatMul", b"MatMulInteger", b"ConvInteger")
_MOST_BYTES = 2 << 30


@dataclass(frozen=True)
class AnswerDistance:
    """Over all samples that both have answered."""

    samples: int
    largest: float
    """Largest difference of a score, a coordinate or another number."""
    relative: float
    """The same, of the largest number of its kind: scores are compared with scores, and widths with widths."""
    reshaped: int
    """Samples whose answers have other texts, classes or counts of things, so that no number tells how far apart they
    are."""
    unequal: int
    """Samples whose answers are not the same to the bit."""
    judgment: Judgment
    tolerance: float
    """What rounding explains, of the largest number."""

    @property
    def words(self) -> str:
        """The judgment with its reason."""
        if self.judgment == "same bits":
            return "the same answers to the bit"
        said = f"up to {self.largest:.2g} apart, {self.relative:.1g} of the largest value"
        if self.reshaped:
            which = f"{self.reshaped} of {self.samples} answers have another text, class or number of things"
            said = f"{which}; the others are {said}"
        return f"{said}; rounding explains {self.tolerance:.1g}"


@dataclass(frozen=True)
class Told:
    """The answer to one sample: scores by class, or whatever the task's answer is as plain values."""

    classes: Sequence[int] = ()
    scores: Sequence[float] = ()
    answer: object = None


def answer_distance(pairs: Iterable[tuple[Told, Told]], precision: str) -> AnswerDistance:
    found = _Sums()
    for one, other in pairs:
        found.add(one, other)
    tolerance = derived(precision, DEPTH)
    largest, relative = found.furthest()
    judgment: Judgment = "fault"
    if not found.unequal:
        judgment = "same bits"
    elif relative > at_most(precision, DEPTH):
        judgment = "fault"
    elif found.reshaped or relative > tolerance:
        judgment = "unclear"
    else:
        judgment = "rounding"
    return AnswerDistance(found.samples, largest, relative, found.reshaped, found.unequal, judgment, tolerance)


def precision_of(plans: Iterable[Plan], settings: Settings) -> str:
    """The coarsest type that any of them computes in, as far as options and files tell."""
    found, artifacts = "float32", ArtifactStore(settings)
    for plan in plans:
        found = coarser(found, computed_in(plan.predictor.options))
        graph = plan.model.graph
        if graph is not None and graph.url.endswith(".onnx") and _is_quantized(graph, artifacts):
            found = coarser(found, "int8")
    return found


def _is_quantized(planned: PlannedFile, artifacts: ArtifactStore) -> bool:
    """Whether an ONNX file that is on this machine has operators that compute in int8."""
    try:
        if not artifacts.is_at_hand(planned.url, planned.sha256):
            return False
        graph = artifacts.fetch(planned.url, planned.sha256).path
        if not 0 < graph.stat().st_size <= _MOST_BYTES:
            return False
        with graph.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return any(content.find(name) >= 0 for name in _QUANTIZED)
    except (OSError, ArtifactError):
        return False


class _Sums:
    """What is known of the answers so far."""

    def __init__(self) -> None:
        self.samples = self.reshaped = self.unequal = 0
        self._kinds: dict[str, tuple[float, float]] = {}
        """(largest difference, largest number) of scores, of coordinates and so on."""

    def add(self, one: Told, other: Told) -> None:
        self.samples += 1
        if one == other:
            for each in one.scores:
                self._apart(each, each)
            return
        self.unequal += 1
        if one.classes or other.classes:
            self._add_classes(one, other)
        elif not self._add_values(one.answer, other.answer):
            self.reshaped += 1

    def furthest(self) -> tuple[float, float]:
        """(largest difference, of the largest number) of the kind that is furthest apart."""
        found = [(apart, apart / scale if scale else 0.0) for apart, scale in self._kinds.values()]
        return max(found, key=lambda each: (each[1], each[0]), default=(0.0, 0.0))

    def _add_classes(self, one: Told, other: Told) -> None:
        mine = dict(zip(one.classes, one.scores, strict=False))
        theirs = dict(zip(other.classes, other.scores, strict=False))
        for label in {*mine, *theirs}:
            if label in mine and label in theirs:
                self._apart(mine[label], theirs[label])
            else:  # the other one's score is not known, but no larger than the least that it kept
                known, kept = (mine, theirs) if label in mine else (theirs, mine)
                least = min(kept.values(), default=0.0)
                self._apart(max(known[label], least), least)

    def _add_values(self, one: object, other: object, kind: str = "") -> bool:
        """Whether the two are built alike, so that their numbers can be compared."""
        if isinstance(one, float) and isinstance(other, float | int) and not isinstance(other, bool):
            self._apart(one, other, kind)
            return True
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            return one.keys() == other.keys() and all([self._add_values(one[key], other[key], str(key)) for key in one])
        if isinstance(one, list | tuple) and isinstance(other, list | tuple):
            pairs = list(zip(one, other, strict=False))
            return len(one) == len(other) and all([self._add_values(*pair, kind) for pair in pairs])
        return one == other

    def _apart(self, one: float, other: float, kind: str = "") -> None:
        apart, scale = self._kinds.get(kind, (0.0, 0.0))
        scale = max(scale, *(abs(each) for each in (one, other) if math.isfinite(each)), 0.0)
        if one != other and not (math.isnan(one) and math.isnan(other)):
            between = abs(one - other)
            apart = max(apart, between if math.isfinite(between) else math.inf)
        self._kinds[kind] = apart, scale
