"""One word for each kind of layer, whatever a framework calls it."""

from __future__ import annotations


def plain_kind(kind: str) -> str:
    """One word for what frameworks call differently: `aten::conv2d`, `Conv` and `Convolution` are convolutions."""
    word = kind.rpartition("::")[2].lower().replace("_", "")
    for before in ("fused", "quantized", "qlinear", "depthwise", "native", "mkldnn", "cudnn-"):
        word = word.removeprefix(before)
    return next((name for name, beginnings in _KINDS if word.startswith(beginnings)), kind)


_KINDS = (
    ("convolution", ("conv",)),
    ("matrix product", ("gemm", "matmul", "linear", "addmm", "mm", "dense", "fullyconnected", "innerproduct", "bmm")),
    (
        "pooling",
        ("maxpool", "averagepool", "avgpool", "globalaveragepool", "adaptiveavgpool", "pool", "mean", "reducemean"),
    ),
    ("normalization", ("batchnorm", "layernorm", "instancenorm", "groupnorm", "lrn")),
    ("activation", ("relu", "sigmoid", "tanh", "silu", "gelu", "clip", "hardswish", "hardtanh", "swish", "clamp")),
    ("sum", ("add", "sum")),
    ("softmax", ("softmax", "logsoftmax")),
    ("reshape", ("reshape", "flatten", "view", "squeeze", "unsqueeze", "transpose", "permute", "reorder")),
    ("concatenation", ("concat", "cat")),
)
