"""Whatever is in a stranger's file, the answer is a description or a ModelFileError, soon and in little memory."""

import contextlib
import io
import random
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from mlmodelscope.model_file.describe import describe_model, read_network
from mlmodelscope.model_file.model_file import ModelFileError
from model_file.small_models import FILES as FILES_BY_HAND
from model_file.small_models import write

FILES = Path(__file__).parent / "files"
NAMES = sorted(str(path.relative_to(FILES)) for path in FILES.rglob("*") if path.is_file())
SMALL = {name: (kind, content) for kind, files in FILES_BY_HAND.items() for name, content in files.items()}
ZIPPED = [name for name in NAMES if name.endswith((".pt", ".pt2"))]
MUTATIONS = 500


def mutate(content: bytes, chance: random.Random) -> bytes:
    data = bytearray(content)
    for _ in range(chance.choice([1, 1, 2, 8])):
        place, size = chance.randrange(len(data) + 1), chance.choice([1, 2, 4, 16])
        kind = chance.randrange(6)
        if kind == 0:
            data[place : place + 1] = bytes([chance.randrange(256)])
        elif kind == 1:
            data[place : place + size] = chance.choice([b"\xff", b"\x00", b"\x7f", b"\x80"]) * size
        elif kind == 2:
            del data[place : place + size]
        elif kind == 3:
            data[place:place] = chance.randbytes(size)
        elif kind == 4:
            other = chance.randrange(len(data) + 1)
            data[place : place + size] = data[other : other + size]
        elif chance.random() < 0.2:
            del data[place:]
    return bytes(data)


def mutate_members(content: bytes, chance: random.Random) -> bytes:
    """An archive that is whole, of members that are not: checksums would hide the readers behind them."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(made, "w") as new:
        members = [info.filename for info in old.infolist()]
        worth = [name for name in members if name.endswith((".py", ".json", ".pkl", "version"))]
        chosen = chance.choice(worth)
        for name in members:
            body = old.read(name)
            new.writestr(name, mutate(body, chance) if name == chosen else body)
    return made.getvalue()


@pytest.mark.parametrize("name", SMALL)
def test_a_mutated_network_is_read_or_refused(tmp_path: Path, name: str) -> None:
    """Graphs and the weights beside them, one of them damaged; numbers are looked at as those who compare them do."""
    kind, content = SMALL[name]
    chance, path = random.Random(name), write(kind, tmp_path)
    for _ in range(MUTATIONS // 2):
        (tmp_path / name).write_bytes(mutate(content, chance))
        with contextlib.suppress(ModelFileError):
            for weight in read_network(path).weights.values():
                assert weight.data is None or len(weight.data) <= len(content) + 4 * weight.count


@pytest.mark.parametrize("name", NAMES)
def test_a_mutated_file_is_described_or_refused(tmp_path: Path, name: str) -> None:
    chance, content, path = random.Random(name), (FILES / name).read_bytes(), tmp_path / Path(name).name
    for number in range(MUTATIONS):
        path.write_bytes(mutate(content, chance))
        with contextlib.suppress(ModelFileError):
            if number % 4 == 0:
                read_network(path)
        with contextlib.suppress(ModelFileError):
            describe_model(path)


@pytest.mark.parametrize("name", ZIPPED)
def test_a_whole_archive_of_mutated_members_is_described_or_refused(tmp_path: Path, name: str) -> None:
    chance, content, path = random.Random(name), (FILES / name).read_bytes(), tmp_path / name
    for _ in range(MUTATIONS):
        path.write_bytes(mutate_members(content, chance))
        with contextlib.suppress(ModelFileError):
            describe_model(path)


@pytest.mark.parametrize("name", NAMES)
def test_a_file_cut_anywhere_is_described_or_refused(tmp_path: Path, name: str) -> None:
    content, path = (FILES / name).read_bytes(), tmp_path / Path(name).name
    for end in range(1, len(content), max(1, len(content) // 200)):
        path.write_bytes(content[:end])
        with contextlib.suppress(ModelFileError):
            describe_model(path)


def varint(value: int) -> bytes:
    written = bytearray()
    while value > 0x7F:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*written, value])


def test_weights_of_gigabytes_are_not_read(tmp_path: Path) -> None:
    size = 3 << 30  # sparse: it takes no room on the disk, but would in memory
    node = b"\x0a\x01x\x12\x01y\x22\x07Softmax"
    value = b"\x0a\x01x\x12\x04\x0a\x02\x08\x01"
    raw = b"\x42\x01w\x4a" + varint(size)
    graph = b"\x0a" + varint(len(node)) + node
    graph += b"\x5a" + varint(len(value)) + value + b"\x62" + varint(len(value)) + value.replace(b"x", b"y")
    graph += b"\x2a" + varint(len(raw) + size) + raw
    path = tmp_path / "large.onnx"
    path.write_bytes(b"\x08\x07\x3a" + varint(len(graph) + size) + graph)
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size + size)
    tracemalloc.start()
    model = describe_model(path)
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [one.name for one in model.inputs] == ["x"]
    assert model.ends_in_softmax is True
    assert peak_bytes < 1 << 20


def test_a_file_of_nothing_but_tiny_fields_is_given_up_soon(tmp_path: Path) -> None:
    path = tmp_path / "fields.onnx"
    path.write_bytes(b"\x08\x07\x3a" + varint(6 << 20) + b"\x12\x00" * (3 << 20))
    with pytest.raises(ModelFileError, match="more parts"):
        describe_model(path)


def test_xml_with_a_document_type_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.xml"
    path.write_text('<?xml version="1.0"?><!DOCTYPE net [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><net>&b;</net>')
    with pytest.raises(ModelFileError, match="document type"):
        describe_model(path)
    path.write_text("<net>" + "<a>" * 100_000)
    with pytest.raises(ModelFileError, match="nested too deeply"):
        describe_model(path)


def make_zip(path: Path, members: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> None:
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, body in members.items():
            archive.writestr(name, body)


def test_a_zip_bomb_is_not_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "bomb.pt2"
    make_zip(path, {"m/models/model.json": bytes(100 << 20)})
    with pytest.raises(ModelFileError, match="claims 104,857,600 bytes"):
        describe_model(path)


def test_a_member_that_lies_about_its_size_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "liar.pt2"
    make_zip(path, {"m/models/model.json": bytes(1 << 20)})
    path.write_bytes(path.read_bytes().replace((1 << 20).to_bytes(4, "little"), (64).to_bytes(4, "little")))
    with pytest.raises(ModelFileError, match="not what its zip archive says"):
        describe_model(path)


def test_a_long_list_of_members_is_not_read(tmp_path: Path) -> None:
    """Each of them would take ten times its bytes in memory."""
    make_zip(tmp_path / "model.pt2", {f"{number:05}" + "x" * 195: b"" for number in range(40_000)}, zipfile.ZIP_STORED)
    with pytest.raises(ModelFileError, match="more than 131,072 members"):
        describe_model(tmp_path / "model.pt2")


def test_an_encrypted_or_oddly_packed_archive_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.pt2"
    make_zip(path, {"m/models/model.json": b"{}"}, zipfile.ZIP_BZIP2)
    with pytest.raises(ModelFileError, match="encrypted or compressed"):
        describe_model(path)
    make_zip(path, {"m/models/model.json": b"{}"})
    content = bytearray(path.read_bytes())
    content[content.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match="encrypted or compressed"):
        describe_model(path)


@pytest.mark.parametrize("text", [b"[" * 1_000_000, b"1" * 100_000, b"null", b'{"graph_module": []}'])
def test_json_that_is_no_program_is_refused(tmp_path: Path, text: bytes) -> None:
    make_zip(tmp_path / "model.pt2", {"m/models/model.json": text})
    with pytest.raises(ModelFileError, match="its graph"):
        describe_model(tmp_path / "model.pt2")


def make_script(path: Path, source: str, **more: bytes) -> None:
    make_zip(path, {"m/data.pkl": b"\x80\x02c__torch__\nM\n)\x81.", "m/code/__torch__.py": source.encode(), **more})


@pytest.mark.parametrize(
    "returned",
    [
        "(" * 5_000 + "x" + ")" * 5_000,
        "torch.neg(" * 5_000 + "x" + ")" * 5_000,
        "self.forward(x)",
        "(self.me).forward((self.me).forward(x, ), )",
        '"' + "\\" * 60_001,
    ],
)
def test_source_text_without_end_is_not_followed(tmp_path: Path, returned: str) -> None:
    source = "class M(Module):\n  me : __torch__.M\n  def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n"
    make_script(tmp_path / "model.pt", f"{source}    return {returned}\n")
    with contextlib.suppress(ModelFileError):
        assert describe_model(tmp_path / "model.pt").ends_in_softmax is None


def test_a_pickle_that_would_run_something_does_not(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    evil = f"cposix\nsystem\n(X{chr(len(f'touch {ran}'))}\0\0\0touch {ran}tR.".encode()
    source = "class M(Module):\n  def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n    return torch.neg(x)\n"
    make_script(tmp_path / "model.pt", source, **{"m/traced_inputs.pkl": evil, "m/constants.pkl": evil})
    assert describe_model(tmp_path / "model.pt").ends_in_softmax is False
    assert not ran.exists()
