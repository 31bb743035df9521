"""An ONNX file may name other files that hold its numbers: only those of its own folder are opened."""

import os
from pathlib import Path

import pytest

from mlmodelscope_worker.predictor import protobuf
from mlmodelscope_worker.predictor.onnx_places import refuse_outside
from mlmodelscope_worker.predictor.predictor import ModelError

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper  # noqa: E402


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The model's own, with a file of weights in it and a secret beside it."""
    (tmp_path / "secret.txt").write_bytes(b"secret" * 8)
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "weights.bin").write_bytes(bytes(16))
    (tmp_path / "model" / "link.bin").symlink_to(tmp_path / "secret.txt")
    return tmp_path / "model"


def tensor(place: str) -> TensorProto:
    made = TensorProto(name="w", data_type=TensorProto.UINT8, dims=[16], data_location=TensorProto.EXTERNAL)
    for key, value in (("location", place), ("offset", "0"), ("length", "16")):
        made.external_data.add(key=key, value=value)
    return made


def graph(*initializers: TensorProto, nodes: tuple[object, ...] = ()) -> object:
    made = [helper.make_node("Identity", ["w"], ["y"]), *nodes]
    output = helper.make_tensor_value_info("y", TensorProto.UINT8, [16])
    return helper.make_graph(made, "g", [], [output], list(initializers))


def save(folder: Path, made: object, name: str = "model.onnx", **more: object) -> str:
    model = helper.make_model(made, **more)
    (folder / name).write_bytes(model.SerializeToString())
    return str(folder / name)


@pytest.mark.parametrize(
    "place",
    [
        "../secret.txt",
        "/etc/passwd",
        "link.bin",
        "a/../../secret.txt",
        ".",
        "",
        "missing.bin",
        "*/_ORT_MEM_ADDR_/*",  # ONNX Runtime takes the offset for an address in memory
    ],
)
def test_a_place_outside_is_refused(folder: Path, place: str) -> None:
    with pytest.raises(ModelError, match="which is no file of the model: refused"):
        refuse_outside(save(folder, graph(tensor(place))))


def test_an_absolute_path_is_refused_even_to_its_own_folder(folder: Path) -> None:
    with pytest.raises(ModelError, match="refused"):
        refuse_outside(save(folder, graph(tensor(str(folder / "weights.bin")))))


def test_files_of_its_own_folder_are_its_own(folder: Path) -> None:
    refuse_outside(save(folder, graph(tensor("weights.bin"))))
    refuse_outside(save(folder, graph()))


def test_a_file_of_the_cache_has_no_neighbors(folder: Path) -> None:
    with pytest.raises(ModelError, match="refused"):
        refuse_outside(save(folder, graph(tensor("weights.bin")), name="0a" * 32))


def test_tensors_are_found_wherever_they_are(folder: Path) -> None:
    far = tensor("../secret.txt")
    inside = graph(far)
    sparse = onnx.SparseTensorProto(values=far, indices=tensor("weights.bin"), dims=[16])
    attributes = {
        "value": far,
        "tensors": [far],
        "then_branch": inside,
        "branches": [inside],
        "sparse_value": sparse,
        "deeper": graph(nodes=(helper.make_node("If", ["c"], ["y"], else_branch=inside),)),
    }
    for name, value in attributes.items():
        node = helper.make_node("Some", ["w"], ["z"], **{name: value})
        with pytest.raises(ModelError, match="refused"):
            refuse_outside(save(folder, graph(nodes=(node,))))
    with_sparse = graph()
    with_sparse.sparse_initializer.append(sparse)  # type: ignore[attr-defined]
    function = helper.make_function(
        "own", "f", ["x"], ["y"], [helper.make_node("Constant", [], ["y"], value=far)], [helper.make_opsetid("", 13)]
    )
    for made, more in ((with_sparse, {}), (graph(), {"functions": [function]})):
        with pytest.raises(ModelError, match="refused"):
            refuse_outside(save(folder, made, **more))


def test_what_cannot_be_followed_is_refused(folder: Path) -> None:
    """Bytes that a reader of ours gives up on may be skipped by a framework's."""
    path = save(folder, graph(tensor("../secret.txt")))
    group = bytes([100 << 3 & 0x7F | 0x80 | 3, 100 >> 4])  # a field of a kind that is long gone
    Path(path).write_bytes(group + Path(path).read_bytes())
    with pytest.raises(ModelError, match="damaged"):
        refuse_outside(path)


def test_a_field_that_only_others_read_is_refused(folder: Path) -> None:
    """Google's reader takes the low 32 bits of a tag: the graph was field 7 to ONNX Runtime, and unknown to us."""
    path = save(folder, graph(tensor("../secret.txt")))
    written = b""
    for number, value in protobuf.fields(memoryview(Path(path).read_bytes())):
        part = protobuf.write(number, value)
        written += b"\xba\x80\x80\x80\x10" + part[1:] if number == 7 else part
    Path(path).write_bytes(written)
    with pytest.raises(ModelError, match="damaged"):
        refuse_outside(path)


def test_bytes_that_look_like_another_format_change_nothing(folder: Path) -> None:
    """ONNX Runtime tells its own format by the name of the file."""
    path = save(folder, graph(tensor("../secret.txt")))
    Path(path).write_bytes(protobuf.write(2, "xxORTM") + Path(path).read_bytes())
    assert Path(path).read_bytes()[4:8] == b"ORTM"
    with pytest.raises(ModelError, match="refused"):
        refuse_outside(path)


def test_graphs_without_end_are_refused(folder: Path) -> None:
    """Written by hand: no library writes so many."""
    inner = protobuf.write(5, b"")
    for _ in range(200):
        inner = protobuf.write(1, protobuf.write(5, protobuf.write(6, inner)))
    Path(folder / "deep.onnx").write_bytes(
        protobuf.write(1, 8) + protobuf.write(7, inner) + protobuf.write(2, "location")
    )
    with pytest.raises(ModelError, match="without end"):
        refuse_outside(str(folder / "deep.onnx"))


def test_empty_files_and_folders_are_left_to_the_framework(folder: Path) -> None:
    (folder / "empty.onnx").write_bytes(b"")
    refuse_outside(str(folder / "empty.onnx"))
    refuse_outside(str(folder))
    assert os.listdir(folder)
