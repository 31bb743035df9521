"""Which tensors of two files are the same: by name, then by their numbers, then by name and shape, then by order."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from mlmodelscope.model_file.network import Weight

_CLOSE = 1e-4
"""Sums that are so near to each other are of the same numbers."""
_LEAST_SHARED = 0.34
"""Share of the words of two names that must be the same."""
_WORDS = {
    "kernel": "weight",
    "weights": "weight",
    "w": "weight",
    "b": "bias",
    "biases": "bias",
    "gamma": "weight",
    "scale": "weight",
    "beta": "bias",
    "slope": "weight",
    "running": "",
    "moving": "",
    "variance": "var",
    "bn": "norm",
    "batchnorm": "norm",
}
"""What frameworks call differently."""
_AROUND = re.compile(r"^(arg:|aux:|module\.|model\.)|(:0|/read|/ReadVariableOp)$")

Sums = Callable[[Sequence[Weight]], Sequence[Sequence[float]]]


@dataclass(frozen=True)
class Pair:
    first: Weight | None
    second: Weight | None
    by: str = ""
    """What the pair is made by: name, values, name and shape, order."""


def pair_weights(first: Sequence[Weight], second: Sequence[Weight], sums: Sums) -> list[Pair]:
    """Every tensor once, in the order of the first; those of the second alone at the end."""
    left, right = dict(enumerate(first)), dict(enumerate(second))
    found: dict[int, tuple[int, str]] = {}

    def take(pairs: Mapping[int, int], by: str) -> None:
        for one, other in pairs.items():
            if one in left and other in right:
                found[one] = (other, by)
                del left[one], right[other]

    take(_same_names(left, right), "name")
    if left and right:
        take(_same_values(left, right, sums), "values")
    take(_similar_names(left, right), "name and shape")
    take(_same_order(left, right), "order")
    pairs = []
    for place, weight in enumerate(first):
        other = found.get(place)
        pairs.append(Pair(weight, second[other[0]], other[1]) if other is not None else Pair(weight, None))
    return [*pairs, *(Pair(None, weight) for weight in right.values())]


def stem(name: str) -> str:
    """A name without what frameworks put around it."""
    for _ in range(2):
        name = _AROUND.sub("", name)
    return re.sub(r"[/.]+", ".", name).lower()


def words_of(name: str) -> frozenset[str]:
    parts = [word for word in re.split(r"[^a-z0-9]+", stem(name)) if word]
    return frozenset(_WORDS.get(word, word) for word in parts) - {""}


def _same_names(left: Mapping[int, Weight], right: Mapping[int, Weight]) -> dict[int, int]:
    """A name that both have once. Numbers alone are no name: exporters count anew each time."""
    mine, theirs = _unique(left), _unique(right)
    return {mine[name]: theirs[name] for name in mine if name in theirs and not name.replace(".", "").isdigit()}


def _unique(weights: Mapping[int, Weight]) -> dict[str, int]:
    places: dict[str, list[int]] = {}
    for place, weight in weights.items():
        places.setdefault(stem(weight.name), []).append(place)
    return {name: found[0] for name, found in places.items() if len(found) == 1}


def _same_values(left: Mapping[int, Weight], right: Mapping[int, Weight], sums: Sums) -> dict[int, int]:
    """Of the same size and with the same sums; of several, the one whose name is nearest, and then in order."""
    mine = dict(zip(left, sums(list(left.values())), strict=True))
    theirs = dict(zip(right, sums(list(right.values())), strict=True))
    by_count: dict[int, list[int]] = {}
    for place, weight in right.items():
        by_count.setdefault(weight.count, []).append(place)
    found: dict[int, int] = {}
    taken: set[int] = set()
    for place, weight in left.items():
        near = [
            other
            for other in by_count.get(weight.count, ())
            if other not in taken and _apart(mine[place], theirs[other]) < _CLOSE
        ]
        if near:
            best = max(near, key=lambda other: (_shared(weight.name, right[other].name), -other))
            found[place] = best
            taken.add(best)
    return found


def _apart(one: Sequence[float], other: Sequence[float]) -> float:
    scale = max(abs(one[3]), abs(one[4]), abs(other[3]), abs(other[4]), 1e-12)
    return max(abs(a - b) for a, b in zip(one, other, strict=True)) / scale


def _similar_names(left: Mapping[int, Weight], right: Mapping[int, Weight]) -> dict[int, int]:
    """The pairs that share most of their words, of the same sizes in any order."""
    by_size: dict[tuple[int, ...], list[int]] = {}
    for other, weight in right.items():
        by_size.setdefault(_thin(weight), []).append(other)
    worth = []
    for place, weight in left.items():
        for other in by_size.get(_thin(weight), ()):
            shared = _shared(weight.name, right[other].name)
            if shared >= _LEAST_SHARED:
                worth.append((-shared, place, other))
    found: dict[int, int] = {}
    taken: set[int] = set()
    for _, place, other in sorted(worth):
        if place not in found and other not in taken:
            found[place] = other
            taken.add(other)
    return found


def _thin(weight: Weight) -> tuple[int, ...]:
    return tuple(sorted(size for size in weight.shape if size != 1))


def _shared(one: str, other: str) -> float:
    mine, theirs = words_of(one), words_of(other)
    return len(mine & theirs) / max(1, len(mine | theirs))


def _same_order(left: Mapping[int, Weight], right: Mapping[int, Weight]) -> dict[int, int]:
    """Sizes that as many are left of on both sides, in the order of the files."""
    mine, theirs = _by_size(left), _by_size(right)
    found: dict[int, int] = {}
    for size, places in mine.items():
        others = theirs.get(size, [])
        if len(others) == len(places):
            found.update(zip(places, others, strict=True))
    return found


def _by_size(weights: Mapping[int, Weight]) -> dict[tuple[int, ...], list[int]]:
    found: dict[tuple[int, ...], list[int]] = {}
    for place, weight in weights.items():
        found.setdefault(_thin(weight), []).append(place)
    return found
