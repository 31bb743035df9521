"""One layer run alone, on the input that it had: as it is, and with each mistake that people make.

Whichever mistake gives the other model's numbers explains why that model differs.
"""

import os

from .clock import nanoseconds
from .kept_tensors import FileTensor, mapped, set_aside
from .messages import ChangesTried
from .mistake.by_operator import mistakes_of
from .predictor import NotSupported

_MOST_NODES = 24
_AT_ONCE = 1 << 13
"""Numbers at a time: few enough for the cache, and for one thread of a library for sums."""
_BUDGET_NS = 60 * 10**9
_EXPLAINED = 0.03
"""What is left of the difference where a mistake explains it; rounding alone leaves far less."""
_AS_GOOD = 4.0
_HIDDEN = -9e3
"""What masks give to what they hide is below this, in every element type."""


def try_changes(session, asked):
    """ChangesTried for the layer, and those before it that have no counterpart in the other model."""
    try:
        graph, start = session.predictor.pieces()
    except NotSupported as error:
        return ChangesTried([], None, [str(error)])
    known = {each["name"]: each for each in asked.known if each["name"] in _reachable(graph)}
    nodes = graph.between(asked.layer, set(known))
    if not nodes or len(nodes) > _MOST_NODES:
        return ChangesTried([], None, ["the layer is not tried alone: %d operators make it" % len(nodes)])
    missing = {name for node in nodes for name in node.wants} & set(graph.inputs) - set(known)
    if missing:
        return ChangesTried([], None, ["the layer is not tried alone: input `%s` is not known" % sorted(missing)[0]])
    wanted = {name for node in nodes for name in node.wants}  # the others of a deep network would fill the memory
    feed = {name: mapped(*_place(asked.folder, each)) for name, each in known.items() if name in wanted}
    weights = [each and mapped(*_place(asked.folder, each)) for each in asked.other.get("weights") or ()]
    asked = asked._replace(other=dict(asked.other, weights=weights))
    target = FileTensor(*_place(asked.folder, asked.target))
    return Trial(graph, start, nodes, feed, asked.layer, target, asked.folder).told(asked)


class Trial(object):
    """The nodes that make a tensor, ready to be run with changes."""

    def __init__(self, graph, start, nodes, feed, layer, target, folder):
        self._graph, self._start, self._nodes, self._layer, self._target = graph, start, nodes, layer, target
        self._folder = folder
        self._feed = {name: feed[name] for node in nodes for name in node.wants if name in feed}
        self._values = {}

    def told(self, asked):
        base = self._off({}, {})
        found, notes, start_ns = [], [], nanoseconds()
        for node, alive in self._alive():
            other = asked.other if node.outputs[0] == self._layer else {}
            for mistake in mistakes_of(node, self.value, alive, other):
                if nanoseconds() - start_ns > _BUDGET_NS:
                    notes.append("not every mistake was tried: the time for it was up")
                    break
                off = self._off({id(node): mistake.nodes}, mistake.weights)
                if off is not None and (base is None or off < base * _EXPLAINED or off < asked.tolerance):
                    found.append((off, len(found), node, mistake))
        if base is not None and base <= asked.tolerance:
            found = []
        best = min([off for off, _, _, _ in found] or [0.0])
        # What explains it equally well comes in the order of how likely it is.
        found.sort(key=lambda each: (each[0] > max(best * _AS_GOOD, asked.tolerance / 8), each[1]))
        weighted = [node.outputs[0] for node, _ in self._alive() if set(node.inputs) & set(self._graph.weights)]
        told = [
            {"kind": mistake.kind, "words": mistake.words, "node": node.outputs[0], "operator": node.kind, "off": off}
            for off, _, node, mistake in found[:5]
        ]
        return ChangesTried(told, base, notes, weighted)

    def _alive(self):
        """(node, the names among its inputs that depend on the model's input), the last one first: it is the layer that
        differs, and those before it have no counterpart."""
        alive = self._graph.depends_on_inputs()
        return [
            (node, [name for name in node.inputs if name in alive])
            for node in reversed(self._nodes)
            if alive.intersection(node.outputs)
        ]

    def value(self, name):
        """A weight, or a tensor between the nodes, as an array; None where it is not known."""
        if name in self._feed:
            return self._feed[name]
        if name in self._graph.weights:
            return self._graph.weight(name)
        if name not in self._values:
            made = self._run({}, {}, name)
            self._values[name] = None if made is None else set_aside(made, self._folder)
        return self._values[name]

    def _run(self, changed, weights, wanted):
        nodes = []
        for node in self._nodes:
            nodes += changed.get(id(node), [node])
        try:
            session = self._start(self._graph.piece(nodes, self._feed, [wanted], weights))
            return session.run([wanted], self._feed)[0]
        except Exception:  # whatever the framework says of a layer that cannot be: it explains nothing
            return None

    def _off(self, changed, weights):
        """How far the changed layer is from the target, of the target's size; None where it is another shape."""
        value = self._run(changed, weights, self._layer)
        return None if value is None else distance(value, self._target)


def distance(value, target):
    """The root of the mean squared difference, of that of the target, a FileTensor, by the order of axes that is
    nearer."""
    if value.size != target.size or not value.size:
        return None
    found = [_distance(turned, target) for turned in _turned(value, target.shape)]
    return min([each for each in found if each is not None] or [None])


def _distance(turned, target):
    """The same for one order of the axes, a part at a time; None where other numbers are not finite."""
    import numpy as np

    one = turned.reshape(-1) if turned.flags.c_contiguous else turned.flat
    squares = size = largest = 0.0
    for start, numbers in target.parts(_AT_ONCE):
        left = np.asarray(one[start : start + _AT_ONCE], np.float64)
        right = np.asarray(numbers, np.float64)
        finite = np.isfinite(right)
        if not np.array_equal(finite, np.isfinite(left)):
            return None
        finite &= ~((left < _HIDDEN) & (right < _HIDDEN))
        left, right = left[finite], right[finite]
        size += float(right.dot(right))
        largest = max(largest, float(np.abs(left).max()) if left.size else 0.0)
        left -= right
        squares += float(left.dot(left))
    return (squares / size) ** 0.5 if size else largest


def _turned(value, shape):
    if value.shape == tuple(shape):
        return [value]
    if value.ndim == 4 and len(shape) == 4:
        found = [value.transpose(axes) for axes in ((0, 2, 3, 1), (0, 3, 1, 2))]
        return [each for each in found if each.shape == tuple(shape)]
    if value.ndim == 3 and len(shape) == 3 and value.transpose(0, 2, 1).shape == tuple(shape):
        return [value.transpose(0, 2, 1)]
    if [size for size in value.shape if size != 1] == [size for size in shape if size != 1]:
        return [value.reshape(shape)]
    return []


def _reachable(graph):
    return set(graph.makers) | set(graph.inputs)


def _place(folder, told):
    return os.path.join(folder, os.path.basename(told["file"])), told["element_type"], told["shape"]
