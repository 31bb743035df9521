"""Which layers of two networks are the same: by their values first, then by name, shape, kind and order.

Two frameworks name, split and fuse layers differently, but what passes between them are the same numbers. So sums over
a tensor's numbers, which do not depend on the order of its axes, count more than anything else. Pairs keep the order of
execution, but for branches that two frameworks run in another order.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import log10

from mlmodelscope.layer.kind import plain_kind

_CLOSE = 1e-3
"""Sums that are so near to each other are of the same tensor but for rounding."""
_NAMES_AGREE = 0.6
"""Share of the names that must be in both networks before names are gone by alone."""
_MOST_CELLS = 800_000
"""Beyond that only pairs near the diagonal are considered."""
_VALUES, _EACH_DIGIT, _SHAPE, _SIZE, _KIND, _NAME = 12.0, 3.0, 2.0, 1.0, 2.0, 4.0
_EXACT = 0.5
"""What the very same order of axes, or the very same word for the kind, adds."""
_ALIKE = 8
"""So many layers with the same numbers are looked at together."""
CERTAIN = _NAME + _KIND + _SHAPE
"""What a name, a kind and a shape are worth together, without values."""
_NAMESAKE = _NAME / 2
"""And what a name must be worth alone, beside what speaks against it: another kind, another size."""
_FAR = 0.05
"""Sums that are as far from each other may well be of two tensors."""
_BETTER = 3.0
"""How much more another partner must be worth to break a pair up: the order of execution speaks for it."""
_LEAST = 2.0
"""What a pair must be worth: a shape, a name, or a kind where no shapes are known."""
_SAME_PLACE = ("identity", "dropout", "cast", "clone", "detach", "contiguous", "split", "alias")


@dataclass(frozen=True)
class Seen:
    """A layer, as far as it is known."""

    names: tuple[str, ...]
    kind: str = ""
    shape: tuple[int, ...] | None = None
    sums: tuple[float, ...] | None = None
    """Mean, spread, mean size, least, most, share of zeros, third moment, and how many numbers are not finite."""


Match = tuple[int | None, int | None]


def align(first: Sequence[Seen], second: Sequence[Seen]) -> list[Match]:
    """Places of layers that are the same, in the order of execution; what has no counterpart stands alone."""
    anchors = _anchors(first, second)
    pairs: list[tuple[int, int]] = []
    start = low = 0
    for end, high in [*anchors, (len(first), len(second))]:
        pairs += _between(first, second, range(start, end), range(low, high))
        if end < len(first):
            pairs.append((end, high))
        start, low = end + 1, high + 1
    pairs = _out_of_order(first, second, pairs)
    pairs = _namesakes(first, second, pairs)
    pairs = _behind_the_bias(first, second, pairs)
    pairs = [(one, other) for other, one in _behind_the_bias(second, first, [(b, a) for a, b in pairs])]
    pairs.sort()
    pairs = _untangled(first, second, pairs)
    return _in_order(pairs, len(first), len(second))


@dataclass(frozen=True, slots=True)
class _Facts:
    """A layer, as pairs are judged by it."""

    stems: tuple[str, ...]
    words: tuple[frozenset[str], ...]
    kind: str | None
    is_passed_on: bool
    """Whether it hands on what it gets: it may be called by the name of another kind."""
    thin: tuple[int, ...] | None
    """Sizes without those of 1, in order of size."""
    shape: tuple[int, ...]
    """As it is, which tells apart what has the same numbers before and after it is turned."""
    word: str
    """The framework's own for the kind."""
    rank: int
    count: int
    sums: tuple[float, ...] | None


def _facts(layer: Seen) -> _Facts:
    stems = tuple(stem for stem in map(_stem, layer.names) if stem and not stem.isdigit())
    kind = plain_kind(layer.kind).lower() if layer.kind else None
    shape = layer.shape
    return _Facts(
        stems,
        tuple(map(_words, stems)),
        kind,
        passes_on(layer.kind),
        None if shape is None else tuple(sorted(size for size in shape if size != 1)),
        shape or (),
        layer.kind,
        len(shape or ()),
        _count(shape or ()),
        layer.sums,
    )


def worth(one: Seen, other: Seen) -> float:
    """How much speaks for two layers being the same; nothing where that is out of the question."""
    return _worth(_facts(one), _facts(other))


def _worth(one: _Facts, other: _Facts) -> float:
    found = 0.0
    same_kind = one.kind == other.kind
    if one.kind is None or other.kind is None or (not same_kind and (one.is_passed_on or other.is_passed_on)):
        same_kind = False
    else:
        found = _KIND if same_kind else -_KIND
    has_shapes = one.thin is not None and other.thin is not None
    if has_shapes and one.count != other.count:
        # A stride or a padding that is wrong changes the size, and not what the layer is.
        if not (same_kind and one.rank == other.rank):
            return 0.0
        return max(0.0, found + _NAME * _name_worth(one, other) - _SIZE)
    if has_shapes:
        found += _SIZE + (_EXACT if one.shape == other.shape else 0.0)
        found += _EXACT if one.word == other.word else 0.0
        if one.thin == other.thin:
            found += _SHAPE - _SIZE + (_SIZE if one.rank == other.rank else 0.0)
    if one.sums is not None and other.sums is not None:
        apart = distance(one.sums, other.sums)
        if apart < 1:
            found += min(_VALUES, -_EACH_DIGIT * log10(max(apart, 1e-9)))
    return found + _NAME * _name_worth(one, other)


def passes_on(kind: str) -> bool:
    """Whether layers of a kind, in any framework's words, hand on the numbers that they get."""
    return bool(kind) and plain_kind(kind).lower().startswith(_SAME_PLACE)


def same_name(name: str, names: Iterable[str]) -> bool:
    """Whether one of the names is the name, without what frameworks put around it."""
    return _stem(name) in {_stem(each) for each in names if each}


def distance(one: Sequence[float], other: Sequence[float]) -> float:
    """How far the sums of two tensors are apart, in sizes of their numbers."""
    if bool(one[7]) != bool(other[7]):
        return 1.0
    scale = max(one[1], other[1], 0.1 * one[2], 0.1 * other[2])
    if scale == 0:
        return 0.0 if one[:5] == other[:5] else 1.0
    whole = (abs(one[0] - other[0]), abs(one[1] - other[1]), abs(one[2] - other[2]))
    ends = (abs(one[3] - other[3]) / 4, abs(one[4] - other[4]) / 4, abs(one[6] - other[6]) / 4)
    return max(*whole, *ends) / scale


def are_close(one: Seen, other: Seen) -> bool:
    """Whether their values are the same but for rounding, and for the order of the axes."""
    return _within(one, other, _CLOSE)


def _anchors(first: Sequence[Seen], second: Sequence[Seen]) -> list[tuple[int, int]]:
    """Pairs that are beyond doubt, so that the rest falls into short parts: a name that both have once, of the same
    size, and the same values, where those are known."""
    mine, theirs = _unique_names(first), _unique_names(second)
    found = []
    common = mine.keys() & theirs.keys()
    is_trusted = len(common) >= _NAMES_AGREE * min(len(first), len(second))
    for name in common:
        one, other = first[mine[name]], second[theirs[name]]
        if one.shape is not None and other.shape is not None and _count(one.shape) != _count(other.shape):
            continue
        if is_trusted or one.sums is None or other.sums is None or are_close(one, other):
            found.append((mine[name], theirs[name]))
    return _rising(sorted(set(found)))


def _unique_names(layers: Sequence[Seen]) -> dict[str, int]:
    counts = Counter(_stem(layer.names[0]) for layer in layers if layer.names)
    places = {_stem(layer.names[0]): place for place, layer in enumerate(layers) if layer.names}
    return {name: places[name] for name, count in counts.items() if count == 1 and name and not name.isdigit()}


def _rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest part of the pairs, sorted by their first place, whose second places rise, too."""
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for number, (_, place) in enumerate(pairs):
        at = bisect_left(ends, place)
        ends[at:] = [place, *ends[at + 1 :]] if at < len(ends) else [place]
        last[at:] = [number, *last[at + 1 :]] if at < len(last) else [number]
        before.append(last[at - 1] if at else -1)
    found: list[tuple[int, int]] = []
    at = last[-1] if last else -1
    while at >= 0:
        if not found or pairs[at][0] < found[-1][0]:
            found.append(pairs[at])
        at = before[at]
    return found[::-1]


def _between(first: Sequence[Seen], second: Sequence[Seen], mine: range, theirs: range) -> list[tuple[int, int]]:
    """The pairs, in order, that are worth most together."""
    if not mine or not theirs:
        return []
    ours, others = ([_facts(layers[place]) for place in places] for layers, places in ((first, mine), (second, theirs)))
    band = max(64, _MOST_CELLS // max(len(mine), len(theirs)) // 2)
    slope = len(theirs) / len(mine)
    best = [0.0] * (len(theirs) + 1)
    chosen: list[bytearray] = []
    for row in range(len(mine)):
        before, left = best, 0.0
        best = before.copy()
        marks = bytearray(len(theirs))  # 0: leave mine alone, 1: leave theirs alone, 2: a pair
        low, high = max(0, int(row * slope) - band), min(len(theirs), int(row * slope) + band + 1)
        left = best[low]
        for column in range(low, high):
            value = _worth(ours[row], others[column])
            paired = before[column] + value if value >= _LEAST else -1.0
            above = before[column + 1]
            if paired > above and paired > left:
                best[column + 1], marks[column] = paired, 2
            elif left > above:
                best[column + 1], marks[column] = left, 1
            left = best[column + 1]
        for column in range(high, len(theirs)):
            if left > best[column + 1]:
                best[column + 1], marks[column] = left, 1
        chosen.append(marks)
    pairs, row, column = [], len(mine), len(theirs)
    while row and column:
        mark = chosen[row - 1][column - 1]
        if mark == 2:
            pairs.append((mine[row - 1], theirs[column - 1]))
        row, column = row - (mark != 1), column - (mark != 0)
    return pairs[::-1]


def _out_of_order(
    first: Sequence[Seen], second: Sequence[Seen], pairs: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """The same pairs, but layers that are alone, or in a pair whose values are far apart, get a partner that has their
    values, wherever it is: it is of a branch that runs in another order."""
    partner, taken = dict(pairs), {other: one for one, other in pairs}
    weak = {one for one, other in pairs if not _within(first[one], second[other], _FAR)}
    ours = [place for place in range(len(first)) if first[place].sums and (place not in partner or place in weak)]
    theirs = [place for place in range(len(second)) if second[place].sums and taken.get(place, -1) in (*weak, -1)]
    for place in ours:
        near = [other for other in theirs if _within(first[place], second[other], _FAR)]
        best = max(near, key=lambda other: worth(first[place], second[other]), default=None)
        if best is None:
            continue
        now = worth(first[place], second[partner[place]]) if place in partner else _VALUES / 2
        before = taken.get(best)
        rival = worth(first[before], second[best]) if before is not None else 0.0
        if worth(first[place], second[best]) > max(now, rival) + _BETTER:
            if place in partner:
                del taken[partner[place]]
            if before is not None:
                del partner[before]
            partner[place], taken[best] = best, place
            theirs.remove(best)
    return sorted(partner.items())


def _namesakes(
    first: Sequence[Seen], second: Sequence[Seen], pairs: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """The same pairs, and layers that are alone on both sides and share a name that no other layer has: what differs in
    a branch that runs in another order has neither values nor order to be paired by."""
    mine, theirs = _unique_names(first), _unique_names(second)
    partner, taken = dict(pairs), {other for _, other in pairs}
    for name, one in mine.items():
        other = theirs.get(name)
        if other is None or one in partner or other in taken:
            continue
        if worth(replace(first[one], sums=None), replace(second[other], sums=None)) >= _NAMESAKE:
            partner[one] = other
            taken.add(other)
    return sorted(partner.items())


def _behind_the_bias(
    first: Sequence[Seen], second: Sequence[Seen], pairs: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """The same pairs, but a layer with a bias is paired with the addition of the bias, where the second network has one
    for itself: where values differ, the product in front of it looks just as much like that layer."""
    taken = {other for _, other in pairs}
    found = []
    for one, other in pairs:
        behind = other + 1
        if (
            behind < len(second)
            and behind not in taken
            and _adds_bias(second[behind])
            and not _adds_bias(first[one])
            and second[behind].shape == second[other].shape
            and not are_close(first[one], second[other])
        ):
            other = behind
        found.append((one, other))
    return found


def _adds_bias(layer: Seen) -> bool:
    return layer.kind.lower().startswith(("biasadd", "bias_add"))


def _untangled(
    first: Sequence[Seen], second: Sequence[Seen], pairs: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """The same pairs, but where several layers have the same numbers, as before and after a reshape, those of one shape
    and kind are together."""
    found = dict(pairs)
    order = sorted((sums[2], one) for one in found if (sums := first[one].sums) is not None)
    for at, (size, one) in enumerate(order):
        for other_size, other in order[at + 1 : at + 1 + _ALIKE]:
            if other_size - size > _CLOSE * max(abs(size), abs(other_size)):
                break
            mine, theirs = second[found[one]], second[found[other]]
            if not (are_close(first[one], theirs) and are_close(first[other], mine)):
                continue
            now = worth(first[one], mine) + worth(first[other], theirs)
            if worth(first[one], theirs) + worth(first[other], mine) > now + _EXACT / 2:
                found[one], found[other] = found[other], found[one]
    return sorted(found.items())


def _within(one: Seen, other: Seen, apart: float) -> bool:
    if one.sums is None or other.sums is None or one.shape is None or other.shape is None:
        return False
    return _count(one.shape) == _count(other.shape) and distance(one.sums, other.sums) < apart


def _in_order(pairs: Sequence[tuple[int, int]], mine: int, theirs: int) -> list[Match]:
    """Every layer once, by the order of the first network; those of the second alone behind what came before them."""
    partner = dict(pairs)
    back = {other: one for one, other in pairs}
    behind: dict[int, list[int]] = {}
    last = -1
    for place in range(theirs):
        if place in back:
            last = back[place]
        else:
            behind.setdefault(last, []).append(place)
    found: list[Match] = []
    last = -1
    for place in range(mine):
        if place in partner:
            found += [(None, other) for other in behind.get(last, ())]
            last = place
        found.append((place, partner.get(place)))
    return found + [(None, other) for other in behind.get(last, ())]


def _count(shape: Sequence[int]) -> int:
    count = 1
    for size in shape:
        count *= size
    return count


@lru_cache(maxsize=65536)
def _stem(name: str) -> str:
    """What is left of a name without what frameworks put around it, and whatever they put between its words."""
    stem = name.lower().rpartition("!")[2]
    stem = re.sub(r"(_output_\d+|:\d+|/output|\.output)$", "", stem)
    return re.sub(r"[^a-z0-9]+", ".", stem).strip(".")


@lru_cache(maxsize=65536)
def _words(stem: str) -> frozenset[str]:
    return frozenset(word for word in re.split(r"[^a-z0-9]+", stem) if word and not word.isspace())


def _name_worth(one: _Facts, other: _Facts) -> float:
    best = 0.0
    for mine, ours in zip(one.stems, one.words, strict=True):
        for theirs, others in zip(other.stems, other.words, strict=True):
            if mine == theirs:
                return 1.0
            both = ours & others
            if any(word.isdigit() or len(word) > 2 for word in both):
                best = max(best, 0.5 * len(both) / len(ours | others))
    return best
