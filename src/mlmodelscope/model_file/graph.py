"""Two questions about a graph of operators, asked the same way of every framework.

In which order does an input want its axes, and does an output come from a softmax? Each reader turns its operators
into nodes and keeps the framework's own words for them; the frameworks agree on those once case and underscores go.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

LAYOUTS = ("NCHW", "NHWC")


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# What a picture may go through on its way to the first convolution without its axes changing place.
_KEEPS_AXES = words(
    """
    add sub mul div subtract multiply divide realdiv truediv neg abs sqrt pow
    identity alias clone detach contiguous dropout stopgradient checknumerics placeholderwithdefault
    cast castlike convert convertlike to tocopy quantize dequantize quantizelinear dequantizelinear
    fakequant fakequantize fakequantwithminmaxvars quantizepertensor
    pad padv2 mirrorpad constantpadnd clip clamp clipbyvalue minimum maximum floor round
    relu relu6 prelu leakyrelu batchnormalization batchnorm instancenormalization lrn
    resize upsample interpolate resizebilinear resizenearestneighbor
    slice stridedslice split splitv concat concatv2 concatenation cat spacetobatchnd batchtospacend
    """
)
_TRANSPOSES = frozenset(["transpose", "permute"])
# What changes neither the numbers of a softmax nor what they mean.
_KEEPS_NUMBERS = words(
    """
    identity alias clone detach contiguous dropout stopgradient checknumerics
    cast castlike convert convertlike to tocopy quantize dequantize quantizelinear dequantizelinear
    fakequant fakequantize fakequantwithminmaxvars quantizepertensor
    reshape view flatten squeeze unsqueeze expanddims transpose permute
    """
)
# Behind these may be anything, a softmax too.
_OPAQUE = words(
    """
    custom delegate call callonce if while loop scan partitionedcall statefulpartitionedcall stablehlocomposite
    stablehlocustomcall tensoriterator concat concatv2 concatenation cat split splitv gather gathernd slice stridedslice
    select selectv2 where const constant placeholder parameter input getitem
    """
)


@dataclass(frozen=True, slots=True)
class Node:
    operator: str | None
    """None where it is of nobody's operator set."""
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    order: tuple[int, ...] | None = None
    """Of a transposition: which axis of its input each axis of its output is."""
    layout: str | None = None
    """Of a convolution or pooling: in which order it takes the axes of its first input."""


class Graph:
    def __init__(self, nodes: Iterable[Node]) -> None:
        self._makers: dict[str, Node] = {}
        self._users: dict[str, list[Node]] = {}
        for node in nodes:
            for name in node.outputs:
                self._makers.setdefault(name, node)
            for name in dict.fromkeys(node.inputs):
                self._users.setdefault(name, []).append(node)

    def input_layout(self, name: str, rank: int | None) -> str | None:
        """The layout that the first convolution behind the input proves."""
        if rank != 4:
            return None
        start: tuple[int, ...] = (0, 1, 2, 3)
        waiting, seen = deque([(name, start)]), {name}
        while waiting:
            tensor, axes = waiting.popleft()
            for node in self._users.get(tensor, ()):
                if node.layout is not None:
                    if node.inputs[0] == tensor:
                        letters = dict(zip(axes, node.layout, strict=False))
                        layout = "".join(letters.get(axis, "?") for axis in start)
                        return layout if layout in LAYOUTS else None
                    continue
                turned = _axes_behind(node, axes)
                if turned is not None:
                    new = [made for made in node.outputs if made not in seen]
                    seen.update(new)
                    waiting.extend((made, turned) for made in new)
        return None

    def ends_in_softmax(self, name: str) -> bool | None:
        node = self.last_operator(name)
        if node is None or node.operator is None or word(node.operator) in _OPAQUE:
            return None
        return word(node.operator) == "softmax" or self._is_spelled_out_softmax(node)

    def last_operator(self, name: str) -> Node | None:
        """What makes the numbers of an output, behind all that only hands them on."""
        seen: set[str] = set()
        while name not in seen and name in self._makers:
            seen.add(name)
            node = self._makers[name]
            if node.operator is None or word(node.operator) not in _KEEPS_NUMBERS or not node.inputs:
                return node
            name = node.inputs[0]
        return None

    def _is_spelled_out_softmax(self, node: Node) -> bool:
        """exp(x) / sum(exp(x)), as old converters write it."""
        if word(node.operator or "") not in ("div", "realdiv", "divide") or len(node.inputs) < 2:
            return False
        above, below = (self._makers.get(name) for name in node.inputs[:2])
        return (
            above is not None
            and below is not None
            and word(above.operator or "") in ("exp", "stablehloexponential")
            and word(below.operator or "") in ("sum", "reducesum")
            and below.inputs[:1] == node.inputs[:1]
        )


def word(operator: str) -> str:
    return operator.lower().replace("_", "")


def _axes_behind(node: Node, axes: tuple[int, ...]) -> tuple[int, ...] | None:
    """Which axes of the input those behind the node are; None where that is lost."""
    if node.operator is None:
        return None
    if word(node.operator) in _KEEPS_AXES:
        return axes
    if word(node.operator) in _TRANSPOSES and node.order and sorted(node.order) == [0, 1, 2, 3]:
        return tuple(axes[axis] for axis in node.order)
    return None
