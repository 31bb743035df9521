"""What repeats in a network is found by the names of its layers, or by the order of its operators."""

from collections.abc import Sequence

from mlmodelscope.inspection.blocks import blocks_of
from mlmodelscope.model_file.model_file import ModelFile
from mlmodelscope.model_file.network import Layer, Network

FILE = ModelFile("onnx", "onnxruntime", (), (), None, None, None, (), {}, ())


def network(layers: Sequence[tuple[str, str]]) -> Network:
    return Network(FILE, tuple(Layer(name, kind, (), ()) for name, kind in layers))


def test_operators_that_repeat_are_a_block() -> None:
    kinds = ["Stem", *["Conv", "Relu", "Add"] * 4, "Gemm"]
    (block,) = blocks_of(network([(str(place), kind) for place, kind in enumerate(kinds)]), {"1": 5, "4": 7})
    assert (block.name, block.layers, block.times, block.parameters) == ("Conv → Relu → Add", 3, 4, 12)


def test_names_with_parts_are_grouped_by_their_first() -> None:
    names = ["net.stem.conv", "net.stem.relu", "net.body.0.conv", "net.body.1.conv", "net.head.fc"]
    blocks = blocks_of(network([(name, "Conv") for name in names]), dict.fromkeys(names, 2))
    assert [(block.name, block.layers, block.parameters) for block in blocks] == [
        ("net.stem", 2, 4),
        ("net.body", 2, 4),
        ("net.head", 1, 2),
    ]


def test_a_part_with_most_layers_is_looked_into() -> None:
    names = [*[f"body.{block}.{layer}" for block in range(3) for layer in "ab"], "stem.conv", "head.fc"]
    blocks = blocks_of(network([(name, "Conv") for name in names]), {})
    assert [block.name for block in blocks] == ["body.0", "body.1", "body.2", "stem", "head"]


def test_a_network_that_does_not_repeat_has_no_blocks() -> None:
    assert blocks_of(network([("a", "Conv"), ("b", "Relu")]), {}) == []
    assert blocks_of(network([]), {}) == []
    assert blocks_of(network([(str(place), "Conv") for place in range(20)]), {}) == []
