"""The layers of two readings in pairs, each with how far it is apart and what that means."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from mlmodelscope.diff.reading import Held, Reading
from mlmodelscope.diff.tolerance import Tolerance
from mlmodelscope.layer.alignment import CERTAIN, align, worth
from mlmodelscope.layer.rounding import at_most, coarser

Verdict = Literal["agrees", "differs", "reordered", "not finite", "shapes differ", "alone", "passed over"]
BAD: tuple[Verdict, ...] = ("differs", "not finite", "shapes differ")
_FLOATS = ("float16", "bfloat16", "float32", "float64")
_WHOLE = ("int8", "uint8")
_INTEGERS_APART = 0.02
"""Share of indices that rounding may turn around: which of two equal scores is the larger one."""
_AHEAD = 3

Compare = Callable[[Sequence[Mapping[str, Any]]], Sequence[Mapping[str, Any]]]
"""Pairs of tensors, each told as `one` and `other`, and how far each is apart."""


@dataclass(frozen=True)
class Apart:
    """How far the second tensor is from the first; declared once more than in the measuring process, which needs
    numpy."""

    arrangement: str
    largest: float
    scale: float
    relative: float
    spread: float
    cosine: float | None
    not_finite: tuple[int, int]
    different_not_finite: int
    unequal: float
    axes: tuple[int, ...]


@dataclass(frozen=True)
class LayerPair:
    """A layer of both sides, or of one of them."""

    first: Held | None
    second: Held | None
    apart: Apart | None = None
    off: float = 0.0
    """What the tolerance is for: the largest difference, of the largest value. Where int8 is computed in, the root of
    the mean squared difference, of that of the values: what is beyond the calibrated range is cut off."""
    tolerance: float = 0.0
    verdict: Verdict = "alone"
    is_output: bool = False
    """Whether it is what the model answers with, when nothing looks on."""

    @property
    def name(self) -> str:
        held = self.first or self.second
        assert held is not None
        return held.name

    @property
    def measured_by(self) -> str:
        """What `off` is a part of."""
        return "largest value" if self.apart is None or self.off == self.apart.relative else "size"

    @property
    def kind(self) -> str:
        return (self.first.kind if self.first else "") or (self.second.kind if self.second else "")


def pair_readings(first: Reading, second: Reading, tolerance: Tolerance, compare: Compare) -> list[LayerPair]:
    """Layers in the order of execution, then the outputs."""
    matches = align([each.seen for each in first.layers], [each.seen for each in second.layers])
    layers = [
        LayerPair(first.layers[one] if one is not None else None, second.layers[other] if other is not None else None)
        for one, other in matches
    ]
    outputs = [LayerPair(one, other, is_output=True) for one, other in _outputs(first.outputs, second.outputs)]
    whole = [pair for pair in (*layers, *outputs) if pair.first is not None and pair.second is not None]
    told = compare(
        [
            {"one": pair.first.described(), "other": pair.second.described()}
            for pair in whole
            if pair.first and pair.second
        ]
    )
    found = {id(pair): _apart(each) for pair, each in zip(whole, told, strict=True)}
    return _excuse(
        _judge([replace(pair, apart=found.get(id(pair))) for pair in (*layers, *outputs)], tolerance, first.inputs)
    )


def _apart(told: Mapping[str, Any]) -> Apart:
    return Apart(**{**told, "not_finite": tuple(told["not_finite"]), "axes": tuple(told["axes"])})


def judge_end(layer: Held, answer: Held, told: Mapping[str, Any], reading: Reading, tolerance: Tolerance) -> LayerPair:
    """Whether the layer that makes an answer is that answer, by the most that rounding explains at this depth: one of
    the two may have been computed by other methods all the way."""
    precision = "float64"
    for each in (*reading.inputs, *reading.layers, answer):
        if each.element_type in (*_FLOATS, *_WHOLE):
            precision = coarser(precision, each.element_type)
    apart = _apart(told)
    off = apart.spread if coarser(precision, tolerance.precision) in _WHOLE else apart.relative
    depth = max(1, len(reading.layers))
    allowed = at_most(coarser(precision, tolerance.precision), depth)  # a user's tolerance below that is not about this
    allowed = max(allowed, tolerance.at((layer.name, layer.layer), depth, precision, 0.0))
    pair = LayerPair(layer, answer, apart, off, allowed, is_output=True)
    return replace(pair, verdict=_verdict(pair, apart, off, allowed))


def _outputs(first: Sequence[Held], second: Sequence[Held]) -> list[tuple[Held | None, Held | None]]:
    """By name where all names are the same, else by their values, their shapes and their order."""
    names = [each.name for each in second]
    if len(first) == len(second) and {each.name for each in first} == set(names):
        return [(each, second[names.index(each.name)]) for each in first]
    if len(first) == len(second) == 1:
        return [(first[0], second[0])]
    matches = align([each.seen for each in first], [each.seen for each in second])
    return [(first[a] if a is not None else None, second[b] if b is not None else None) for a, b in matches]


def _judge(pairs: Sequence[LayerPair], tolerance: Tolerance, inputs: Iterable[Held]) -> list[LayerPair]:
    precision, depth, found = "float64", 0, []
    recent: list[float] = []
    for each in inputs:
        if each.element_type in _FLOATS:
            precision = coarser(precision, each.element_type)
    for pair in pairs:
        for held in (pair.first, pair.second):  # also of one that has no counterpart: a cast, a quantization
            if held is not None and held.element_type in (*_FLOATS, *_WHOLE):
                precision = coarser(precision, held.element_type)
        if pair.apart is None or pair.first is None or pair.second is None:
            found.append(pair)
            continue
        depth += 1
        names = (pair.first.name, pair.first.layer, pair.second.name, pair.second.layer)
        used = precision if precision != "float64" or _is_double(pair) else "float32"
        allowed = tolerance.at(names, depth, used, max(recent[-_AHEAD:], default=0.0))
        off = pair.apart.spread if coarser(used, tolerance.precision) in _WHOLE else pair.apart.relative
        verdict = _verdict(pair, pair.apart, off, allowed)
        if verdict == "agrees" and pair.first.element_type in _FLOATS:
            recent.append(off)
        found.append(replace(pair, off=off, tolerance=allowed, verdict=verdict))
    return found


def _is_double(pair: LayerPair) -> bool:
    return (
        pair.first is not None
        and pair.second is not None
        and pair.first.element_type == pair.second.element_type == "float64"
    )


def _verdict(pair: LayerPair, apart: Apart, off: float, allowed: float) -> Verdict:
    assert pair.first is not None and pair.second is not None
    if apart.arrangement == "shapes":
        return "shapes differ"
    if apart.different_not_finite:
        return "not finite"
    if pair.first.element_type not in _FLOATS and pair.second.element_type not in _FLOATS:
        is_small = pair.first.element_type in _WHOLE
        good = off <= allowed if is_small else apart.unequal <= _INTEGERS_APART
        return "agrees" if good else "differs"
    if off <= allowed or apart.largest == 0:
        return "reordered" if apart.arrangement == "sorted" else "agrees"
    return "differs"


def _excuse(pairs: Sequence[LayerPair]) -> list[LayerPair]:
    """A pair that differs while all that follows from it agrees was none: other tensors, in one place of the order. Two
    layers of one name and kind are one all the same: what is wrong there has no effect."""
    followers = _followers(pairs)
    found = list(pairs)
    for place in reversed(range(len(found))):
        pair = found[place]
        if pair.verdict in BAD and not pair.is_output and not _is_certain(pair):
            after = followers(place)
            if after and all(found[each].verdict not in (*BAD, "alone") for each in after):
                found[place] = replace(pair, verdict="passed over")
    return found


def _is_certain(pair: LayerPair) -> bool:
    if pair.first is None or pair.second is None or pair.first.size != pair.second.size:
        return False
    bare = replace(pair.first.seen, sums=None), replace(pair.second.seen, sums=None)
    return worth(*bare) >= CERTAIN


def _followers(pairs: Sequence[LayerPair]) -> Callable[[int], list[int]]:
    """Places of the pairs that come next: those that take the tensor, through layers that have no counterpart; where
    the first side does not tell who takes what, the next few."""
    users: dict[str, list[int]] = {}
    for place, pair in enumerate(pairs):
        for name in pair.first.takes if pair.first is not None else ():
            users.setdefault(name, []).append(place)

    def next_ones(place: int) -> list[int]:
        if not users:
            later = [at for at in range(place + 1, len(pairs)) if pairs[at].apart is not None]
            return later[:_AHEAD]
        found: list[int] = []
        waiting, seen = [place], {place}
        while waiting:
            held = pairs[waiting.pop()].first
            for at in users.get(held.name, ()) if held is not None else ():
                if at in seen:
                    continue
                seen.add(at)
                (found if pairs[at].apart is not None else waiting).append(at)
        return found

    return next_ones
