"""What Kineto wrote of ResNet-50 on an H200 (PyTorch 2.11, batch 4): the first four layers and the last two."""

import gzip
import json
from pathlib import Path

import pytest

from mlmodelscope_worker.predictor import NotSupported
from mlmodelscope_worker.predictor.predictor import COPY_IN, COPY_OUT
from mlmodelscope_worker.predictor.pytorch_kineto import CALL, Call

FILE = Path(__file__).parent / "files" / "kineto.json.gz"


def written(folder: Path, events=None) -> str:
    path = folder / "trace.json"
    path.write_bytes(gzip.decompress(FILE.read_bytes()) if events is None else json.dumps(events).encode())
    return str(path)


def layers(call: Call, with_inside: bool = True):
    return call.layers(lambda operator: (operator[6:], operator), ("prim::",), with_inside)


@pytest.fixture
def call(tmp_path: Path) -> Call:
    return Call(written(tmp_path))


def test_layers_stand_between_the_copies(call: Call) -> None:
    found = layers(call)
    names = ["_convolution", "batch_norm", "relu_", "max_pool2d", "flatten", "linear"]
    assert [each.name for each in found] == [COPY_IN] + names + [COPY_OUT]
    assert [found[0].kind, found[1].kind, found[-1].kind] == ["copy", "aten::_convolution", "copy"]


def test_kernels_and_copies_are_children_of_the_layer_that_launched_them(call: Call) -> None:
    started = [[each.kind for each in layer.inside if each.lane != "CPU"] for layer in layers(call)]
    assert started == [["copy"], ["kernel"] * 4, ["kernel"], ["kernel"], ["kernel"], [], ["kernel"], ["copy"]]


def test_a_kernel_lies_in_its_layer_though_it_runs_after_the_launch_returned(call: Call) -> None:
    late = 0
    for layer in layers(call):
        launched = {
            each.more["correlation"]: each
            for operator in layer.inside[:1]
            for each in walk(operator)
            if each.kind == "runtime call"
        }
        for each in layer.inside[1:]:
            assert layer.start_ns <= each.start_ns
            assert each.start_ns + each.duration_ns <= layer.start_ns + layer.duration_ns
            launch = launched[each.more["correlation"]]
            assert launch.start_ns <= each.start_ns
            late += each.start_ns > launch.start_ns + launch.duration_ns
    assert late


def walk(layer):
    yield layer
    for each in layer.inside:
        yield from walk(each)


def test_layers_follow_one_another_and_lie_in_the_call(call: Call) -> None:
    end = call.event.start_ns
    for layer in layers(call):
        assert layer.start_ns >= end
        end = layer.start_ns + layer.duration_ns
    assert end <= call.event.end_ns


def test_a_kernel_says_where_and_how_it_ran(call: Call) -> None:
    kernel = layers(call)[1].inside[1]
    assert kernel.name.startswith("void cudnn::engines_precompiled::nchwToNhwcKernel")
    assert kernel.lane == "stream 7" and kernel.more["grid"] == [1568, 1, 4] and kernel.more["block"] == [256, 1, 1]
    copy = layers(call)[0].inside[-1]
    assert copy.more["bytes"] == 4 * 3 * 224 * 224 * 4


def test_a_layer_has_shapes_type_and_memory(call: Call) -> None:
    convolution = layers(call)[1]
    assert convolution.inputs == [[4, 3, 224, 224], [64, 3, 7, 7]] and convolution.element_type == "float32"
    assert convolution.memory_bytes == 4 * 64 * 112 * 112 * 4


def test_calls_that_only_ask_are_left_out(call: Call) -> None:
    names = {each.name for layer in layers(call) for each in walk(layer) if each.kind == "runtime call"}
    assert "cudaLaunchKernel" in names and not any(name.startswith(("cudaGet", "cudaPeek")) for name in names)


def test_without_inside_there_are_layers_alone(call: Call) -> None:
    assert all(layer.inside == [] for layer in layers(call, with_inside=False))


def test_a_kernel_that_nobody_owns_goes_to_the_layer_that_was_being_launched(tmp_path: Path) -> None:
    events = json.loads(gzip.decompress(FILE.read_bytes()))
    for each in events["traceEvents"]:
        if each.get("cat") in ("kernel", "gpu_memcpy"):
            del each["args"]["External id"]
    found = layers(Call(written(tmp_path, events)))
    assert [len(layer.inside) for layer in found] == [2, 5, 2, 2, 2, 1, 2, 2]


def test_old_releases_write_other_words_and_put_runtime_calls_on_threads_of_their_own(tmp_path: Path) -> None:
    old = {"cpu_op": "Operator", "user_annotation": "Operator", "cuda_runtime": "Runtime", "kernel": "Kernel"}
    events = json.loads(gzip.decompress(FILE.read_bytes()))["traceEvents"]
    for each in events:
        if each.get("cat") == "cuda_runtime":
            each["tid"] = 77
        each["cat"] = old.get(each.get("cat"), each.get("cat"))
    found = layers(Call(written(tmp_path, events)))
    assert [len(layer.inside) for layer in found] == [2, 5, 2, 2, 2, 1, 2, 2]


def test_a_profile_without_the_call_or_none_at_all_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotSupported, match="does not show the call"):
        Call(written(tmp_path, [{"ph": "X", "cat": "cpu_op", "name": "x", "ts": 0, "dur": 1}]))
    (tmp_path / "trace.json").write_text('{"traceEvents": [')
    with pytest.raises(NotSupported, match="cannot be read"):
        Call(str(tmp_path / "trace.json"))
    assert CALL
