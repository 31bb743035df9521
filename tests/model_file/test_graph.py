"""The two questions about a graph, where the real files do not ask them."""

from mlmodelscope.model_file.graph import Graph, Node


def test_a_softmax_is_seen_through_what_keeps_its_numbers() -> None:
    nodes = [Node("Softmax", ("x",), ("a",)), Node("Reshape", ("a", "s"), ("b",)), Node("DEQUANTIZE", ("b",), ("y",))]
    assert Graph(nodes).ends_in_softmax("y") is True


def test_a_softmax_that_is_spelled_out_is_one() -> None:
    nodes = [Node("Exp", ("x",), ("e",)), Node("ReduceSum", ("e",), ("s",)), Node("Div", ("e", "s"), ("y",))]
    assert Graph(nodes).ends_in_softmax("y") is True


def test_what_cannot_be_looked_into_is_unknown() -> None:
    assert Graph([Node(None, ("x",), ("y",))]).ends_in_softmax("y") is None
    assert Graph([Node("Concat", ("x",), ("y",))]).ends_in_softmax("y") is None
    assert Graph([]).ends_in_softmax("y") is None
    assert Graph([Node("Sigmoid", ("x",), ("y",))]).ends_in_softmax("y") is False


def test_a_graph_that_bites_its_tail_ends() -> None:
    nodes = [Node("Identity", ("a",), ("b",)), Node("Identity", ("b",), ("a",))]
    assert Graph(nodes).ends_in_softmax("a") is None
    assert Graph(nodes).input_layout("a", 4) is None


def test_two_transpositions_cancel_each_other() -> None:
    there = Node("Transpose", ("x",), ("a",), order=(0, 3, 1, 2))
    back = Node("Transpose", ("a",), ("b",), order=(0, 2, 3, 1))
    assert Graph([there, back, Node("Conv", ("b",), ("y",), layout="NHWC")]).input_layout("x", 4) == "NHWC"
    assert Graph([there, Node("Conv", ("a",), ("y",), layout="NCHW")]).input_layout("x", 4) == "NHWC"


def test_a_convolution_behind_a_reshape_proves_nothing() -> None:
    nodes = [Node("Reshape", ("x",), ("a",)), Node("Conv", ("a",), ("y",), layout="NCHW")]
    assert Graph(nodes).input_layout("x", 4) is None


def test_a_tensor_that_is_a_kernel_is_no_picture() -> None:
    assert Graph([Node("Conv", ("p", "x"), ("y",), layout="NCHW")]).input_layout("x", 4) is None
