"""Weights files, good and hostile, built by hand: neither torch nor numpy is needed to read one."""

import io
import json
import os
import pickle
import random
import struct
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from mlmodelscope.errors import ArtifactError
from mlmodelscope.tensor_file.read import read_tensors

# A tiny pickle writer, so that a test can write what no honest program would.


@dataclass
class Global:
    name: str


@dataclass
class Call:
    name: str
    arguments: tuple


@dataclass
class Persistent:
    identifier: object


def opcodes(value: object) -> bytes:
    match value:
        case None:
            return b"N"
        case bool():
            return b"\x88" if value else b"\x89"
        case int():
            return b"\x8b" + struct.pack("<i", 16) + value.to_bytes(16, "little", signed=True)
        case float():
            return b"G" + struct.pack(">d", value)
        case str():
            return b"X" + struct.pack("<I", len(value.encode())) + value.encode()
        case tuple():
            return b"(" + b"".join(map(opcodes, value)) + b"t"
        case list():
            return b"](" + b"".join(map(opcodes, value)) + b"e"
        case dict():
            return b"}(" + b"".join(opcodes(key) + opcodes(item) for key, item in value.items()) + b"u"
        case Global(name):
            return b"c" + "\n".join(name.rsplit(".", 1)).encode() + b"\n"
        case Call(name, arguments):
            return opcodes(Global(name)) + opcodes(arguments) + b"R"
        case Persistent(identifier):
            return opcodes(identifier) + b"Q"
    raise TypeError(value)


def pickled(value: object) -> bytes:
    return b"\x80\x02" + opcodes(value) + b"."


def storage(key: str, count: int, kind: str = "torch.FloatStorage") -> Persistent:
    return Persistent(("storage", Global(kind), key, "cpu", count))


def view(stored: Persistent, offset: int, shape: tuple, strides: tuple) -> Call:
    return Call(
        "torch._utils._rebuild_tensor_v2",
        (stored, offset, shape, strides, False, Call("collections.OrderedDict", ())),
    )


def floats(*values: float) -> bytes:
    return struct.pack(f"<{len(values)}f", *values)


SIX = floats(0, 1, 2, 3, 4, 5)
MATRIX = {"matrix": view(storage("0", 6), 0, (2, 3), (3, 1))}
TRANSPOSED = {"matrix": view(storage("0", 6), 0, (3, 2), (1, 3))}


def legacy_file(content: object, storages: dict[str, bytes], element_bytes: int = 4) -> bytes:
    head = [0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}]
    parts = [pickled(value) for value in (*head, content, list(storages))]
    parts += [struct.pack("<q", len(data) // element_bytes) + data for data in storages.values()]
    return b"".join(parts)


def zip_file(content: object, storages: dict[str, bytes], method: int = zipfile.ZIP_STORED, **more: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        archive.writestr("net/data.pkl", content if isinstance(content, bytes) else pickled(content))
        for name, data in more.items():
            archive.writestr(f"net/{name}", data)
        for key, data in storages.items():
            archive.writestr(f"net/data/{key}", data)
    return buffer.getvalue()


def safetensors_file(header: object, body: bytes) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


def safe(shape: list, begin: int, end: int, dtype: str = "F32") -> dict:
    return {"matrix": {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}}


GOOD = {
    "legacy": legacy_file(MATRIX, {"0": SIX}),
    "zip": zip_file(MATRIX, {"0": SIX}),
    "deflated zip": zip_file(MATRIX, {"0": SIX}, zipfile.ZIP_DEFLATED),
    "safetensors": safetensors_file({"__metadata__": {"format": "pt"}} | safe([2, 3], 0, 24), SIX),
}


@pytest.fixture
def read(tmp_path):
    def read(content: bytes, key: str | None = None) -> dict:
        path = tmp_path / "weights.bin"  # a name that says nothing: the content must do
        path.write_bytes(content)
        return read_tensors(path, key)

    return read


@pytest.fixture
def refuse(read):
    def refuse(content: bytes, key: str | None = None) -> str:
        with pytest.raises(ArtifactError) as caught:
            read(content, key)
        return str(caught.value)

    return refuse


# Good files


@pytest.mark.parametrize("form", GOOD)
def test_every_form_is_told_by_its_content(read, form):
    tensor = read(GOOD[form])["matrix"]
    assert (tensor.name, tensor.element_type, tensor.shape) == ("matrix", "float32", (2, 3))
    assert bytes(tensor.data) == SIX


@pytest.mark.parametrize("write", [legacy_file, zip_file])
def test_a_transposed_tensor_comes_out_in_row_major_order(read, write):
    tensor = read(write(TRANSPOSED, {"0": SIX}))["matrix"]
    assert bytes(tensor.data) == floats(0, 3, 1, 4, 2, 5)


def test_a_cut_out_of_a_permuted_block_comes_out_in_row_major_order(read):
    numbers = [float(number) for number in range(60)]
    offset, shape, strides = 7, (2, 1, 3, 4), (1, 99, 20, 3)
    block = {"block": view(storage("0", 60), offset, shape, strides)}
    expected = [numbers[offset + a * 1 + c * 20 + d * 3] for a in range(2) for c in range(3) for d in range(4)]
    tensor = read(legacy_file(block, {"0": floats(*numbers)}))["block"]
    assert bytes(tensor.data) == floats(*expected)


def test_two_tensors_may_share_a_storage(read):
    both = MATRIX | {"last row": view(storage("0", 6), 3, (3,), (1,))}
    assert bytes(read(legacy_file(both, {"0": SIX}))["last row"].data) == floats(3, 4, 5)


@pytest.mark.parametrize(
    ("kind", "element_type", "size"),
    [
        ("Double", "float64", 8),
        ("Half", "float16", 2),
        ("BFloat16", "bfloat16", 2),
        ("Long", "int64", 8),
        ("Int", "int32", 4),
        ("Short", "int16", 2),
        ("Char", "int8", 1),
        ("Byte", "uint8", 1),
        ("Bool", "bool", 1),
    ],
)
def test_every_storage_type_has_its_element_type(read, kind, element_type, size):
    data = bytes(range(2 * size))
    content = {"pair": view(storage("7", 2, f"torch.{kind}Storage"), 0, (2,), (1,))}
    tensor = read(legacy_file(content, {"7": data}, size))["pair"]
    assert (tensor.element_type, bytes(tensor.data)) == (element_type, data)


def test_scalars_and_empty_tensors_are_tensors_too(read):
    content = {"scalar": view(storage("0", 1), 0, (), ()), "empty": view(storage("1", 0), 0, (0, 3), (3, 1))}
    tensors = read(zip_file(content, {"0": floats(7), "1": b""}))
    assert bytes(tensors["scalar"].data) == floats(7)
    assert (tensors["empty"].shape, bytes(tensors["empty"].data)) == ((0, 3), b"")


def test_a_parameter_is_its_tensor(read):
    content = {"matrix": Call("torch._utils._rebuild_parameter", (MATRIX["matrix"], True, None))}
    assert bytes(read(zip_file(content, {"0": SIX}))["matrix"].data) == SIX


def test_an_ordered_dictionary_may_be_written_as_python_2_did(read):
    content = Call("collections.OrderedDict", ([["matrix", MATRIX["matrix"]]],))
    assert list(read(legacy_file(content, {"0": SIX}))) == ["matrix"]


def test_attributes_of_a_state_dict_are_ignored(read):
    content = b"\x80\x02" + opcodes(MATRIX) + opcodes({"_metadata": {"": {"version": 1}}}) + b"b."
    assert list(read(zip_file(content, {"0": SIX}))) == ["matrix"]


# Checkpoints: dictionaries around the dictionary


CHECKPOINT = {
    "epoch": 3,
    "best": view(storage("0", 6), 0, (), ()),
    "state_dict": MATRIX,
    "ema": TRANSPOSED,
    "args": {"lr": 0.1, 5: [None, Call("torch.Size", ((1, 2),))]},
}


def test_a_key_picks_the_dictionary_inside_a_checkpoint(read):
    assert list(read(zip_file(CHECKPOINT, {"0": SIX}), "state_dict")) == ["matrix"]


def test_without_a_key_a_checkpoint_names_the_keys_that_hold_tensors(refuse):
    said = refuse(zip_file(CHECKPOINT, {"0": SIX}))
    assert "is not a dictionary of tensors" in said
    assert "hint: keys that do hold tensors: `state_dict`, `ema`" in said


@pytest.mark.parametrize("key", ["model", "epoch", "args", "best"])
def test_a_wrong_key_names_the_right_ones(refuse, key):
    said = refuse(legacy_file(CHECKPOINT, {"0": SIX}), key)
    assert f"`{key}`" in said and "`state_dict`" in said


def test_a_safetensors_file_has_no_keys(refuse):
    assert "leave the key out" in refuse(GOOD["safetensors"], "state_dict")


@pytest.mark.parametrize("content", [[1, 2], MATRIX["matrix"], "text", {}])
def test_something_else_than_a_dictionary_of_tensors_is_refused(refuse, content):
    assert "is not a dictionary of tensors" in refuse(
        legacy_file(content, {"0": SIX} if content == MATRIX["matrix"] else {})
    )


def test_names_must_be_text(refuse):
    assert "a tensor's name must be text, and one is of type int" in refuse(zip_file({3: MATRIX["matrix"]}, {"0": SIX}))


# Files that want to harm


class Evil:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return os.system, (f"touch {self.path}",)


@pytest.mark.parametrize("protocol", range(2, 6))
def test_a_pickle_is_never_run(refuse, tmp_path, protocol):
    mark = tmp_path / "it ran"
    said = refuse(zip_file(pickle.dumps({"matrix": Evil(mark)}, protocol), {}))
    assert f"`{os.system.__module__}.system`, which is not allowed" in said
    assert not mark.exists()


@pytest.mark.parametrize("name", ["builtins.eval", "torch.load", "torch.nn.modules.linear.Linear", "os.system"])
@pytest.mark.parametrize("write", [legacy_file, zip_file])
def test_a_forbidden_global_is_named(refuse, write, name):
    said = refuse(write({"matrix": Call(name, ("1",))}, {}))
    assert f"`{name}`" in said and "state_dict()" in said


def test_a_storage_type_cannot_be_called(refuse):
    assert "cannot be called" in refuse(zip_file(Call("torch.FloatStorage", ()), {}))


@pytest.mark.parametrize(
    "identifier",
    [
        "0",
        ("module", "net", "net.py"),
        ("storage", "float", "0", "cpu", 6),
        ("storage", Global("torch.FloatStorage"), 0, "cpu", 6),
        ("storage", Global("torch.FloatStorage"), "0", "cpu", -1),
        ("storage", Global("torch.FloatStorage"), "0", "cpu", True),
        ("storage", Global("torch.FloatStorage"), "0", "cpu", 1 << 80),
        ("storage", Global("torch.FloatStorage"), "0", "cpu", 6, ("view", 0, 6)),
    ],
)
def test_a_persistent_id_of_a_wrong_form_is_refused(refuse, identifier):
    refuse(zip_file({"matrix": view(Persistent(identifier), 0, (6,), (1,))}, {"0": SIX}))


@pytest.mark.parametrize(
    ("offset", "shape", "strides"),
    [
        (1, (6,), (1,)),
        (6, (1,), (1,)),
        (0, (2, 3), (4, 1)),
        (0, (1 << 40,), (0,)),
        (0, (4, 4), (1, 1)),
        (-1, (2,), (1,)),
        (0, (-2, -3), (3, 1)),
        (0, (2, 3), (-3, 1)),
        (0, (2, 3), (1,)),
        (0, (1,) * 65, (1,) * 65),
        (0, (True, 3), (3, 1)),
        (0, ("2", 3), (3, 1)),
        (0, (1 << 62, 1 << 62), (1 << 62, 1)),
    ],
)
@pytest.mark.parametrize("write", [legacy_file, zip_file])
def test_a_tensor_cannot_reach_beyond_its_storage(refuse, write, offset, shape, strides):
    refuse(write({"matrix": view(storage("0", 6), offset, shape, strides)}, {"0": SIX}))


def test_a_storage_cannot_be_longer_than_the_file(refuse):
    content = {"matrix": view(storage("0", 1 << 60), 0, (1 << 60,), (1,))}
    assert "ends at byte" in refuse(legacy_file(content, {"0": SIX}))
    assert "shorter than its tensors say" in refuse(zip_file(content, {"0": SIX}))


def test_a_storage_that_is_missing_is_named(refuse):
    assert "storage `0` is missing" in refuse(legacy_file(MATRIX, {}))
    assert "`data/0` is missing" in refuse(zip_file(MATRIX, {}))


@pytest.mark.parametrize("key", ["../../etc/passwd", "/etc/passwd"])
def test_a_storage_key_cannot_leave_the_archive(refuse, key):
    assert "is missing" in refuse(zip_file({"matrix": view(storage(key, 6), 0, (6,), (1,))}, {"0": SIX}))


def test_a_zip_bomb_is_not_unpacked(refuse):
    zeros = bytes(80 << 20)
    bomb = zip_file({"matrix": view(storage("0", 20 << 20), 0, (20 << 20,), (1,))}, {"0": zeros}, zipfile.ZIP_DEFLATED)
    assert len(bomb) < 1 << 20
    assert "zip bomb" in refuse(bomb)


def test_a_zip_member_that_lies_about_its_size_is_refused(refuse):
    honest = zip_file(MATRIX, {"0": bytes(1 << 20)}, zipfile.ZIP_DEFLATED)
    assert "another length than declared" in refuse(honest.replace(struct.pack("<I", 1 << 20), struct.pack("<I", 24)))


def test_many_strided_copies_of_one_storage_are_refused(refuse):
    side = 1 << 10
    one = view(storage("0", side * side), 0, (side, side), (1, side))
    many = {f"copy {number}": one for number in range(30)}
    assert "far more than its own size" in refuse(zip_file(many, {"0": bytes(4 * side * side)}))


@pytest.mark.parametrize(
    "stream",
    [
        b"\x80\x02Nr\xff\xff\xff\xff.",  # a memo entry far away: Python's Unpickler reserves 64 GiB for it
        b"\x80\x02X\xff\xff\xff\x7fshort.",
        b"\x80\x04\x8d" + b"\xff" * 8 + b".",
        b"\x80\x04\x95" + b"\xff" * 8 + b"N.",
        b"\x80\x02\x8b\xff\xff\xff\x7f.",
        b"\x80\x02I" + b"9" * 5000 + b"\n.",
        b"\x80\x02u.",
        b"\x80\x02(u.",
        b"\x80\x02}(Nu.",
        b"\x80\x02h\x05.",
        b"\x80\x02NNs.",
        b"\x80\x02NNa.",
        b"\x80\x02NR.",
        b"\x80\x02(NNi" + b"os\nsystem\n.",
        b"\x80\x02.",
        b"\x80\x02",
        b"",
    ],
)
def test_a_pickle_that_makes_no_sense_is_refused(refuse, stream):
    refuse(zip_file(stream, {}))


@pytest.mark.parametrize(
    "stream",
    [
        b"\x80\x02}" + b")" + b"\x85" * 200_000 + b"Ns.",  # as a key: hashing it would end the process
        b"\x80\x02" + b"]" * 200_000 + b"a" * 199_999 + b".",
        b"\x80\x02" + b"}N" * 100_000 + b"N" + b"s" * 100_000 + b".",
        b"\x80\x02" + b"(" * 200_000 + b".",
    ],
)
def test_deep_nesting_is_no_harm(refuse, stream):
    refuse(zip_file(stream, {}))


def test_a_dictionary_inside_itself_is_refused(refuse):
    loop = b"\x80\x02}q\x00(" + opcodes("matrix") + opcodes(MATRIX["matrix"]) + opcodes("self") + b"h\x00u."
    assert "is not a dictionary of tensors" in refuse(zip_file(loop, {"0": SIX}))


@pytest.mark.parametrize(
    "content",
    [
        safetensors_file(safe([2, 3], 0, 28), SIX),
        safetensors_file(safe([2, 3], 4, 28), SIX),
        safetensors_file(safe([2, 4], 0, 24), SIX),
        safetensors_file(safe([-2, -3], 0, 24), SIX),
        safetensors_file(safe([2, 3], 24, 0), SIX),
        safetensors_file(safe([2.0, 3], 0, 24), SIX),
        safetensors_file(safe([1] * 65, 0, 4), SIX),
        safetensors_file(safe([2, 3], 0, 24, "F4"), SIX),
        safetensors_file({"matrix": 3}, SIX),
        safetensors_file(safe([2, 3], 0, 24) | {"again": safe([2, 3], 0, 24)["matrix"]}, SIX),
        safetensors_file(safe([2, 3], 0, 24) | {"part": safe([1], 20, 24)["matrix"]}, SIX),
        safetensors_file(b'{"a": ' + b"[" * 100_000, SIX),
        safetensors_file(b'{"a": ' + b"9" * 10_000 + b"}", SIX),
        safetensors_file(b'{"a": 1, "a": 2}', SIX),
        safetensors_file(b"{\xff}", SIX),
        struct.pack("<Q", 1 << 20) + b'{"a": 1}',
        struct.pack("<Q", 1 << 63) + b'{"a": 1}',
    ],
)
def test_a_safetensors_header_that_makes_no_sense_is_refused(refuse, content):
    refuse(content)


# Files that are broken, or not weights at all


@pytest.mark.parametrize("form", GOOD)
def test_every_truncation_is_noticed(refuse, form):
    for length in range(len(GOOD[form])):
        refuse(GOOD[form][:length])


@pytest.mark.parametrize("form", GOOD)
def test_a_flipped_byte_gives_tensors_or_our_error(read, form):
    chance = random.Random(5)
    for position in range(len(GOOD[form])):
        broken = bytearray(GOOD[form])
        broken[position] ^= chance.randrange(1, 256)
        try:
            tensors = read(bytes(broken))
        except ArtifactError:
            continue
        assert sum(len(tensor.data) for tensor in tensors.values()) <= len(broken)


def test_random_bytes_are_refused(refuse):
    chance = random.Random(6)
    for start in (b"", b"\x80\x02", b"PK\x03\x04", GOOD["legacy"][:40], GOOD["safetensors"][:10]):
        for _ in range(100):
            refuse(start + chance.randbytes(200))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "the file is empty"),
        (b"version https://git-lfs.github.com/spec/v1\n", "a Git LFS pointer"),
        (b"<!doctype html>", "a web page"),
        (b"hello", "neither a torch state dict nor a safetensors file"),
        (pickle.dumps({"a": 1}), "not one that torch wrote"),
        (zip_file(MATRIX, {"0": SIX}).replace(b"data.pkl", b"data.txt"), "it has no data.pkl"),
        (zip_file(MATRIX, {"0": SIX}, byteorder=b"big"), "big-endian"),
    ],
)
def test_a_file_of_another_kind_is_told_apart(refuse, content, said):
    assert said in refuse(content)


def test_a_missing_file_says_so(tmp_path):
    with pytest.raises(ArtifactError, match="No such file"):
        read_tensors(tmp_path / "nowhere.pth")


def test_names_from_a_file_cannot_write_on_the_terminal(refuse):
    content = {"\x1b[2J" + "x" * 1000: view(storage("0", 6), 5, (6,), (1,))}
    said = refuse(legacy_file(content, {"0": SIX}))
    assert "\x1b" not in said and len(said) < 500
