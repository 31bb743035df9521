"""The weights of two files, tensor by tensor, whatever formats they are in and however the tensors are called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal

from mlmodelscope.diff.folded_weights import find_folds, normalizations_of
from mlmodelscope.diff.weight_pairing import Pair, pair_weights
from mlmodelscope.measure.ruler import ruler
from mlmodelscope.model_file.network import Network, Weight

Verdict = Literal[
    "same",
    "precision",
    "transposed",
    "reshaped",
    "permuted",
    "scaled",
    "scaled by channel",
    "folded",
    "different",
    "shape differs",
    "not finite",
    "missing",
    "extra",
    "not compared",
]
AGREEING: tuple[Verdict, ...] = ("same", "precision", "transposed", "reshaped", "folded")
"""The same numbers but for the layout and the precision that a format wants."""
_MOST_EXCHANGED = 24
_KNOWN_TYPES = (
    *("float16", "float32", "float64", "bfloat16", "bool"),
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
)


@dataclass(frozen=True)
class WeightPair:
    first: Weight | None
    second: Weight | None
    by: str
    verdict: Verdict
    words: str
    facts: Mapping[str, Any]


@dataclass(frozen=True)
class WeightDifference:
    names: tuple[str, str]
    pairs: tuple[WeightPair, ...]
    notes: tuple[str, ...]

    @property
    def counts(self) -> Counter[str]:
        return Counter(pair.verdict for pair in self.pairs)

    @property
    def outcome(self) -> Literal["same", "different", "undecided"]:
        judged = [pair for pair in self.pairs if pair.verdict != "not compared"]
        if not any(pair.first is not None and pair.second is not None for pair in judged):
            return "undecided"
        return "same" if all(pair.verdict in AGREEING for pair in judged) else "different"

    @property
    def exit_code(self) -> int:
        return {"same": 0, "different": 1, "undecided": 2}[self.outcome]

    @property
    def sentence(self) -> str:
        if self.outcome == "undecided":
            return "no tensor of A can be compared with one of B"
        counts = self.counts
        said = ", ".join(f"{count:,} {verdict}" for verdict, count in counts.most_common())
        first = next((pair for pair in self.pairs if pair.verdict not in (*AGREEING, "not compared")), None)
        if first is None:
            return said
        held = first.first or first.second
        assert held is not None
        return f"{said}; the first that differs is {held.name}: {first.words}"

    def to_json(self) -> dict[str, Any]:
        return {
            "outcome": self.outcome,
            "sentence": self.sentence,
            "a": self.names[0],
            "b": self.names[1],
            "counts": dict(self.counts),
            "parameters": [sum(_count(pair, side) for pair in self.pairs) for side in (0, 1)],
            "tensors": [_told(pair) for pair in self.pairs],
            "notes": list(self.notes),
        }


def diff_weights(names: tuple[str, str], first: Network, second: Network) -> WeightDifference:
    mine, theirs = _learned(first), _learned(second)
    pairs = pair_weights(mine, theirs, lambda weights: [_sums(weight) for weight in weights])
    notes = [
        f"{label}: {note}"
        for label, network in zip("AB", (first, second), strict=True)
        for note in (*network.notes, *network.file.notes)
        if "without a graph" not in note
    ]
    return WeightDifference(names, tuple(_with_folds(_exchanged(list(map(_judged, pairs))))), tuple(notes))


def _exchanged(pairs: list[WeightPair]) -> list[WeightPair]:
    """Where tensors of one size were paired by like names and are different, partners that fit are exchanged."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for place, pair in enumerate(pairs):
        if pair.verdict == "different" and pair.by != "name" and pair.first is not None:
            groups.setdefault(tuple(sorted(pair.first.shape)), []).append(place)
    for places in groups.values():
        for one, other in combinations(places[:_MOST_EXCHANGED], 2):
            mine, theirs = pairs[one], pairs[other]
            if "different" not in (mine.verdict, theirs.verdict):
                continue
            swapped = [
                _judged(Pair(mine.first, theirs.second, "values")),
                _judged(Pair(theirs.first, mine.second, "values")),
            ]
            if all(pair.verdict not in ("different", "permuted") for pair in swapped):
                pairs[one], pairs[other] = swapped
    return pairs


def _parted(pairs: list[WeightPair], side: int) -> list[WeightPair]:
    """Where one side alone has normalizations, a scale or shift of theirs is no partner of a bias that they left."""
    own = [[held for pair in pairs if (held := (pair.first, pair.second)[at]) is not None] for at in (0, 1)]
    kept, other = normalizations_of(own[side]), normalizations_of(own[1 - side])
    if not kept or other:
        return pairs
    parts = {id(part) for each in kept for part in each.parts}
    found: list[WeightPair] = []
    for pair in pairs:
        if pair.verdict == "different" and pair.by != "name" and id((pair.first, pair.second)[side]) in parts:
            found += [_judged(Pair(pair.first, None)), _judged(Pair(None, pair.second))]
        else:
            found.append(pair)
    return found


def _with_folds(pairs: list[WeightPair]) -> list[WeightPair]:
    """Weights that are scaled by channel are the same where a normalization of one side explains all of it."""
    for side in (0, 1):
        pairs = _parted(pairs, side)
        missing, extra = _alone_on(pairs, "missing"), _alone_on(pairs, "extra")
        kept, given = (missing, extra) if side == 0 else (extra, missing)
        candidates = {}
        for place, pair in enumerate(pairs):
            if pair.verdict == "scaled by channel" and pair.first is not None and pair.second is not None:
                both = (pair.first, pair.second)
                candidates[place] = both if side == 0 else both[::-1]
        own = [held for pair in pairs if (held := (pair.first, pair.second)[side]) is not None]
        agreeing = {id((pair.first, pair.second)[side]) for pair in pairs if pair.verdict in AGREEING}
        for fold in find_folds(candidates, given, normalizations_of(own), _fold, _is_bias):
            words = f"the normalization {fold.normalization.name} is folded in, with epsilon {fold.epsilon:.2g}"
            places = [fold.pair, *([fold.bias] if fold.bias is not None else [])]
            if fold.bias is not None or id(fold.normalization.bias) in agreeing:  # all of it is on the other side
                places += [at for at, each in kept.items() if each in fold.normalization.parts]
            for place in places:
                pairs[place] = replace(pairs[place], verdict="folded", words=words)
    return pairs


def _fold(weights: Sequence[Weight]) -> dict[str, Any] | None:
    if not all(map(_can_be_read, weights)):
        return None
    return ruler().folded([_described(each) for each in weights], [bytes(each.data or b"") for each in weights])


def _is_bias(weight: Weight, expected: Sequence[float]) -> bool:
    return _can_be_read(weight) and ruler().is_bias(_described(weight), bytes(weight.data or b""), expected)


def _alone_on(pairs: Sequence[WeightPair], verdict: str) -> dict[int, Weight]:
    """Tensors that only one side has, by the place of their pair."""
    found = {}
    for place, pair in enumerate(pairs):
        held = pair.first or pair.second
        if pair.verdict == verdict and held is not None:
            found[place] = held
    return found


def _learned(network: Network) -> list[Weight]:
    return [weight for weight in network.weights.values() if weight.role != "constant"]


def _can_be_read(weight: Weight) -> bool:
    return weight.data is not None and weight.element_type in _KNOWN_TYPES


def _described(weight: Weight) -> dict[str, Any]:
    told: dict[str, Any] = {"element_type": weight.element_type, "shape": list(weight.shape)}
    if weight.quantization is not None:
        told["scale"] = list(weight.quantization.scale)
        told["zero_point"] = list(weight.quantization.zero_point)
        told["axis"] = weight.quantization.axis
    return told


def _sums(weight: Weight) -> Sequence[float]:
    """Of a tensor whose numbers are not available, sums that none has."""
    if not _can_be_read(weight) or weight.data is None:
        return [float("inf")] * 5
    return ruler().weight_sums(_described(weight), bytes(weight.data))


def _judged(pair: Pair) -> WeightPair:
    one, other = pair.first, pair.second
    if one is None or other is None:
        return WeightPair(one, other, "", "missing" if other is None else "extra", _alone(pair), {})
    if not _can_be_read(one) or not _can_be_read(other) or one.data is None or other.data is None:
        lost = one if not _can_be_read(one) else other
        why = (
            f"the numbers of {lost.name} are not available" if lost.data is None else f"{lost.element_type} is not read"
        )
        return WeightPair(one, other, pair.by, "not compared", why, {})
    facts = ruler().compare_weights(_described(one), bytes(one.data), _described(other), bytes(other.data))
    verdict: Verdict = facts["relation"]
    if verdict == "same" and facts.get("rounded"):
        verdict = "precision"
    return WeightPair(one, other, pair.by, verdict, _words(verdict, facts, one, other), facts)


def _alone(pair: Pair) -> str:
    held = pair.first or pair.second
    assert held is not None
    side = "B" if pair.first is not None else "A"
    return f"{side} has no tensor for it"


def _words(verdict: Verdict, facts: Mapping[str, Any], one: Weight, other: Weight) -> str:
    types = "" if one.element_type == other.element_type else f"{one.element_type} in A, {other.element_type} in B"
    if verdict == "same":
        return types
    if verdict == "precision":
        return f"{types or 'rounded'}: apart by up to {facts['relative']:.1e} of the largest"
    if verdict in ("transposed", "reshaped"):
        order = f"axes {', '.join(map(str, facts['axes']))} of B" if facts.get("axes") else "in another shape"
        return f"{order}{f', {types}' if types else ''}"
    if verdict == "scaled":
        return f"B is {facts['factor']:.6g} times A"
    if verdict == "scaled by channel":
        least, most = facts["factors"]
        return f"each output has a factor of its own, {least:.6g} to {most:.6g}, as a folded normalization gives"
    if verdict == "permuted":
        return "the same numbers in another order" + (
            f" along axis {facts['axis']}" if facts["axis"] is not None else ""
        )
    if verdict == "shape differs":
        return f"{list(one.shape)} in A and {list(other.shape)} in B"
    if verdict == "not finite":
        return "{} numbers of A and {} of B are NaN or infinite".format(*facts["not_finite"])
    cosine = f", cosine {facts['cosine']:.4f}" if facts.get("cosine") is not None else ""
    return f"apart by up to {facts['relative']:.2g} of the largest, {facts['unequal']:.0%} of the numbers{cosine}"


def _count(pair: WeightPair, side: int) -> int:
    held = (pair.first, pair.second)[side]
    return held.count if held is not None and held.role == "parameter" else 0


def _told(pair: WeightPair) -> dict[str, Any]:
    return {
        "a": _held(pair.first),
        "b": _held(pair.second),
        "paired_by": pair.by or None,
        "verdict": pair.verdict,
        "words": pair.words,
        "facts": dict(pair.facts),
    }


def _held(weight: Weight | None) -> dict[str, Any] | None:
    if weight is None:
        return None
    return {
        "name": weight.name,
        "shape": list(weight.shape),
        "element_type": weight.element_type,
        "parameters": weight.count,
        "role": weight.role,
    }
