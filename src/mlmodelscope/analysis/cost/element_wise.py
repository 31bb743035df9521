"""Layers that do a little with each element, or nothing but move it."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from mlmodelscope.model_file.graph import words

Shape = Sequence[int]


def _each(number: int, names: str) -> dict[str, int]:
    return dict.fromkeys(names.split(), number)


# Operations for each element of the output. A function such as an exponential counts as one.
_OF_OUTPUT = {
    **_each(
        1,
        """
        relu threshold abs neg negative exp log log1p expm1 sqrt rsqrt reciprocal sin cos tan asin acos atan sinh cosh
        tanh erf floor ceil round rint sign square not logicalnot isnan isinf
        add addv2 biasadd bias sub subtract mul multiply div divide realdiv truediv pow power mod floormod floordiv
        minimum maximum min2 max2 and or xor logicaland logicalor bitwiseand bitwiseor
        equal notequal less lessorequal greater greaterorequal eq ne lt le gt ge squareddifference
        broadcastadd broadcastmul broadcastsub broadcastdiv elemwiseadd elemwisemul elemwisesub elemwisediv plusscalar
        mulscalar minusscalar divscalar eltwise binaryop unaryop naryeltwise scalarmul thresholdedrelu
        """,
    ),
    **_each(
        2,
        """
        clip clamp hardtanh relu6 relun1to1 leakyrelu prelu batchnormalization batchnorm
        batchnormwithglobalnormalization
        fusedbatchnorm
        cudnnbatchnorm nativebatchnorm scale scaleshift mvnscale quantizelinear dequantizelinear quantize
        dequantize scaleandtranslate addcmul fma muladd
        """,
    ),
    **_each(3, "elu softplus softsign celu dynamicquantizelinear"),
    **_each(4, "sigmoid logistic selu hardsigmoid fakequantize logsigmoid"),
    **_each(
        5,
        """
        softmax softmax2d logsoftmax hardswish hswish silu swish quickgelu gelu biasgelu fastgelu biassoftmax
        layernorm layernormalization nativelayernorm instancenorm instancenormalization groupnorm groupnormalization
        rmsnorm rmsnormalization simplifiedlayernormalization mvn meanvariancenormalization
        """,
    ),
    **_each(6, "mish skiplayernormalization embedlayernormalization skipsimplifiedlayernormalization"),
}
# Operations for each element of the input.
_OF_INPUT = _each(
    1,
    """
    reducemean reducesum reducemax reducemin reduceprod reduceany reduceall prod any all amax amin
    argmax argmin cumsum reduction reduce
    """,
) | _each(2, "reducel2 reducesumsquare reducel1 reducelogsum norm var std lpnormalization")
_OF_SEVERAL = frozenset(["addn", "sum", "mean", "max", "min"])
"""Of several tensors element by element, or of one that is reduced: one word for both in some frameworks."""
_NOTHING = words(
    """
    identity identityn copy cast castlike convert memcpyfromhost memcpytohost reorderinput reorderoutput reorder
    transpose
    permute concat concatv2 concatenation cat split splitv splittoconstantsequence chunk slice stridedslice crop
    pad padv2 mirrorpad constantpadnd tile expand broadcast broadcastto repeat gather gatherv2 gathernd
    gatherelements indexselect embedding take onehot where select selectv2 spacetodepth depthtospace
    pixelshuffle shufflechannel channelshuffle spacetobatchnd batchtospacend reverse flip roll stack pack unpack
    unstack fill zeros ones constantofshape range shape size clone contiguous tocopy copytocast
    resizenearestneighbor memset output input parameter result noop alias
    """
)
VIEWS = words(
    """
    reshape flatten squeeze unsqueeze expanddims view unsafeview dropout detach aliasview stopgradient tview
    asstrided t
    """
)
"""Layers that need not touch their tensors at all."""
PICKS = words(
    """
    gather gatherv2 gathernd gatherelements embedding indexselect take slice stridedslice crop
    """
)
"""Layers that read as much as they give, however large their input is."""

KEEPS_SHAPE = frozenset(_OF_OUTPUT)


def flops(name: str, inputs: Sequence[Shape], outputs: Sequence[Shape]) -> int | None:
    if name in _NOTHING or name in VIEWS:
        return 0
    if name in _OF_SEVERAL:
        reduced = len(inputs) == 1 or not outputs[0] or len(outputs[0]) < len(inputs[0])
        return prod(inputs[0]) if reduced else (len(inputs) - 1) * prod(outputs[0])
    if name in _OF_OUTPUT:
        return _OF_OUTPUT[name] * prod(outputs[0])
    if name in _OF_INPUT:
        return _OF_INPUT[name] * prod(inputs[0])
    return None
