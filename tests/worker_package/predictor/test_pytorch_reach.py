"""A PyTorch file of a stranger's reads and writes no files, however that is spelled. Nothing here needs PyTorch."""

import io
import json
import warnings
import zipfile
from pathlib import Path
from typing import Iterable, Tuple

import pytest

from mlmodelscope_worker.predictor.predictor import ModelError
from mlmodelscope_worker.predictor.pytorch_file import kind_of
from mlmodelscope_worker.predictor.pytorch_reach import refuse_operator

MODULE = """\
class Net(Module):
  __parameters__ = ["weight", ]
  training : bool
  ops : __torch__.torch.nn.modules.container.ModuleList
  def forward(self: __torch__.Net,
    x: Tensor) -> Tensor:
    _0 = getattr(self.ops, "0")
    y = torch.add(ops.prim.NumToTensor(torch.len(x)), (_0).forward(x, ))
    %s
    return torch.save_for_later(y)
"""
SPELLINGS = [
    'torch.save(x, "f")',
    'torch.save (x, "f")',
    'torch . save(x, "f")',
    'torch.save\\\n(x, "f")',
    '(torch).save(x, "f")',
    '(torch.save)(x, "f")',
    '(\n  torch.  # to compute\n  save)(x, "f")',
    "ops.aten.save(x, 'f')",
    'getattr(torch, "save")(x, "f")',
    'getattr(ops.aten, "save")(x, "f")',
    "getattr(ops.aten, 'sa' 've')(x, 'f')",
    "getattr(ops.aten, 's\\141ve')(x, 'f')",
    'getattr(ops.aten, """save""")(x, "f")',
    'getattr(ops.aten, ("save"))(x, "f")',
    't = torch\n    t.save(x, "f")',
    't = ops.aten\n    t.save(x, "f")',
    't = ops\n    t.image.read_file("f")',
    'y = torch.from_file("f", True, 4)',
    'y = ops.image.read_file("f")',
    'ops.torchaudio.sox_io_save_audio_file("f")',
    "z = 'a text \\' of # words'; torch.save(x, 'f')",
    '"""; torch.save(x, 1) """; torch.save(x, "f")',
    "z = 'without an end\n    torch.save(x, 'f')",
]


def write(path: Path, members: Iterable[Tuple[str, str]], before: bytes = b"") -> str:
    packed = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(packed, "w") as archive:
        warnings.simplefilter("ignore")  # of members with one name
        for name, content in members:
            archive.writestr(name, content)
    path.write_bytes(before + packed.getvalue())
    return str(path)


def script(line: str, folder: str = "net") -> Iterable[Tuple[str, str]]:
    names = ("data.pkl", "constants.pkl", "code/__torch__.py")
    return [(folder + "/" + name, MODULE % line if name.endswith("py") else "") for name in names]


@pytest.mark.parametrize("line", ["pass", 'y = torch.warn("save \\n it", 2)', "y = self.save_memory"])
def test_code_that_computes_is_let_through(tmp_path: Path, line: str) -> None:
    assert kind_of(write(tmp_path / "model.pt", script(line))) == "torchscript"


@pytest.mark.parametrize("line", SPELLINGS)
def test_code_that_reaches_files_is_refused(tmp_path: Path, line: str) -> None:
    with pytest.raises(ModelError, match="refused"):
        kind_of(write(tmp_path / "model.pt", script(line)))


def test_every_members_code_is_read(tmp_path: Path) -> None:
    evil, good = list(script(SPELLINGS[0])), list(script("pass"))
    for members in (
        [*evil, *script("pass", "other")],  # PyTorch opens the first folder
        [*evil, *good[2:]],  # and the first of two members with one name, we the last
        [*evil, (good[2][0].upper(), good[2][1])],
        [*evil[:2], (evil[2][0].upper(), evil[2][1])],
        [*good, ("net/model.json", "{}"), ("net/code/hidden", evil[2][1])],  # before 1.4, any name was a file of code
        [("net/model.json", "{}"), ("net/tensors/0", "\0" * (5 << 20) + evil[2][1])],
    ):
        with pytest.raises(ModelError, match="refused"):
            kind_of(write(tmp_path / "model.pt", members))
    old = [("net/model.json", "{}"), ("net/code/net.py", good[2][1]), ("net/tensors/0", "\0" * 99)]
    assert kind_of(write(tmp_path / "old.pt", old)) == "torchscript"


def test_a_file_that_is_something_else_to_pytorch_is_refused(tmp_path: Path) -> None:
    """It goes by the first bytes, and by where the list of members says that it is."""
    for before in (b"\x18\0\0\0PTMF" + bytes(16), b"PK\x03\x04" + bytes(60)):
        with pytest.raises(ModelError, match="refused"):
            kind_of(write(tmp_path / "model.pt", script("pass"), before))


@pytest.mark.parametrize(
    "name",
    [
        "torch.ops.aten.from_file.default",
        "torch.ops.aten.from_file.out",
        "torch.ops.aten.save.default",
        "torch.ops.image.read_file.default",
        "torch.ops.image",
    ],
)
def test_an_exported_program_that_reaches_files_is_refused(tmp_path: Path, name: str) -> None:
    program = {"graph_module": {"graph": {"nodes": [{"target": name, "inputs": []}]}}}
    with pytest.raises(ModelError, match="refused"):
        kind_of(write(tmp_path / "model.pt2", [("net/models/model.json", json.dumps(program))]))
    program["graph_module"]["graph"]["nodes"][0]["target"] = "torch.ops.aten.add.Tensor"
    assert kind_of(write(tmp_path / "model.pt2", [("net/models/model.json", json.dumps(program))])) == "exported"
    refuse_operator("_operator.add")
