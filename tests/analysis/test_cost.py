"""What layers have to compute and to move, beside numbers worked out by hand and totals that are published."""

from typing import Any

import pytest

from mlmodelscope.analysis.cost import Cost, layer_cost
from mlmodelscope.analysis.cost.cost import plain_name


def cost(kind: str, inputs: Any, outputs: Any, element_type: str | None = "float32", **more: Any) -> Cost:
    return layer_cost(kind, {"inputs": inputs, "outputs": outputs, "element_type": element_type, **more})


CONVOLUTIONS = [
    ("Conv", [[1, 3, 8, 8], [4, 3, 3, 3], [4]], [1, 4, 6, 6], 2 * 36 * 4 * 27),
    ("Conv", [[1, 8, 10, 10], [8, 1, 3, 3]], [1, 8, 8, 8], 2 * 64 * 8 * 9),  # depthwise
    ("Conv", [[1, 8, 10, 10], [8, 2, 3, 3]], [1, 8, 8, 8], 2 * 64 * 8 * 18),  # four groups
    ("Conv", [[2, 4, 10], [8, 4, 3]], [2, 8, 8], 2 * 2 * 8 * 8 * 12),  # one axis
    ("Conv", [[1, 32, 7, 7], [16, 32, 1, 1], [16], [1, 16, 7, 7]], [1, 16, 7, 7], 2 * 49 * 16 * 32),  # with a sum
    ("GroupConvolution", [[1, 8, 10, 10], [4, 2, 2, 3, 3]], [1, 8, 8, 8], 2 * 64 * 8 * 18),
    ("_FusedConv2D", [[1, 8, 8, 3], [3, 3, 3, 6], [6]], [1, 8, 8, 6], 2 * 64 * 6 * 27),
    ("_MklNativeFusedConv2D", [[1, 3, 3, 512], [3, 3, 512, 64]], [1, 3, 3, 64], 2 * 9 * 64 * 512 * 9),
    ("DepthwiseConv2dNative", [[1, 8, 8, 6], [3, 3, 6, 2]], [1, 8, 8, 12], 2 * 64 * 12 * 9),
    ("CONV_2D", [[1, 1, 1, 256], [1001, 1, 1, 256], [1001]], [1, 1, 1, 1001], 2 * 1001 * 256),
    ("DEPTHWISE_CONV_2D", [[1, 64, 64, 8], [1, 3, 3, 8], [8]], [1, 64, 64, 8], 2 * 64 * 64 * 8 * 9),
    ("aten::conv2d", [[2, 3, 32, 32], [8, 3, 3, 3], [8]], [2, 8, 16, 16], 2 * 2 * 256 * 8 * 27),
    ("ConvTranspose", [[1, 8, 10, 10], [8, 6, 2, 2]], [1, 6, 20, 20], 2 * 100 * 8 * 24),
    ("Conv2DBackpropInput", [[4], [2, 2, 6, 8], [1, 10, 10, 8]], [1, 20, 20, 6], 2 * 100 * 8 * 24),
    ("QLinearConv", [[1, 10, 10, 4], [8, 4, 3, 3], [], []], [1, 8, 8, 8], 2 * 64 * 8 * 36),
    ("ConvInteger", [[1, 3, 8, 8], [4, 3, 3, 3]], [1, 4, 6, 6], 2 * 36 * 4 * 27),
]


@pytest.mark.parametrize(("kind", "inputs", "output", "flops"), CONVOLUTIONS, ids=[each[0] for each in CONVOLUTIONS])
def test_every_weight_of_a_convolution_meets_every_place(kind: str, inputs: Any, output: Any, flops: int) -> None:
    assert cost(kind, inputs, [output]).flops == flops


PRODUCTS = [
    ("Gemm", [[3, 7], [9, 7], [9]], [3, 9], 2 * 27 * 7),
    ("Gemm", [[3, 7], [7, 9], [3, 9]], [3, 9], 2 * 27 * 7),
    ("MatMul", [[2, 3, 7], [7, 9]], [2, 3, 9], 2 * 2 * 27 * 7),
    ("FusedMatMul", [[2, 12, 5, 64], [2, 12, 5, 64]], [2, 12, 5, 5], 2 * 24 * 25 * 64),
    ("FullyConnected", [[1, 16, 4, 4], [10, 16, 4, 4], [10]], [1, 10], 2 * 10 * 256),
    ("FULLY_CONNECTED", [[1, 7, 7, 16], [10, 784], [10]], [1, 10], 2 * 10 * 784),
    ("MatMulInteger", [[3, 7], [7, 9], []], [3, 9], 2 * 27 * 7),
    ("MatMulNBits", [[1, 5, 64], [32, 2, 16], [64]], [1, 5, 32], 2 * 5 * 32 * 64),
    ("MultiHeadAttention", [[2, 5, 64], [2, 7, 64], [2, 7, 64]], [2, 5, 64], 4 * 2 * 5 * 7 * 64),
    ("Attention", [[2, 5, 64], [64, 192], [192]], [2, 5, 64], 2 * 10 * 64 * 192 + 4 * 2 * 25 * 64),
    ("aten::scaled_dot_product_attention", [[2, 8, 5, 16]] * 3, [2, 8, 5, 16], 4 * 16 * 25 * 16),
    ("LSTM", [[3, 2, 7], [1, 20, 7], [1, 20, 5]], [3, 1, 2, 5], 2 * 6 * (140 + 100)),
]


@pytest.mark.parametrize(("kind", "inputs", "output", "flops"), PRODUCTS, ids=[each[0] for each in PRODUCTS])
def test_products_sum_over_the_axis_that_is_gone(kind: str, inputs: Any, output: Any, flops: int) -> None:
    assert cost(kind, inputs, [output]).flops == flops


@pytest.mark.parametrize(
    ("kind", "inputs", "output", "flops"),
    [
        ("Relu", [[2, 5]], [2, 5], 10),
        ("Softmax", [[2, 5]], [2, 5], 50),
        ("BatchNormalization", [[1, 4, 3, 3], [4], [4], [4], [4]], [1, 4, 3, 3], 72),
        ("AddV2", [[2, 5], [5]], [2, 5], 10),
        ("Sum", [[2, 5], [2, 5], [2, 5]], [2, 5], 20),
        ("Mean", [[2, 8, 8, 6], [2]], [2, 6], 768),
        ("GlobalAveragePool", [[1, 4, 3, 3]], [1, 4, 1, 1], 36),
        ("Concat", [[1, 4], [1, 4]], [1, 8], 0),
        ("ReorderOutput", [[1, 1008]], [1, 1000], 0),
    ],
)
def test_small_layers_count_by_the_element(kind: str, inputs: Any, output: Any, flops: int) -> None:
    assert cost(kind, inputs, [output]).flops == flops


def test_bytes_are_those_of_inputs_weights_and_outputs() -> None:
    inputs, outputs = [[1, 3, 8, 8], [4, 3, 3, 3]], [[1, 4, 6, 6]]
    count = 192 + 108 + 144
    assert cost("Conv", inputs, outputs).moved_bytes == 4 * count
    assert cost("Conv", inputs, outputs, "int8").moved_bytes == count
    assert cost("Conv", inputs, outputs, "int8", moved_bytes=999).moved_bytes == 999  # the framework knows better


def test_of_a_table_only_the_rows_that_are_asked_for_move() -> None:
    assert cost("Gather", [[30000, 16], [3]], [[3, 16]], moved_bytes=2_000_000).moved_bytes == 2 * 48 * 4


def test_a_view_moves_nothing() -> None:
    assert cost("Reshape", [[1, 8], [2]], [[2, 4]]) == Cost(0, 0)


def test_what_is_not_known_is_not_guessed() -> None:
    assert cost("Mystery", [[1, 8]], [[1, 8]]) == Cost(None, 64)
    assert cost("Conv", [], []) == Cost(None, None)
    assert cost("Conv", [[1, 3, 8, 8]], [[1, 4, 6, 6]], moved_bytes=10) == Cost(None, None)  # where are its weights?
    assert cost("Relu", [[None, 8]], [[None, 8]]) == Cost(None, None)
    assert cost("Relu", [[2, 8]], [[2, 8]], None).moved_bytes is None


def test_pytorch_tells_inputs_alone_and_outputs_follow() -> None:
    assert cost("aten::linear", [[2, 8], [10, 8], [10]], []) == Cost(2 * 2 * 10 * 8, 4 * (16 + 80 + 10 + 20))
    assert cost("aten.relu.default", [[2, 8]], []) == Cost(16, 128)
    told = cost("aten::conv2d", [[1, 3, 8, 8], [4, 3, 3, 3]], [], flops=7776)
    assert told == Cost(7776, 4 * (192 + 108 + 144))
    assert cost("aten::conv2d", [[1, 3, 8, 8], [4, 3, 3, 3]], []) == Cost(None, None)  # its stride is not known


def test_the_frameworks_own_count_goes_first() -> None:
    assert cost("Mystery", [[1, 8]], [[1, 8]], flops=77).flops == 77


def test_a_kernel_counts_as_the_operator_that_it_stands_for() -> None:
    said = {"operator": "CONV_2D", "inputs": [[1, 4, 4, 8], [16, 1, 1, 8]], "outputs": [[1, 4, 4, 16]]}
    assert layer_cost("Fully Connected (NC, F32) GEMM", said).flops == 2 * 16 * 16 * 8


def test_spellings_of_one_operator_are_one() -> None:
    assert {plain_name(kind) for kind in ("Conv2D", "aten::conv2d", "_FusedConv2D", "aten._conv2d.default")} == {
        "conv2d"
    }
    assert plain_name("FusedBatchNormV3") == "batchnorm" and plain_name("FusedMatMul") == "fusedmatmul"


# Convolutions of ResNet-50 by the paper: output side, channels in and out, window, how often.
RESNET50 = [
    *[(112, 3, 64, 7, 1), (56, 64, 64, 1, 1), (56, 64, 64, 3, 3), (56, 64, 256, 1, 4), (56, 256, 64, 1, 2)],
    *[(56, 256, 128, 1, 1), (28, 128, 128, 3, 4), (28, 128, 512, 1, 4), (28, 256, 512, 1, 1), (28, 512, 128, 1, 3)],
    *[(28, 512, 256, 1, 1), (14, 256, 256, 3, 6), (14, 256, 1024, 1, 6), (14, 512, 1024, 1, 1), (14, 1024, 256, 1, 5)],
    *[(14, 1024, 512, 1, 1), (7, 512, 512, 3, 3), (7, 512, 2048, 1, 3), (7, 1024, 2048, 1, 1), (7, 2048, 512, 1, 2)],
]


def test_resnet_50_takes_4_1_billion_multiplications() -> None:
    flops = 0
    for side, taken, given, window, often in RESNET50:
        found = cost("Conv", [[1, taken, side, side], [given, taken, window, window]], [[1, given, side, side]]).flops
        assert found is not None
        flops += often * found
    flops += cost("Gemm", [[1, 2048], [1000, 2048], [1000]], [[1, 1000]]).flops or 0
    assert 4.05e9 < flops / 2 < 4.15e9
