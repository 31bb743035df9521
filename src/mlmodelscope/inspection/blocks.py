"""Parts of a network that belong together: by the names of its layers, or by operators that repeat in one order."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mlmodelscope.model_file.network import Network

_LONGEST, _SHORTEST, _LEAST_TIMES = 24, 2, 2
_MOST_LAYERS = 20_000
_MOST_BLOCKS = 200
_LARGE = 0.6
"""A part that has more of the layers is looked into."""
_SEPARATOR = re.compile(r"[./]")


@dataclass(frozen=True)
class Block:
    name: str
    """The beginning of its layers' names, or its operators with how often they come."""
    layers: int
    parameters: int
    times: int = 1


def blocks_of(network: Network, parameters: Mapping[str, int]) -> list[Block]:
    names = [layer.name for layer in network.layers]
    found = _by_names(names, parameters)
    if found:
        return found
    return _by_operators([layer.kind for layer in network.layers], [parameters.get(name, 0) for name in names])


def block_names(network: Network) -> list[str | None]:
    """For each layer the block that it is in: the beginning of its name, or the operators that repeat."""
    names = [layer.name for layer in network.layers]
    by_name = _keys(names)
    if by_name is not None:
        return list(by_name)
    found: list[str | None] = [None] * len(names)
    for part, places in _parts([layer.kind for layer in network.layers]):
        for number, place in enumerate(places, 1):
            found[place : place + len(part)] = [f"{' → '.join(part)} #{number}"] * len(part)
    return found


def _by_names(names: Sequence[str], parameters: Mapping[str, int]) -> list[Block]:
    keys = _keys(names)
    if keys is None:
        return []
    counts, sums, seen = Counter(keys), Counter[str](), set[str]()
    for name, key in zip(names, keys, strict=True):
        if name not in seen:
            sums[key] += parameters.get(name, 0)
            seen.add(name)
    return [Block(key, count, sums[key]) for key, count in counts.items()]


def _keys(names: Sequence[str]) -> list[str] | None:
    """Groups by the first words of the names, one word further where all begin alike; None where names tell none."""
    paths = [[part for part in _SEPARATOR.split(name) if part] for name in names]
    nested = [path for path in paths if len(path) > 1]
    if len(nested) * 2 < len(paths) or not nested:
        return None
    depth = 0
    while all(len(path) > depth + 1 for path in nested) and len({path[depth] for path in nested}) == 1:
        depth += 1
    found = _cut(paths, depth + 1)
    if Counter(found).most_common(1)[0][1] > _LARGE * len(names):
        finer = _cut(paths, depth + 2)
        found = finer if len(set(finer)) <= _MOST_BLOCKS else found
    return found if len(set(found)) > 2 else None


def _cut(paths: Sequence[Sequence[str]], depth: int) -> list[str]:
    # The last part is the layer's own, unless there is nothing else.
    return [".".join(path[: min(depth, max(1, len(path) - 1))]) for path in paths]


def _by_operators(kinds: Sequence[str], parameters: Sequence[int]) -> list[Block]:
    return [
        Block(
            " → ".join(part),
            len(part),
            sum(sum(parameters[place : place + len(part)]) for place in places),
            len(places),
        )
        for part, places in _parts(kinds)
    ]


def _parts(kinds: Sequence[str]) -> list[tuple[tuple[str, ...], list[int]]]:
    """(operators that come again in this order, where), those that explain most layers first."""
    if not any(kinds) or len(kinds) > _MOST_LAYERS:
        return []
    left: list[str | None] = list(kinds)
    found: list[tuple[tuple[str, ...], list[int]]] = []
    for _ in range(4):
        best = _most_frequent(left)
        if best is None:
            break
        places = _places(left, best)
        for place in places:
            left[place : place + len(best)] = [None] * len(best)
        found.append((best, places))
    return found


def _most_frequent(kinds: Sequence[str | None]) -> tuple[str, ...] | None:
    best: tuple[int, int, tuple[str, ...]] | None = None
    for length in range(_SHORTEST, min(_LONGEST, len(kinds) // 2) + 1):
        counts: Counter[tuple[str, ...]] = Counter()
        last: dict[tuple[str, ...], int] = {}
        for place in range(len(kinds) - length + 1):
            part = tuple(kind for kind in kinds[place : place + length] if kind is not None)
            if len(part) == length and last.get(part, -length) + length <= place:
                counts[part] += 1
                last[part] = place
        for part, times in counts.items():
            if times >= _LEAST_TIMES and len(set(part)) > 1:
                explained = times * length
                # Of two that explain as many layers the one that comes more often is the block.
                if best is None or (explained, times) > best[:2]:
                    best = (explained, times, part)
    return best[2] if best is not None else None


def _places(kinds: Sequence[str | None], part: tuple[str, ...]) -> list[int]:
    found, place = [], 0
    while place + len(part) <= len(kinds):
        if tuple(kinds[place : place + len(part)]) == part:
            found.append(place)
            place += len(part)
        else:
            place += 1
    return found
