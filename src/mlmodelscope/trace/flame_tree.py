"""A flame graph: spans of the same name below the same ones, added up; what is too small to be seen is left out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from mlmodelscope.trace.inbox import Columns

_MOST_NODES = 4000
_DEEPEST = 64


@dataclass
class Node:
    name: str
    level: str
    total_ns: int = 0
    own_ns: int = 0
    """What the spans below it on the same lane leave of it."""
    count: int = 0
    below: dict[tuple[str, str], Node] = field(default_factory=dict)

    def child(self, name: str, level: str) -> Node:
        return self.below.setdefault((name, level), Node(name, level))


def flame(columns: Columns, least: float) -> dict[str, Any]:
    """The whole trace as nodes, parents before children, by the numbers of their parents; `least` is a share."""
    root = _added(columns)
    root.total_ns = sum(each.total_ns for each in root.below.values())
    smallest = least * root.total_ns
    nodes: list[dict[str, Any]] = []
    left_out = 0
    waiting: list[tuple[Node, int | None]] = [(root, None)]
    for node, parent in waiting:  # it grows: one generation after the other, so that the cut takes the deepest
        place = len(nodes)
        nodes.append(
            {
                "parent": parent,
                "name": node.name,
                "level": node.level,
                "total_ns": node.total_ns,
                "own_ns": node.own_ns,
                "count": node.count,
            }
        )
        seen = [each for each in node.below.values() if each.total_ns >= smallest and each.total_ns > 0]
        seen = sorted(seen, key=lambda each: -each.total_ns)[: max(0, _MOST_NODES - len(waiting))]
        left_out += len(node.below) - len(seen)
        waiting += [(each, place) for each in seen]
    return {"nodes": nodes, "left_out": left_out}


def _added(columns: Columns) -> Node:
    root = Node("all", "none")
    table = columns.table
    cells = [table[name].to_pylist() for name in ("id", "parent", "name", "level", "start_ns", "end_ns")]
    rows = columns.laid.rows
    lanes = [rows[place].lane for place in columns.laid.places.to_pylist()]
    known: dict[str, tuple[Node, str, int]] = {}
    for (own, parent, name, level, start, end), lane in zip(zip(*cells, strict=True), lanes, strict=True):
        if level == "hardware":  # samples of counters and memory lie beside what runs, and would seem to take its time
            continue
        above, around, depth = known.get(parent, (root, lane, 0)) if parent is not None else (root, lane, 0)
        node = above.child(name, level) if depth < _DEEPEST else above
        spent = end - start
        node.total_ns += spent
        node.own_ns += spent
        node.count += 1
        if above is not root and around == lane:
            above.own_ns -= spent
        known[own] = node, lane, depth + 1
    _no_less_than_nothing(root)
    return root


def _no_less_than_nothing(root: Node) -> None:
    """What runs side by side may take longer together than what is around it."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        node.own_ns = max(0, node.own_ns)
        waiting.extend(node.below.values())
