"""Models for planted faults that take other inputs: small ones that are trained here, and real ones with a new front.

The front of a network decides what its input means: bytes, bytes less 128, quantized reals, BGR with Caffe's mean. So a
network that is known gets another front, and its weights may become int8; it answers the same to the same pictures as
long as the manifest prepares them as the front wants it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper, version_converter

from acceptance import planted_drawings as drawings
from acceptance.planted_data import SHARED
from mlmodelscope import Settings
from mlmodelscope.manifest.catalog import find_dataset, find_model
from mlmodelscope.plan.options import Options
from mlmodelscope.preparation import ask
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.provision.site import provision_model

FOLDER = Path(__file__).resolve().parents[2] / "build" / "acceptance" / "models"
"""Where they are kept; a manifest names it as `{models}`."""
Nodes = list[onnx.NodeProto]
_IMAGENET = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
_CAFFE = [104.0, 117.0, 123.0]
_HALF = [0.5, 0.5, 0.5], [0.5, 0.5, 0.5]


def make(name: str, settings: Settings) -> Path:
    """The model of this name, made at the first time."""
    path = FOLDER / f"{name}.onnx"
    if not path.is_file():
        FOLDER.mkdir(parents=True, exist_ok=True)
        model = _MODELS[name](settings)
        onnx.checker.check_model(model)
        draft = path.with_suffix(f".{os.getpid()}")
        draft.write_bytes(model.SerializeToString())
        draft.rename(path)
    return path


def _drawn(front: str, in_int8: bool = False) -> Callable[[Settings], onnx.ModelProto]:
    def make_it(settings: Settings) -> onnx.ModelProto:
        model = drawings.network(drawings.train())
        return with_front(in_small_weights(model) if in_int8 else model, front, *_HALF)

    return make_it


def _resnet(front: str, in_int8: bool = False) -> Callable[[Settings], onnx.ModelProto]:
    def make_it(settings: Settings) -> onnx.ModelProto:
        asked = ask(find_model("resnet20-cifar10"), find_dataset("cifar10-test"), Options(), settings=settings)
        model = onnx.load(provision_model(asked.plan(), ArtifactStore(settings))["graph"])
        model = version_converter.convert_version(model, 13)  # the first that has all that quantization wants
        return with_front(in_small_weights(model) if in_int8 else model, front, *_IMAGENET)

    return make_it


def _squeezenet(front: str, side: int) -> Callable[[Settings], onnx.ModelProto]:
    def make_it(settings: Settings) -> onnx.ModelProto:
        model = onnx.load(str(SHARED / "models" / "onnx" / "squeezenet1.1_nchw.onnx"))
        return with_front(model, front, *_IMAGENET, side=side)

    return make_it


_MODELS: dict[str, Callable[[Settings], onnx.ModelProto]] = {
    "drawn-bytes": _drawn("bytes"),
    "drawn-caffe": _drawn("caffe"),
    "drawn-int8": _drawn("int8", in_int8=True),
    "drawn-uint8": _drawn("uint8", in_int8=True),
    "resnet20-bytes": _resnet("bytes"),
    "resnet20-caffe": _resnet("caffe"),
    "resnet20-int8": _resnet("int8", in_int8=True),
    "resnet20-uint8": _resnet("uint8", in_int8=True),
    "squeezenet-caffe": _squeezenet("caffe", 227),
}


def with_front(
    model: onnx.ModelProto, front: str, mean: list[float], std: list[float], side: int | None = None
) -> onnx.ModelProto:
    """The same network behind an input that means something else. It took RGB from 0 to 1, less `mean`, by `std`."""
    graph = model.graph
    (old,) = [each for each in graph.input if each.name not in {weight.name for weight in graph.initializer}]
    kind = {"int8": TensorProto.INT8, "uint8": TensorProto.UINT8}.get(front, TensorProto.FLOAT)
    shape = [each.dim_value or each.dim_param or "n" for each in old.type.tensor_type.shape.dim]
    if side is not None:
        shape[2:] = [side, side]
    nodes, weights = _front(front, old.name, np.array(mean, np.float32), np.array(std, np.float32))
    graph.input.remove(old)
    graph.input.insert(0, helper.make_tensor_value_info("pixels", kind, shape))
    del graph.value_info[:]
    graph.initializer.extend(numpy_helper.from_array(value, name) for name, value in weights.items())
    everything = [*nodes, *graph.node]
    del graph.node[:]
    graph.node.extend(everything)
    return model


def _front(front: str, to: str, mean: np.ndarray, std: np.ndarray) -> tuple[Nodes, dict[str, np.ndarray]]:
    def each_channel(values: np.ndarray) -> np.ndarray:
        return values.reshape(1, 3, 1, 1).astype(np.float32)

    if front == "uint8":  # the reals that the network takes, in as many steps as a byte has
        low, high = float((-mean / std).min()), float(((1 - mean) / std).max())
        scale = (high - low) / 255
        zero = round(-low / scale)
        node = helper.make_node("DequantizeLinear", ["pixels", "pixels_scale", "pixels_zero"], [to])
        return [node], {"pixels_scale": np.float32(scale), "pixels_zero": np.uint8(zero)}
    nodes, weights = [], {}
    last = "pixels"
    if front == "int8":
        nodes.append(helper.make_node("DequantizeLinear", ["pixels", "pixels_scale", "pixels_zero"], ["fractions"]))
        weights |= {"pixels_scale": np.float32(1 / 255), "pixels_zero": np.int8(-128)}
        last, factor = "fractions", 1.0
    else:
        factor = 255.0
    if front == "caffe":
        nodes.append(helper.make_node("Add", [last, "caffe_mean"], ["bgr"]))
        nodes.append(helper.make_node("Gather", ["bgr", "turned"], ["rgb"], axis=1))
        weights |= {"caffe_mean": each_channel(np.array(_CAFFE)), "turned": np.array([2, 1, 0], np.int64)}
        last = "rgb"
    nodes.append(helper.make_node("Sub", [last, "front_mean"], ["centered"]))
    nodes.append(helper.make_node("Div", ["centered", "front_std"], [to]))
    weights |= {"front_mean": each_channel(mean * factor), "front_std": each_channel(std * factor)}
    return nodes, weights


def in_small_weights(model: onnx.ModelProto) -> onnx.ModelProto:
    """The same network with its large weights in int8, one scale for each: its answers change a little."""
    graph = model.graph
    kept, added = [], []
    for weight in graph.initializer:
        values = numpy_helper.to_array(weight)
        if values.dtype != np.float32 or values.ndim < 2:
            kept.append(weight)
            continue
        scale = np.float32(max(np.abs(values).max(), 1e-12) / 127)
        small = np.rint(values / scale).clip(-127, 127).astype(np.int8)
        name = weight.name
        kept.append(numpy_helper.from_array(small, f"{name}_int8"))
        kept.append(numpy_helper.from_array(scale, f"{name}_scale"))
        added.append(helper.make_node("DequantizeLinear", [f"{name}_int8", f"{name}_scale"], [name]))
    everything = [*added, *graph.node]
    del graph.initializer[:], graph.node[:]
    graph.initializer.extend(kept)
    graph.node.extend(everything)
    return model
