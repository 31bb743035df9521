"""Products of matrices, and attention, which is two of them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from mlmodelscope.model_file.graph import words

Shape = Sequence[int]

_PRODUCTS = words(
    """
    gemm matmul fusedmatmul batchmatmul batchmatmulex matmulbias linear linearrelu qgemm fullyconnected
    innerproduct dense dot batchdot bmm mm addmm baddbmm dynamicquantizematmul matmulintegertofloat fusedgemm
    gemmfloat8 linalggemm2 sgmkldnnfullyconnected linearallreduce mklmatmul quantizedmatmul einsummatmul
    """
)
_FIRST_IS_ADDED = frozenset(["addmm", "baddbmm", "addmmactivation"])
_PACKED = frozenset(["matmulnbits", "matmulbnb4"])
"""Products whose weights are packed: their shape says nothing, that of the other factor does."""
_ATTENTIONS = frozenset(
    [
        "attention",
        "multiheadattention",
        "scaleddotproductattention",
        "scaleddotproductflashattention",
        "scaleddotproductefficientattention",
        "scaleddotproductflashattentionforcpu",
        "scaleddotproductcudnnattention",
    ]
)

WEIGHTED = _PRODUCTS | _ATTENTIONS


def flops(name: str, inputs: Sequence[Shape], outputs: Sequence[Shape]) -> int | None:
    if name in _PRODUCTS:
        factors = [shape for shape in inputs if len(shape) >= 2]
        if name in _FIRST_IS_ADDED:
            factors = factors[-2:]
        return _product(factors[0], factors[1], outputs[0]) if len(factors) >= 2 else None
    if name in _PACKED:
        return 2 * prod(outputs[0]) * inputs[0][-1] if inputs[0] else None
    if name in _ATTENTIONS:
        return _attention(inputs)
    return None


def outputs(name: str, inputs: Sequence[Shape]) -> list[Shape]:
    """The shape of a product, by the shapes of its factors, as PyTorch names and orders them."""
    factors = [shape for shape in inputs if len(shape) >= 2]
    if name in _FIRST_IS_ADDED:
        factors = factors[-2:]
    if len(factors) < 2:
        return []
    left, right = factors[:2]
    if name in _ATTENTIONS:
        return [[*left[:-1], inputs[2][-1]]] if len(inputs) > 2 and inputs[2] else []
    if name.startswith("linear"):
        return [[*left[:-1], right[0]]]
    return [[*left[:-1], right[-1]]]


def _product(left: Shape, right: Shape, output: Shape) -> int | None:
    """Two operations for each element of the output and of the axis that is summed over."""
    columns = output[-1] if output else 0
    if not columns or columns not in right[-2:]:  # a layer of several axes that are flattened, or weights on the left
        rows = output[0] if output else 0
        if rows and rows == left[0] and prod(left) % rows == 0 and prod(right) == prod(left) // rows * columns:
            return 2 * prod(output) * (prod(left) // rows)
        return None
    return 2 * prod(output) * (right[-1] * right[-2] // columns)


def _attention(inputs: Sequence[Shape]) -> int | None:
    """Scores, and values weighted by them; the softmax between is not counted."""
    first, second = inputs[0], inputs[1] if len(inputs) > 1 else ()
    if len(first) == 3 and len(second) == 2 and second[0] == first[2] and second[1] % 3 == 0:
        batch, length, width = first  # its own projections are inside
        inner = second[1] // 3
        return 2 * batch * length * width * 3 * inner + 4 * batch * length * length * inner
    if len(inputs) < 3 or not len(first) == len(second) == len(inputs[2]) or len(first) not in (3, 4):
        return None
    value = inputs[2]
    return 2 * prod(first) * second[-2] + 2 * prod(first[:-1]) * second[-2] * value[-1]
