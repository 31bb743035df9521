"""Every format tells the same of the same network: its layers, its weights, where it begins and ends."""

import json
import struct
from pathlib import Path

import pytest

from mlmodelscope.model_file.describe import describe_model, read_network, weights_beside
from mlmodelscope.model_file.model_file import ModelFileError
from model_file import small_models as small

GRAPHS = ["caffe", "ncnn", "mxnet", "caffe2", "cntk"]
INPUTS = {"caffe": (1, 3, 8, 8), "ncnn": (1, 3, 8, 8)}
OUTPUTS = {"mxnet": "softmax_output"}
FILES = Path(__file__).parent / "files"


@pytest.mark.parametrize("kind", GRAPHS)
def test_the_small_network_is_the_same_in_every_format(kind: str, tmp_path: Path) -> None:
    network = read_network(small.write(kind, tmp_path))
    assert network.file.format == network.file.framework == kind
    (image,), (scores,) = network.file.inputs, network.file.outputs
    assert (image.name, image.shape, image.element_type) == ("data", INPUTS.get(kind, (None, 3, 8, 8)), "float32")
    assert scores.name == OUTPUTS.get(kind, "prob")
    assert network.file.ends_in_softmax is True
    assert sum(weight.count for weight in network.weights.values()) == small.PARAMETERS
    assert {weight.role for weight in network.weights.values()} == {"parameter"}
    assert sorted(bytes(weight.data or b"") for weight in network.weights.values()) == sorted(
        data for _, data in small.TENSORS.values()
    )
    assert not network.file.notes and not network.notes


@pytest.mark.parametrize("kind", ["caffe", "ncnn", "mxnet", "caffe2"])
def test_without_its_weights_a_graph_still_has_layers_and_says_what_is_missing(kind: str, tmp_path: Path) -> None:
    path = small.write(kind, tmp_path)
    beside = weights_beside(path)
    assert beside is not None
    beside.unlink()
    network = read_network(path)
    assert len(network.layers) == 5 and "beside it" in network.file.notes[0]
    assert [tensor.name for tensor in network.file.inputs] == ["data"]


def test_a_caffemodel_alone_has_its_layers_too(tmp_path: Path) -> None:
    (tmp_path / "a.caffemodel").write_bytes(small.caffemodel())
    (tmp_path / "b.caffemodel").write_bytes(small.old_caffemodel())
    assert [layer.kind for layer in read_network(tmp_path / "a.caffemodel").layers] == ["Convolution", "InnerProduct"]
    old = read_network(tmp_path / "b.caffemodel")
    assert {name: weight.shape for name, weight in old.weights.items()} == {
        "conv/weight": (4, 3, 3, 3),
        "conv/bias": (4,),
    }


def test_what_caffe_only_trains_with_is_left_out(tmp_path: Path) -> None:
    kinds = [layer.kind for layer in read_network(small.write("caffe", tmp_path)).layers]
    assert kinds == ["Convolution", "ReLU", "Pooling", "InnerProduct", "Softmax"]


def test_weights_of_layers_that_a_network_lacks_are_named(tmp_path: Path) -> None:
    path = small.write("caffe", tmp_path)
    path.write_text(small.PROTOTXT.replace('name: "dense"', 'name: "other"'))
    assert "`dense`" in read_network(path).file.notes[0]


def test_bytes_that_no_layer_of_ncnn_takes_are_counted(tmp_path: Path) -> None:
    path = small.write("ncnn", tmp_path)
    (tmp_path / "small.bin").write_bytes(small.ncnn_weights() + bytes(12))
    assert "12 bytes of the weights belong to no layer" in read_network(path).notes[0]


@pytest.mark.parametrize(("mark", "kind", "size"), [(0x01306B47, "float16", 2), (0x000D4B38, "int8", 1)])
def test_ncnn_says_in_which_type_weights_are(tmp_path: Path, mark: int, kind: str, size: int) -> None:
    path = small.write("ncnn", tmp_path)
    content = b""
    for name in ("conv", "dense"):
        count = len(small.TENSORS[f"{name}.weight"][1]) // 4
        content += struct.pack("<I", mark) + bytes(count * size + -(count * size) % 4)
        content += small.TENSORS[f"{name}.bias"][1]
    (tmp_path / "small.bin").write_bytes(content)
    network = read_network(path)
    assert network.weights["conv/weight"].element_type == kind and not network.notes
    assert bytes(network.weights["dense/bias"].data or b"") == small.TENSORS["dense.bias"][1]


def test_weights_behind_a_layer_whose_order_is_not_known_are_not_guessed(tmp_path: Path) -> None:
    path = small.write("ncnn", tmp_path)
    path.write_text(small.NCNN.replace("ReLU relu", "LSTM relu"))
    network = read_network(path)
    assert network.weights["conv/weight"].data is not None and network.weights["dense/weight"].data is None
    assert "`LSTM`" in network.notes[0]


def test_of_several_epochs_the_last_is_taken(tmp_path: Path) -> None:
    path = small.write("mxnet", tmp_path)
    (tmp_path / "small-0010.params").write_bytes(small.mxnet_params())
    (tmp_path / "other-0099.params").write_bytes(small.mxnet_params())
    assert weights_beside(path) == tmp_path / "small-0010.params"


def test_parameters_that_a_symbol_needs_and_the_file_lacks_are_named(tmp_path: Path) -> None:
    path = small.write("mxnet", tmp_path)
    symbol = json.loads(small.mxnet_symbol())
    symbol["nodes"][1]["name"] = "other_weight"
    path.write_text(json.dumps(symbol))
    assert "`other_weight`" in read_network(path).file.notes[0]


def test_an_init_net_alone_is_called_one(tmp_path: Path) -> None:
    small.write("caffe2", tmp_path)
    network = read_network(tmp_path / "init_net.pb")
    assert "init net" in network.file.notes[0] and network.weights["conv_w"].shape == small.WEIGHT


@pytest.mark.parametrize("kind", ["safetensors", "shards", "mxnet"])
def test_weights_alone_have_modules_and_no_graph(kind: str, tmp_path: Path) -> None:
    small.write("safetensors", tmp_path)
    small.write("mxnet", tmp_path)
    index = {"weight_map": dict.fromkeys(small.TENSORS, "small.safetensors")}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    name = {"safetensors": "small.safetensors", "mxnet": "small-0000.params"}.get(kind, "model.safetensors.index.json")
    network = read_network(tmp_path / name)
    assert sum(weight.count for weight in network.weights.values()) == small.PARAMETERS
    assert network.file.inputs == () and "without a graph" in network.file.notes[0]
    if kind != "mxnet":
        assert [layer.name for layer in network.layers] == ["conv", "dense"]
    with pytest.raises(ModelFileError, match="weights"):
        describe_model(tmp_path / name)


def test_a_state_dict_is_read_without_running_its_pickle() -> None:
    network = read_network(FILES / "torch_state_dict.pt")
    assert network.file.format == "state dict" and sum(one.count for one in network.weights.values()) == 112


def test_a_checkpoint_says_which_keys_it_has(tmp_path: Path) -> None:
    import zipfile

    # The dictionary of a state dict, put under a key: } "inner" … s.
    with zipfile.ZipFile(FILES / "torch_state_dict.pt") as old, zipfile.ZipFile(tmp_path / "a.th", "w") as new:
        for name in old.namelist():
            body = old.read(name)
            if name.endswith("data.pkl"):
                body = body[:2] + b"}X\x05\x00\x00\x00inner" + body[2:-1] + b"s."
            new.writestr(name, body)
    with pytest.raises(ModelFileError, match="dictionary of tensors") as error:
        read_network(tmp_path / "a.th")
    assert "`inner`" in str(error.value) and "--key" in str(error.value)
    assert read_network(tmp_path / "a.th", key="inner").weights


@pytest.mark.parametrize("kind", GRAPHS)
def test_a_cut_off_file_is_called_damaged(kind: str, tmp_path: Path) -> None:
    path = small.write(kind, tmp_path)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) * 2 // 3])
    with pytest.raises(ModelFileError, match="damaged|kind that we know"):
        describe_model(path)


@pytest.mark.parametrize("location", ["../secret", "/etc/hostname", "a/../../secret", "\0"])
def test_weights_of_onnx_are_not_looked_for_outside_of_its_folder(tmp_path: Path, location: str) -> None:
    from mlmodelscope_worker.predictor.protobuf import write as field

    (tmp_path / "secret").write_bytes(bytes(8))
    inside = tmp_path / "model"
    inside.mkdir()
    place = field(13, field(1, "location") + field(2, location))
    tensor = field(1, 2) + field(2, 1) + field(8, "w") + place + field(14, 1)
    node = field(1, "x") + field(1, "w") + field(2, "y") + field(4, "Add")
    graph = field(1, node) + field(5, tensor) + field(12, field(1, "y"))
    (inside / "a.onnx").write_bytes(field(1, 8) + field(8, field(2, 17)) + field(7, graph))
    network = read_network(inside / "a.onnx")
    assert network.weights["w"].data is None and "not available" in network.notes[0]
    (inside / "a.onnx").write_bytes(
        (inside / "a.onnx").read_bytes().replace(field(2, location), field(2, "b" * len(location)))
    )
    (inside / ("b" * len(location))).write_bytes(bytes(8))
    assert read_network(inside / "a.onnx").weights["w"].data is not None


@pytest.mark.parametrize("name", ["torch_scripted.pt", "torch_traced.pt"])
def test_a_module_of_torchscript_has_the_weights_of_its_state_dict(name: str) -> None:
    network = read_network(FILES / name)
    assert {each: weight.shape for each, weight in network.weights.items()} == {
        "convolution.weight": (4, 3, 3, 3),
        "convolution.bias": (4,),
    }
    assert {layer.kind.strip("_") for layer in network.layers} >= {
        "conv2d" if "scripted" in name else "convolution",
        "",
    }


def test_a_pickle_of_torchscript_that_calls_something_is_not_run(tmp_path: Path) -> None:
    import zipfile

    with zipfile.ZipFile(FILES / "torch_scripted.pt") as old, zipfile.ZipFile(tmp_path / "a.pt", "w") as new:
        for name in old.namelist():
            body = old.read(name)
            if name.endswith("data.pkl"):  # … and then os.system("touch ran")
                ran = str(tmp_path / "ran").encode()
                body = body[:-1] + b"cos\nsystem\n(X" + struct.pack("<I", len(ran) + 6) + b"touch " + ran + b"tR."
            new.writestr(name, body)
    network = read_network(tmp_path / "a.pt")
    assert "os.system" in network.notes[0] and not network.weights and not (tmp_path / "ran").exists()


def test_the_same_weights_are_read_of_an_export_and_of_its_source(tmp_path: Path) -> None:
    frozen, saved = read_network(FILES / "frozen.pb"), read_network(FILES / "saved_model")
    shapes = [sorted(one.shape for one in each.weights.values() if one.role == "parameter") for each in (frozen, saved)]
    assert shapes[0] == shapes[1] == [(3, 3, 3, 4), (4,), (4,), (4, 4)]
    assert "must lie beside" in saved.notes[0]
    exported = read_network(FILES / "torch_exported.pt2")
    assert {weight.shape for weight in exported.weights.values()} == {(4, 3, 3, 3), (4,)}


def test_a_constant_of_openvino_is_read_of_the_file_beside_it(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_bytes((FILES / "openvino.xml").read_bytes())
    lost = read_network(tmp_path / "a.xml")
    assert all(weight.data is None for weight in lost.weights.values()) and "beside it" in lost.file.notes[0]
    (tmp_path / "a.bin").write_bytes(bytes(4096))
    found = read_network(tmp_path / "a.xml")
    assert all(weight.data is not None for weight in found.weights.values()) and not found.file.notes
    (tmp_path / "a.bin").write_bytes(bytes(8))
    assert "may not belong together" in read_network(tmp_path / "a.xml").notes[0]
