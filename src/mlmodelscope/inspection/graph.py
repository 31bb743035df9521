"""A network as a graph to look at: layers in the order in which they run, what each takes from which, and its block.

What it says is bounded, whatever a file holds: so many layers, so much of each, and no text longer than a line.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mlmodelscope.inspection.blocks import block_names
from mlmodelscope.inspection.summary import Summary, notes_of
from mlmodelscope.model_file.limit import clean
from mlmodelscope.model_file.model_file import TensorInfo
from mlmodelscope.model_file.network import Network, Value

MOST_LAYERS = 10_000
MOST_EACH = 16
"""Inputs, outputs, weights and attributes that are told of one layer."""
_LONGEST = 160
_MOST_NOTES = 20
_MOST_RANK = 16


def graph_of(summary: Summary) -> dict[str, Any]:
    """As the API answers it."""
    network = summary.network
    taken = taken_by(network)
    order = order_of(taken)
    kept = order[:MOST_LAYERS]
    place = {layer: number for number, layer in enumerate(kept)}
    names = block_names(network)
    runs, blocks = _runs([names[layer] for layer in kept])
    file = network.file
    return {
        "format": file.format,
        "inputs": [_tensor(each) for each in file.inputs[:MOST_EACH]],
        "outputs": [_tensor(each) for each in file.outputs[:MOST_EACH]],
        "parameters": _count(summary.parameters),
        "weight_bytes": _count(summary.weight_bytes),
        "flops": _count(summary.flops),
        "layers": [
            {**_layer(summary, layer, taken[layer], place), "block": run} for layer, run in zip(kept, runs, strict=True)
        ],
        "blocks": blocks,
        "more_layers": len(order) - len(kept),
        "notes": [_line(note) for note in notes_of(summary)[:_MOST_NOTES]],
    }


@dataclass(frozen=True, slots=True)
class Taken:
    """A tensor that a layer takes, and where it comes from."""

    tensor: str
    layer: int | None = None
    """None for an input of the model, or where no layer of the file makes it."""
    output: int = 0


def taken_by(network: Network) -> list[list[Taken]]:
    """What each layer takes, weights aside: of layers that work in place the last before it has made it."""
    makers: dict[str, list[tuple[int, int]]] = {}
    for number, layer in enumerate(network.layers):
        for place, name in enumerate(layer.outputs):
            if name:
                makers.setdefault(name, []).append((number, place))

    def find(name: str, number: int) -> Taken:
        known = makers.get(name, [])
        before = bisect_left(known, (number, -1))
        found = known[before - 1 : before] or [each for each in known[:2] if each[0] != number][:1]
        return Taken(name, *found[0]) if found else Taken(name)

    return [
        [find(name, number) for name in layer.inputs if name and name not in network.weights]
        for number, layer in enumerate(network.layers)
    ]


def order_of(taken: Sequence[Sequence[Taken]]) -> list[int]:
    """Numbers of layers so that each comes behind those that it takes from, and else as the file has them.

    Layers of a loop keep the order of the file.
    """
    needs = [{each.layer for each in inputs if each.layer is not None} for inputs in taken]
    users: list[list[int]] = [[] for _ in taken]
    for number, needed in enumerate(needs):
        for each in needed:
            users[each].append(number)
    waiting = [len(needed) for needed in needs]
    ready = [number for number, count in enumerate(waiting) if count == 0]
    heapq.heapify(ready)
    found: list[int] = []
    while ready:
        number = heapq.heappop(ready)
        found.append(number)
        for user in users[number]:
            waiting[user] -= 1
            if waiting[user] == 0:
                heapq.heappush(ready, user)
    seen = set(found)
    return [*found, *(number for number in range(len(taken)) if number not in seen)]


def _runs(names: Sequence[str | None]) -> tuple[list[int | None], list[dict[str, Any]]]:
    """(for each layer its block, the blocks): neighbors of one name, since such blocks can have no loops among them."""
    numbers: list[int | None] = []
    blocks: list[dict[str, Any]] = []
    start = 0
    while start < len(names):
        end = start + 1
        while end < len(names) and names[end] == names[start] and names[start] is not None:
            end += 1
        if end - start > 1:
            blocks.append({"name": _line(names[start] or ""), "layers": end - start})
        numbers += [len(blocks) - 1 if end - start > 1 else None] * (end - start)
        start = end
    return numbers, blocks


def _layer(summary: Summary, number: int, taken: Sequence[Taken], place: dict[int, int]) -> dict[str, Any]:
    layer, told = summary.network.layers[number], summary.layers[number]
    return {
        "name": _line(layer.name),
        "kind": _line(f"{layer.domain}.{layer.kind}" if layer.domain else layer.kind) or None,
        "inputs": [_input(summary, each, place) for each in taken[:MOST_EACH]],
        "outputs": [
            {"tensor": _line(name), "shape": _shape(shape)}
            for name, shape in list(zip(layer.outputs, told.outputs, strict=True))[:MOST_EACH]
        ],
        "weights": [
            {"name": _line(name), "shape": _shape(shape), "element_type": _line(kind)}
            for name, shape, kind in told.weights[:MOST_EACH]
        ],
        "attributes": [
            {"name": _line(name), "value": _value(value)} for name, value in list(layer.attributes.items())[:MOST_EACH]
        ],
        "more": sum(max(0, len(part) - MOST_EACH) for part in (taken, layer.outputs, told.weights, layer.attributes)),
        "parameters": _count(told.parameters),
        "weight_bytes": _count(told.weight_bytes),
        "flops": _count(told.flops),
    }


def _input(summary: Summary, taken: Taken, place: dict[int, int]) -> dict[str, Any]:
    if taken.layer is not None:
        shape: Sequence[int | None] | None = summary.layers[taken.layer].outputs[taken.output]
    else:
        shape = next((each.shape for each in summary.network.file.inputs if each.name == taken.tensor), None)
    layer = place.get(taken.layer) if taken.layer is not None else None
    return {"layer": layer, "tensor": _line(taken.tensor), "shape": _shape(shape)}


def _tensor(tensor: TensorInfo) -> dict[str, Any]:
    return {"name": _line(tensor.name), "element_type": tensor.element_type, "shape": _shape(tensor.shape)}


def _shape(shape: Sequence[int | None] | None) -> list[int | None] | None:
    return None if shape is None else list(shape[:_MOST_RANK])


def _value(value: Value) -> str:
    if isinstance(value, tuple):
        shown = ", ".join(str(each) for each in value[:_MOST_RANK])
        return f"[{shown}{', …' if len(value) > _MOST_RANK else ''}]"
    return _line(str(value))


def _count(number: int | None) -> int | None:
    """Shapes of a hostile file multiply to numbers of a thousand digits, which no client can read."""
    return number if number is not None and 0 <= number < 1 << 63 else None


def _line(text: str) -> str:
    """A stranger's words in one short line."""
    whole = clean(text[: _LONGEST + 1]).replace("\n", " ").replace("\t", " ")
    return whole if len(whole) <= _LONGEST else f"{whole[: _LONGEST - 1]}…"
