"""`init` writes a manifest for every format that is read, and nothing that no file has said."""

from pathlib import Path

import pytest

from mlmodelscope.author.make import make_manifest
from mlmodelscope.author.request import Request
from mlmodelscope.manifest.load import parse_manifest
from model_file import small_models as small

WEIGHTS = {"caffe": "small.caffemodel", "ncnn": "small.bin", "mxnet": "small-0000.params", "caffe2": "init_net.pb"}


@pytest.mark.parametrize("kind", ["caffe", "ncnn", "mxnet", "caffe2", "cntk"])
def test_a_graph_and_its_weights_are_both_named(kind: str, tmp_path: Path) -> None:
    path = small.write(kind, tmp_path)
    written = make_manifest(Request(model=path, output=tmp_path / "small.yml"))
    manifest = parse_manifest(written.text, "small.yml")
    assert written.data["framework"] == {"name": kind}
    assert written.data["source"]["graph_path"] == path.name
    assert written.data["source"].get("weights_path") == WEIGHTS.get(kind)
    assert [layer.layer_name for layer in manifest.inputs] == ["data"]  # type: ignore[union-attr]
    assert manifest.outputs[0].type == "probability"  # type: ignore[union-attr]
    assert not any("beside" in note for note in written.draft.notes)


def test_a_caffemodel_stands_for_the_network_beside_it(tmp_path: Path) -> None:
    small.write("caffe", tmp_path)
    source = make_manifest(Request(model=tmp_path / "small.caffemodel", output=tmp_path / "a.yml")).data["source"]
    assert (source["graph_path"], source["weights_path"]) == ("small.prototxt", "small.caffemodel")


@pytest.mark.parametrize("kind", ["caffe", "ncnn", "mxnet", "caffe2"])
def test_weights_that_are_missing_are_a_note(kind: str, tmp_path: Path) -> None:
    path = small.write(kind, tmp_path)
    (tmp_path / WEIGHTS[kind]).unlink()
    written = make_manifest(Request(model=path))
    assert "weights_path" not in written.data["source"]
    assert any("beside it" in note for note in written.draft.notes)


@pytest.mark.parametrize(
    "name", ["small.safetensors", "small-0000.params", "init_net.pb", "alone.caffemodel", "state.pt"]
)
def test_weights_alone_are_named_as_what_they_are(name: str, tmp_path: Path) -> None:
    for kind in ("safetensors", "mxnet", "caffe2"):
        small.write(kind, tmp_path)
    (tmp_path / "alone.caffemodel").write_bytes(small.caffemodel())
    real = Path(__file__).parent.parent / "model_file" / "files" / "torch_state_dict.pt"
    (tmp_path / "state.pt").write_bytes(real.read_bytes())
    written = make_manifest(Request(model=tmp_path / name, output=tmp_path / "a.yml"))
    assert written.data["source"]["graph_path"] == name and "model.onnx" not in written.text
    assert any("weights without a graph" in note for note in written.draft.notes)


def test_weights_go_with_the_library_that_a_configuration_names(tmp_path: Path) -> None:
    from author.samples import TEXTS

    path = small.write("safetensors", tmp_path)
    (tmp_path / "timm.json").write_text(TEXTS["timm"])
    written = make_manifest(Request(model=path, configs=(tmp_path / "timm.json",), output=tmp_path / "a.yml"))
    assert "model.onnx" not in written.text and path.name in str(written.data["source"])


def test_a_symbol_of_mxnet_is_no_configuration(tmp_path: Path) -> None:
    from cli.command import command_in

    small.write("mxnet", tmp_path)
    done = command_in(tmp_path)("init", "small-symbol.json", "--yes")
    assert done.returncode == 0 and "name: mxnet" in done.stdout, done.stderr
