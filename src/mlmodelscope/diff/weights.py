"""The weights of two files, tensor by tensor, whatever formats they are in and however the tensors are called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

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
    "different",
    "shape differs",
    "not finite",
    "missing",
    "extra",
    "not compared",
]
AGREEING: tuple[Verdict, ...] = ("same", "precision", "transposed", "reshaped")
"""The same numbers but for the layout and the precision that a format wants."""
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
    judged = tuple(map(_judged, pairs))
    return WeightDifference(names, judged, (*notes, *_folded(judged)))


def _folded(pairs: Sequence[WeightPair]) -> list[str]:
    """Where one side keeps normalizations that the other has multiplied into its convolutions."""
    scaled = sum(pair.verdict == "scaled by channel" for pair in pairs)
    alone = {
        side: sum(pair.verdict == verdict and held.role == "statistic" for pair, held in _alone_on(pairs, verdict))
        for side, verdict in (("A", "missing"), ("B", "extra"))
    }
    told = []
    for side, other in (("A", "B"), ("B", "A")):
        if scaled and alone[side] and not alone[other]:
            told.append(
                f"{side} has the statistics of {alone[side] // 2} normalizations and {other} has none: {other} has "
                f"probably folded them into the {scaled} tensors that are scaled by channel"
            )
    return told


def _alone_on(pairs: Sequence[WeightPair], verdict: str) -> list[tuple[WeightPair, Weight]]:
    found = []
    for pair in pairs:
        held = pair.first or pair.second
        if pair.verdict == verdict and held is not None:
            found.append((pair, held))
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
    """Of a tensor whose numbers are not at hand, sums that none has."""
    if not _can_be_read(weight) or weight.data is None:
        return [float("inf")] * 5
    return ruler().weight_sums(_described(weight), bytes(weight.data))


def _judged(pair: Pair) -> WeightPair:
    one, other = pair.first, pair.second
    if one is None or other is None:
        return WeightPair(one, other, "", "missing" if other is None else "extra", _alone(pair), {})
    if not _can_be_read(one) or not _can_be_read(other) or one.data is None or other.data is None:
        lost = one if not _can_be_read(one) else other
        why = f"the numbers of {lost.name} are not at hand" if lost.data is None else f"{lost.element_type} is not read"
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
