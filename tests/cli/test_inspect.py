"""`inspect` prints what a file is made of, for people and for programs."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.command import Run, command_in
from model_file import small_models as small

FILES = Path(__file__).parent.parent / "model_file" / "files"
SHARED = Path(os.environ.get("MLMODELSCOPE_SHARED") or Path(__file__).parents[3] / "shared") / "models"


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return command_in(tmp_path)


@pytest.mark.parametrize("kind", sorted(small.FILES))
def test_every_format_is_counted(run: Run, tmp_path: Path, kind: str) -> None:
    path = small.write(kind, tmp_path)
    done = run("inspect", path.name, "--layers")
    assert done.returncode == 0, done.stderr
    assert "137 of float32" in done.stdout and "conv" in done.stdout
    found = json.loads(run("inspect", path.name, "--json").stdout)
    assert found["parameters"] == small.PARAMETERS == sum(layer["parameters"] for layer in found["layers"])
    assert found["weight_bytes"] == 4 * small.PARAMETERS


@pytest.mark.parametrize("path", sorted(FILES.iterdir()), ids=lambda path: path.name)
def test_every_real_file_is_counted(run: Run, path: Path) -> None:
    done = run("inspect", path, "--json", "--layers")
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout)["format"]


def test_a_table_says_what_each_operator_costs(run: Run) -> None:
    said = run("inspect", FILES / "onnx_softmax.onnx").stdout
    assert "parameters      108 of float32" in said and "opset 13" in said
    conv = next(line.split() for line in said.splitlines() if line.startswith("Conv "))
    assert conv[1:3] == ["1", "108"] and "7.78 thousand" in said


def test_a_manifest_stands_for_its_files(run: Run, tmp_path: Path) -> None:
    shutil.copy(FILES / "onnx_softmax.onnx", tmp_path / "model.onnx")
    assert run("init", "model.onnx", "--yes", "--output", "mine.yml").returncode == 0
    found = json.loads(run("inspect", "mine.yml", "--json").stdout)
    assert found["parameters"] == 108 and found["file"].endswith("@1.0.0")


def test_sizes_that_a_file_leaves_open_can_be_given(run: Run) -> None:
    path = FILES / "onnx_dynamic.onnx"
    assert json.loads(run("inspect", path, "--json").stdout)["flops"] is None
    assert json.loads(run("inspect", path, "--json", "--shape", "image=1,3,8,8").stdout)["flops"] > 7000
    assert json.loads(run("inspect", path, "--json", "--shape", "1,3,8,8").stdout)["flops"] > 7000


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["nothing.onnx"], "nothing.onnx"),
        (["empty.onnx"], "the file is empty"),
        (["page.onnx"], "web page"),
        ([str(FILES / "onnx_softmax.onnx"), "--shape", "other=1"], "known: image"),
        ([str(FILES / "onnx_softmax.onnx"), "--shape", "image=0,1"], "is not a shape"),
        ([str(FILES / "onnx_softmax.onnx"), "--shape", "image=2,3,8,8"], "has the shape [1, 3, 8, 8]"),
        ([str(FILES / "onnx_dynamic.onnx"), "--shape", "1,3,8"], "has the shape [?, 3, ?, ?]"),
        ([str(FILES / "torch_state_dict.pt"), "--key", "ema"], "nothing under the key `ema`"),
    ],
)
def test_what_cannot_be_read_is_explained(run: Run, tmp_path: Path, words: list[str], says: str) -> None:
    (tmp_path / "empty.onnx").write_bytes(b"")
    (tmp_path / "page.onnx").write_bytes(b"<!doctype html><html></html>")
    done = run("inspect", *words)
    assert done.returncode != 0 and says in done.stderr and "Traceback" not in done.stderr


@pytest.mark.shared
@pytest.mark.skipif(not SHARED.is_dir(), reason="the development data folder is not here")
def test_published_networks_have_the_size_that_is_published(run: Run) -> None:
    def told(name: str, *more: str) -> dict[str, int]:
        found: dict[str, int] = json.loads(run("inspect", SHARED / name, "--json", *more).stdout)
        return found

    assert told("resnet_cifar/resnet20-12fca82f.th", "--key", "state_dict")["parameters"] == 269_722
    assert told("onnx/squeezenet1.1_nchw.onnx")["parameters"] == 1_235_496
    assert told("onnx/squeezenet1.1_nchw.onnx")["flops"] == pytest.approx(2 * 349e6, rel=0.03)
    same: Callable[[str], int] = lambda name: told(f"ultraface/{name}")["parameters"]  # noqa: E731
    assert same("RFB-320.param") == same("RFB-320.prototxt") == same("RFB-320.caffemodel") == 273_888


def test_operators_that_a_framework_lacks_are_listed(run: Run, tmp_path: Path) -> None:
    from mlmodelscope_worker.predictor.protobuf import write as field

    def model(*nodes: tuple[str, str], opset: int = 13) -> bytes:
        written = [field(1, "x") + field(2, "y") + field(4, kind) + field(7, domain) for kind, domain in nodes]
        graph = b"".join(field(1, node) for node in written) + field(11, field(1, "x")) + field(12, field(1, "y"))
        return field(1, 8) + field(8, field(2, opset)) + field(7, graph)

    (tmp_path / "a.onnx").write_bytes(model(("QLinearConv", ""), ("Relu", ""), ("Mine", "org.own")))
    said = run("inspect", "a.onnx", "--for", "opencv")
    assert said.returncode == 1 and "org.own.Mine" in said.stdout.split("lacks")[1] and "QLinearConv" in said.stdout
    found = json.loads(run("inspect", "a.onnx", "--for", "onnxruntime", "--json").stdout)
    assert found["support"]["lacking"] == [["org.own.Mine", 1]]
    (tmp_path / "b.onnx").write_bytes(model(("Relu", ""), opset=21))
    newer = run("inspect", "b.onnx", "--for", "tensorrt")
    assert newer.returncode == 1 and "does not read opset 21" in newer.stdout
    assert run("inspect", "b.onnx", "--for", "opencv").returncode == 0
    unknown = run("inspect", "b.onnx", "--for", "nobody")
    assert unknown.returncode == 2 and "known: onnxruntime, opencv, tensorrt" in unknown.stderr
    other = run("inspect", FILES / "keras_float.tflite", "--for", "opencv")
    assert other.returncode == 2 and "this is tflite" in other.stderr


def test_the_list_of_onnxruntime_is_what_the_package_says() -> None:
    state = pytest.importorskip("onnxruntime.capi.onnxruntime_pybind11_state")
    if not hasattr(state, "get_all_opkernel_def"):
        pytest.skip("this build of onnxruntime does not list its kernels")
    import onnxruntime

    from mlmodelscope.inspection.operator_lists import ONNXRUNTIME, ONNXRUNTIME_MICROSOFT

    if not onnxruntime.__version__.startswith("1.31."):
        pytest.skip("the list is of onnxruntime 1.31")
    kernels = [each for each in state.get_all_opkernel_def() if each.provider == "CPUExecutionProvider"]
    assert {each.op_name for each in kernels if each.domain == ""} <= ONNXRUNTIME
    assert {each.op_name for each in kernels if each.domain == "com.microsoft"} == ONNXRUNTIME_MICROSOFT
