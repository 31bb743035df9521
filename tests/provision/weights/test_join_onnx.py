"""Weight-free graphs and their weights become one ONNX file; the graphs here are written byte by byte."""

import struct
from pathlib import Path

import pytest

from mlmodelscope.errors import ArtifactError
from mlmodelscope.provision.weights import join_onnx as onnx_join
from mlmodelscope.provision.weights.join_onnx import join_weights
from mlmodelscope.provision.weights.protobuf_wire import read_fields, write_bytes_header, write_varint
from mlmodelscope.tensor_file.read import Tensor

GRAPHS = Path(__file__).parents[3] / "manifests" / "models" / "graphs"
FLOAT, INT64 = 1, 7
DATA = struct.pack("<6f", *range(6))


def number(field: int, value: int) -> bytes:
    return write_varint(field << 3) + write_varint(value)


def message(field: int, *parts: bytes) -> bytes:
    content = b"".join(parts)
    return write_bytes_header(field, len(content)) + content


def described(name: str, shape: tuple[int, ...] = (2, 3), data_type: int = FLOAT) -> bytes:
    return b"".join(number(1, length) for length in shape) + number(2, data_type) + message(8, name.encode())


def missing(name: str, *args, location: str = "weights") -> bytes:
    entry = message(13, message(1, b"location"), message(2, location.encode()))
    return message(5, described(name, *args), entry, number(14, 1))


def filled(name: str, data: bytes = DATA) -> bytes:
    return message(5, described(name), message(9, data))


def model(*initializers: bytes) -> bytes:
    node = message(1, message(1, b"images"), message(1, b"w"), message(4, b"Add"))
    unknown = message(200, b"from a later ONNX") + write_varint(201 << 3 | 5) + b"1234"
    graph = message(7, node, *initializers, message(2, b"net"), unknown)
    return number(1, 4) + message(2, b"someone") + graph + message(8, number(2, 9)) + unknown


def tensor(name: str, shape: tuple[int, ...] = (2, 3), element_type: str = "float32", data: bytes = DATA) -> Tensor:
    return Tensor(name, element_type, shape, memoryview(data))


@pytest.fixture
def join(tmp_path):
    def join(graph: bytes, *tensors: Tensor) -> bytes:
        (tmp_path / "graph.onnx").write_bytes(graph)
        join_weights(tmp_path / "graph.onnx", {each.name: each for each in tensors}, tmp_path / "joined.onnx")
        return (tmp_path / "joined.onnx").read_bytes()

    return join


@pytest.fixture
def refuse(join, tmp_path):
    def refuse(graph: bytes, *tensors: Tensor) -> str:
        with pytest.raises(ArtifactError) as caught:
            join(graph, *tensors)
        assert not (tmp_path / "joined.onnx").exists()
        return str(caught.value)

    return refuse


def test_missing_weights_are_filled_and_every_other_byte_stays(join):
    own = filled("own", b"x" * 24)
    joined = join(model(missing("w"), own, missing("v")), tensor("w"), tensor("v"))
    assert joined == model(filled("w"), own, filled("v"))


def test_tensors_the_graph_does_not_use_are_left_out(join):
    assert join(model(missing("w")), tensor("w"), tensor("w.num_batches_tracked")) == model(filled("w"))


def test_packed_shapes_are_shapes_too(join):
    entry = message(13, message(1, b"location"), message(2, b"weights"))
    packed = [message(1, write_varint(2), write_varint(3)), number(2, FLOAT), message(8, b"w")]
    joined = join(model(message(5, *packed, entry, number(14, 1))), tensor("w"))
    assert joined == model(message(5, *packed, message(9, DATA)))


def test_a_tensor_that_is_not_there_names_the_nearest(refuse):
    said = refuse(model(missing("conv1.weight")), tensor("module.conv1.weight"), tensor("linear.bias"))
    assert "no tensor for the initializer `conv1.weight`" in said
    assert "hint: nearest names in the weights: `module.conv1.weight`" in said


def test_another_shape_is_refused(refuse):
    assert "tensor `w` has the shape 3×2, the graph wants 2×3" in refuse(model(missing("w")), tensor("w", (3, 2)))


def test_another_element_type_is_refused(refuse):
    said = refuse(model(missing("w", (2, 3), INT64)), tensor("w"))
    assert "tensor `w` is of type float32, the graph wants int64" in said


def test_a_graph_that_has_its_weights_is_refused(refuse):
    assert "no initializer is missing" in refuse(model(filled("w")), tensor("w"))


def test_weights_in_yet_another_file_are_refused(refuse):
    said = refuse(model(missing("w", location="model.bin")), tensor("w"))
    assert "`w` is in another file, `model.bin`" in said


@pytest.mark.parametrize("content", [b"", b"hello, world", b"\x08\x04", bytes(100), b"\xff" * 100])
def test_something_else_is_not_an_onnx_file(refuse, content):
    assert "is not an ONNX file, or it is cut off" in refuse(content, tensor("w"))


def test_every_truncation_is_noticed(refuse):
    whole = model(missing("w"))
    end_of_operator_set = whole.rindex(message(8, number(2, 9))) + len(message(8, number(2, 9)))
    for length in range(end_of_operator_set):
        refuse(whole[:length], tensor("w"))


def test_a_flipped_byte_gives_a_file_or_our_error(join):
    whole = model(missing("w"), filled("own"))
    for position in range(len(whole)):
        for flip in (0x01, 0x10, 0x80, 0xFF):
            broken = bytearray(whole)
            broken[position] ^= flip
            try:
                join(bytes(broken), tensor("w"))
            except ArtifactError:
                continue


def test_more_than_two_gibibytes_are_refused(refuse, monkeypatch):
    monkeypatch.setattr(onnx_join, "MAX_MODEL_BYTES", len(model(missing("w"))))
    big = tensor("w", (1000,), data=bytes(4000))
    assert "an ONNX file holds at most 2 GiB" in refuse(model(missing("w", (1000,))), big)


def test_a_file_far_too_large_for_a_graph_is_not_read(refuse, monkeypatch):
    monkeypatch.setattr(onnx_join, "MAX_GRAPH_BYTES", 10)
    assert "far too many for a graph without weights" in refuse(model(missing("w")), tensor("w"))


def test_a_message_of_countless_tiny_fields_is_refused(refuse):
    assert "more than 1,048,576 fields" in refuse(number(1, 4) * 1_100_000)


def test_a_graph_that_is_not_there_says_so(tmp_path):
    with pytest.raises(ArtifactError, match="No such file"):
        join_weights(tmp_path / "nowhere.onnx", {}, tmp_path / "joined.onnx")


def initializers(onnx: bytes) -> list[dict[int, list]]:
    """The initializers of an ONNX file: for each, its fields by number."""
    (graph,) = [field.content() for field in read_fields(memoryview(onnx)) if field.number == 7]
    found: list[dict[int, list]] = []
    for field in read_fields(graph):
        if field.number == 5:
            parts: dict[int, list] = {}
            for part in read_fields(field.content()):
                parts.setdefault(part.number, []).append(part)
            found.append(parts)
    return found


@pytest.mark.parametrize("path", sorted(GRAPHS.glob("*.onnx")), ids=lambda path: path.stem)
def test_every_graph_we_ship_can_be_joined(join, path):
    wanted = []
    for parts in initializers(path.read_bytes()):
        if 13 not in parts:
            continue  # a constant of the graph itself
        shape = tuple(length for part in parts[1] for length in part.integers())
        count = 1
        for length in shape:
            count *= length
        wanted.append(tensor(parts[8][0].text(), shape, data=bytes(4 * count)))
    joined = initializers(join(path.read_bytes(), *wanted))
    filled = [len(parts[9][0].content()) for parts in joined if parts[8][0].text() in {each.name for each in wanted}]
    assert filled == [len(each.data) for each in wanted]
    assert not any(13 in parts or 14 in parts for parts in joined)


@pytest.mark.parametrize("numbers", [b"", message(9)])
def test_initializers_that_are_there_but_empty_are_filled(join, numbers: bytes) -> None:
    empty = message(5, described("w"), numbers)
    assert join(model(empty), tensor("w")) == join(model(missing("w")), tensor("w"))
    nothing = message(5, described("none", (0, 3)))  # no numbers are all that it has
    with pytest.raises(ArtifactError, match="no initializer is missing"):
        join(model(nothing), tensor("w"))


def test_a_field_that_only_other_readers_know_is_refused(refuse):
    """They drop what is above 32 bits of its tag."""
    assert "malformed" in refuse(b"\xba\x80\x80\x80\x10\x00" + model(missing("w")), tensor("w"))
