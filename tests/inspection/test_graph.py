"""A network as a graph to look at: layers in the order in which they run, and nothing of a file without bounds."""

import json
from collections.abc import Sequence
from pathlib import Path

from mlmodelscope.inspection.graph import MOST_EACH, MOST_LAYERS, graph_of, order_of, taken_by
from mlmodelscope.inspection.summary import inspect_file, summarize
from mlmodelscope.model_file.model_file import ModelFile, TensorInfo
from mlmodelscope.model_file.network import Layer, Network, Weight
from model_file import small_models as small

LITE = Path(__file__).parents[2] / "manifests" / "models" / "graphs" / "efficientnet-lite0.onnx"
INPUT = TensorInfo("x", "float32", (1, 3, 8, 8))


def network(layers: Sequence[Layer], **weights: Weight) -> Network:
    file = ModelFile("onnx", "onnxruntime", (INPUT,), (), None, None, None, (), {}, ())
    return Network(file, tuple(layers), weights)


def test_layers_come_behind_those_that_they_take_from() -> None:
    found = network([Layer("b", "Relu", ("a",), ("b",)), Layer("a", "Relu", ("x",), ("a",))])
    graph = graph_of(summarize(found, {}))
    assert [each["name"] for each in graph["layers"]] == ["a", "b"]
    first, second = graph["layers"]
    assert first["inputs"] == [{"layer": None, "tensor": "x", "shape": [1, 3, 8, 8]}]
    assert second["inputs"] == [{"layer": 0, "tensor": "a", "shape": [1, 3, 8, 8]}]


def test_a_layer_that_works_in_place_is_taken_from(tmp_path: Path) -> None:
    (tmp_path / "net.prototxt").write_text(small.PROTOTXT)
    (tmp_path / "net.caffemodel").write_bytes(small.caffemodel())
    graph = graph_of(inspect_file(tmp_path / "net.prototxt"))
    taken = {each["name"]: [one["layer"] for one in each["inputs"]] for each in graph["layers"]}
    assert taken == {"conv": [None], "relu": [0], "pool": [1], "dense": [2], "prob": [3]}
    assert graph["parameters"] == small.PARAMETERS


def test_a_loop_keeps_the_order_of_the_file() -> None:
    loop = [
        Layer("a", "Add", ("x", "b"), ("a",)),
        Layer("b", "Relu", ("a",), ("b",)),
        Layer("c", "Relu", ("c",), ("c",)),
    ]
    taken = taken_by(network(loop))
    assert [[each.layer for each in inputs] for inputs in taken] == [[None, 1], [0], [None]]
    assert sorted(order_of(taken)) == [0, 1, 2]
    assert len(graph_of(summarize(network(loop), {}))["layers"]) == 3


def test_neighbors_of_one_name_are_a_block_and_blocks_have_no_loops() -> None:
    graph = graph_of(inspect_file(LITE))
    assert [each["name"] for each in graph["blocks"]][:2] == ["stem", "blocks.0"]
    assert sum(each["layers"] for each in graph["blocks"]) + sum(
        each["block"] is None for each in graph["layers"]
    ) == len(graph["layers"])
    places = [each["block"] for each in graph["layers"] if each["block"] is not None]
    assert places == sorted(places)
    for number, layer in enumerate(graph["layers"]):
        assert all(each["layer"] is None or each["layer"] < number for each in layer["inputs"])
    assert graph["parameters"] == 4_652_008 and graph["layers"][0]["attributes"]


def test_operators_that_repeat_are_blocks_where_names_tell_none() -> None:
    kinds = ["Stem", *["Conv", "Relu"] * 3]
    names = ["x", *(str(place) for place in range(len(kinds)))]
    layers = [Layer(str(place), kind, (names[place],), (str(place),)) for place, kind in enumerate(kinds)]
    graph = graph_of(summarize(network(layers), {}))
    assert [each["name"] for each in graph["blocks"]] == [f"Conv → Relu #{number}" for number in (1, 2, 3)]
    assert [each["block"] for each in graph["layers"]] == [None, 0, 0, 1, 1, 2, 2]


def test_what_a_hostile_network_says_is_bounded() -> None:
    """Many layers, names without end or with control characters, and numbers that no client could read."""
    huge = Weight("w", "float32", (1 << 62,) * 8, "parameter")
    attributes = {f"key{place}": "v" * 10_000 for place in range(1000)} | {"numbers": tuple(range(100_000))}
    wide = Layer("\x1b[31m" + "n" * 100_000, "K", ("x", "w", *map(str, range(1000))), ("y",), attributes)
    layers = [wide, *(Layer(f"layer {place}", "Relu", ("y",), (f"z{place}",)) for place in range(MOST_LAYERS + 5))]
    graph = graph_of(summarize(network(layers, w=huge), {}))
    assert len(graph["layers"]) == MOST_LAYERS and graph["more_layers"] == 6
    first = graph["layers"][0]
    assert len(first["name"]) <= 160 and first["name"].isprintable()
    assert len(first["inputs"]) == len(first["attributes"]) == MOST_EACH and first["more"] > 1900
    assert graph["parameters"] is None and first["parameters"] is None
    assert len(json.dumps(graph)) < 8 << 20


def test_a_file_of_weights_alone_is_a_list_without_operators(tmp_path: Path) -> None:
    path = tmp_path / "weights.safetensors"
    path.write_bytes(small.safetensors())
    graph = graph_of(inspect_file(path))
    assert graph["layers"] and all(each["kind"] is None and each["inputs"] == [] for each in graph["layers"])
