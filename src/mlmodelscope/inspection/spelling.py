"""Layers of other formats in ONNX's words, so that one set of rules tells the shapes that they give.

What is not listed here keeps its own word, for which there is no rule.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from mlmodelscope.inspection.window_shape import number, numbers
from mlmodelscope.model_file.graph import words
from mlmodelscope.model_file.network import Layer, Value

_ONNX = ("onnx",)


def spelled_as_onnx(form: str, layer: Layer) -> Layer:
    if form in _ONNX:
        return layer
    spell = _SPELLINGS.get(form)
    found = spell(layer) if spell is not None else None
    return found if found is not None else replace(layer, kind=f"{form}:{layer.kind}")


def _as(layer: Layer, kind: str, attributes: Mapping[str, Value | None] | None = None) -> Layer:
    kept = {name: value for name, value in (attributes or {}).items() if value is not None}
    return Layer(layer.name, kind, layer.inputs, layer.outputs, kept, layer.domain)


def _pair(layer: Layer, name: str, default: int | None, height: str = "", width: str = "") -> tuple[int, ...] | None:
    """(height, width) of an attribute that is one number, two, or two attributes."""
    told = numbers(layer, name)
    if told is not None:
        return told * 2 if len(told) == 1 else told
    if height in layer.attributes or width in layer.attributes:
        return (number(layer, height, default or 0), number(layer, width, default or 0))
    return (default, default) if default is not None else None


def _caffe(layer: Layer) -> Layer | None:
    if layer.kind in ("Convolution", "Deconvolution", "ConvolutionDepthwise", "DepthwiseConvolution"):
        pads = _pair(layer, "pad", 0, "pad_h", "pad_w") or (0, 0)
        words_of_onnx = {
            "strides": _pair(layer, "stride", 1, "stride_h", "stride_w"),
            "pads": (*pads, *pads),
            "dilations": _pair(layer, "dilation", 1),
            "group": number(layer, "group", 1),
        }
        return _as(layer, "ConvTranspose" if layer.kind == "Deconvolution" else "Conv", words_of_onnx)
    if layer.kind == "Pooling":
        if layer.attributes.get("global_pooling") in ("true", 1):
            return _as(layer, "GlobalAveragePool")
        pads = _pair(layer, "pad", 0, "pad_h", "pad_w") or (0, 0)
        rounds_down = layer.attributes.get("round_mode") in ("FLOOR", 1)
        return _as(
            layer,
            "MaxPool",
            {
                "kernel_shape": _pair(layer, "kernel_size", None, "kernel_h", "kernel_w"),
                "strides": _pair(layer, "stride", 1, "stride_h", "stride_w"),
                "pads": (*pads, *pads),
                "ceil_mode": 0 if rounds_down else 1,
            },
        )
    if layer.kind == "InnerProduct":
        return _as(layer, "Dense", {"axis": number(layer, "axis", 1)})
    if layer.kind == "Concat":
        return _as(layer, "Concat", {"axis": number(layer, "axis", number(layer, "concat_dim", 1))})
    if layer.kind == "Permute":
        return _as(layer, "Transpose", {"perm": numbers(layer, "order")})
    if layer.kind == "Reshape" and "axis" not in layer.attributes:
        return _as(layer, "Reshape", {"shape": numbers(layer, "shape")})
    if layer.kind == "Flatten" and number(layer, "end_axis", -1) == -1:
        return _as(layer, "Flatten", {"axis": number(layer, "axis", 1)})
    if layer.kind == "Eltwise":
        return _as(layer, "Sum")
    if layer.kind == "Split":
        return _as(layer, "Copies")
    return _as(layer, "Keeps") if layer.kind in _CAFFE_KEEPS else None


_CAFFE_KEEPS = words(
    """
    ReLU ReLU6 PReLU ELU Sigmoid TanH BNLL AbsVal Power Exp Log Softmax BatchNorm Scale Bias LRN Dropout MVN Normalize
    Swish BN
    """
)


def _ncnn(layer: Layer) -> Layer | None:
    if layer.kind in ("Convolution", "ConvolutionDepthWise", "Deconvolution", "DeconvolutionDepthWise"):
        width = number(layer, "1", 0)
        stride, dilation = number(layer, "3", 1), number(layer, "2", 1)
        left = number(layer, "4", 0)
        top, right = number(layer, "14", left), number(layer, "15", left)
        pads = (top, left, number(layer, "16", top), right)
        said: dict[str, Value | None] = {
            "kernel_shape": (number(layer, "11", width), width),
            "strides": (number(layer, "13", stride), stride),
            "dilations": (number(layer, "12", dilation), dilation),
            "group": number(layer, "7", 1) if layer.kind.endswith("DepthWise") else 1,
        }
        said |= {"auto_pad": "SAME_UPPER"} if left in (-233, -234) else {"pads": pads}
        return _as(layer, "Conv" if layer.kind.startswith("Conv") else "ConvTranspose:ncnn", said)
    if layer.kind == "Pooling":
        return _ncnn_pooling(layer)
    if layer.kind == "InnerProduct":
        return _as(layer, "Dense")
    if layer.kind in ("BinaryOp", "Eltwise"):
        return _as(layer, "Sum") if len(layer.inputs) > 1 else _as(layer, "Keeps")
    if layer.kind == "Split":
        return _as(layer, "Copies")
    if layer.kind == "Concat" and number(layer, "0", 0) >= 0:
        return _as(layer, "Concat", {"axis": number(layer, "0", 0) + 1})  # ncnn has no axis for the batch
    return _as(layer, "Keeps") if layer.kind in _NCNN_KEEPS else None


def _ncnn_pooling(layer: Layer) -> Layer | None:
    if number(layer, "4", 0):
        return _as(layer, "GlobalFlat")
    width, stride, left = number(layer, "1", 0), number(layer, "2", 1), number(layer, "3", 0)
    top, right = number(layer, "13", left), number(layer, "14", left)
    mode = number(layer, "5", 0)
    said: dict[str, Value | None] = {
        "kernel_shape": (number(layer, "11", width), width),
        "strides": (number(layer, "12", stride), stride),
        "ceil_mode": int(mode == 0),
        "pads": (top, left, number(layer, "15", top), right),
    }
    return _as(layer, "MaxPool", said if mode < 2 else {**said, "auto_pad": "SAME_UPPER"})


_NCNN_KEEPS = words(
    """
    ReLU PReLU ELU SELU Sigmoid TanH BNLL AbsVal Power Exp Log Softmax BatchNorm Scale Bias LRN Dropout Normalize Clip
    HardSwish HardSigmoid Swish Mish GELU InstanceNorm GroupNorm LayerNorm UnaryOp Noop Cast
    """
)


def _mxnet(layer: Layer) -> Layer | None:
    if layer.attributes.get("layout", "NCHW") not in ("NCHW", "None"):
        return None
    pads = numbers(layer, "pad") or ()
    if layer.kind in ("Convolution", "Deconvolution"):
        said: dict[str, Value | None] = {
            "strides": numbers(layer, "stride") or None,
            "dilations": numbers(layer, "dilate") or None,
            "pads": (*pads, *pads) or None,
            "group": number(layer, "num_group", 1),
        }
        if layer.kind == "Deconvolution":
            said["output_padding"] = numbers(layer, "adj") or None
        return _as(layer, "Conv" if layer.kind == "Convolution" else "ConvTranspose", said)
    if layer.kind == "Pooling":
        if str(layer.attributes.get("global_pool", "False")) in ("True", "1"):
            return _as(layer, "GlobalAveragePool")
        ceil = layer.attributes.get("pooling_convention") == "full"
        return _as(
            layer,
            "MaxPool",
            {
                "kernel_shape": numbers(layer, "kernel"),
                "strides": numbers(layer, "stride") or None,
                "pads": (*pads, *pads) or None,
                "ceil_mode": int(ceil),
            },
        )
    if layer.kind == "Activation":
        kind = {"relu": "Relu", "sigmoid": "Sigmoid", "tanh": "Tanh", "softrelu": "Softplus", "softsign": "Softsign"}
        return _as(layer, kind.get(str(layer.attributes.get("act_type")), "Keeps"))
    if layer.kind in ("SoftmaxOutput", "SoftmaxActivation"):
        return replace(_as(layer, "Softmax"), inputs=layer.inputs[:1])  # its labels are for training
    if layer.kind == "FullyConnected" and str(layer.attributes.get("flatten", "True")) in ("True", "1"):
        return _as(layer, "Dense")
    if layer.kind == "Concat":
        return _as(layer, "Concat", {"axis": number(layer, "dim", 1)})
    if layer.kind == "Flatten":
        return _as(layer, "Flatten")
    if layer.kind.lower().startswith(("elemwise_", "broadcast_", "_plus", "_mul", "_sub", "_minus", "_div", "add_n")):
        return _as(layer, "Keeps") if "scalar" in layer.kind.lower() else _as(layer, "Sum")
    return _as(layer, "Keeps") if layer.kind in _MXNET_KEEPS else None


_MXNET_KEEPS = words(
    """
    LeakyReLU relu sigmoid tanh softmax log_softmax BatchNorm LayerNorm LRN
    InstanceNorm Dropout clip identity _copy BlockGrad L2Normalization Cast exp sqrt
    """
)


def _caffe2(layer: Layer) -> Layer | None:
    if layer.attributes.get("order", "NCHW") != "NCHW":
        return None
    kernel, strides = _pair(layer, "kernels", None), _pair(layer, "strides", None)
    kernel = kernel or _pair(layer, "kernel", None, "kernel_h", "kernel_w")
    strides = strides or _pair(layer, "stride", 1, "stride_h", "stride_w")
    pads = numbers(layer, "pads")
    if pads is None:
        one = number(layer, "pad", 0)
        pads = tuple(number(layer, f"pad_{side}", one) for side in "tlbr")
    said: dict[str, Value | None] = {"strides": strides, "pads": pads, "group": number(layer, "group", 1)}
    if layer.kind in ("Conv", "ConvTranspose"):
        return _as(layer, layer.kind, {**said, "dilations": _pair(layer, "dilation", 1)})
    if layer.kind in ("MaxPool", "AveragePool"):
        if number(layer, "global_pooling", 0):
            return _as(layer, "GlobalAveragePool")
        return _as(layer, "MaxPool", {**said, "kernel_shape": kernel})
    if layer.kind == "FC":
        return _as(layer, "Dense", {"axis": number(layer, "axis", 1)})
    if layer.kind == "SpatialBN":
        return _as(layer, "Keeps")
    known = words("Relu Sigmoid Tanh Softmax Clip Copy LRN Dropout LeakyRelu PRelu")
    if layer.kind in known:
        return _as(layer, "Keeps")
    return layer if layer.kind in ("Sum", "Flatten", "Add", "Mul") else None


_SPELLINGS: dict[str, Callable[[Layer], Layer | None]] = {
    "caffe": _caffe,
    "ncnn": _ncnn,
    "mxnet": _mxnet,
    "caffe2": _caffe2,
}
