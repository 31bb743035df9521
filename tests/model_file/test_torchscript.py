"""TorchScript's source text is followed where that is certain, and only there."""

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from mlmodelscope.model_file.describe import describe_model
from mlmodelscope.model_file.model_file import ModelFile

Describe = Callable[..., ModelFile]

SOURCE = """class Part(Module):
  def forward(self: __torch__.Part,
    input: Tensor) -> Tensor:
    _1 = __torch__.torch.nn.functional.softmax
    return _1(input, 1, 5, None, )
class M(Module):
  __annotations__["0"] = __torch__.Part
  def forward(me: __torch__.M,
    x: Tensor,
    scale: float=1.) -> RETURNS:
    _0 = getattr(me, "0")
    picture = torch.permute(x, [0, 3, 1, 2])
    features = torch.conv2d(picture, CONSTANTS.c0, None, [1, 1])
    scores = (_0).forward(torch.flatten(features, 1, -1), )
    if bool(scale):
      unsure = torch.neg(scores)
    else:
      unsure = scores
    return RETURNED
"""


@pytest.fixture
def describe(tmp_path: Path) -> Describe:
    def make(returned: str, returns: str = "Tensor") -> ModelFile:
        with zipfile.ZipFile(tmp_path / "model.pt", "w") as archive:
            archive.writestr("m/data.pkl", b"\x80\x02c__torch__\nM\n)\x81.")
            source = SOURCE.replace("RETURNS", returns).replace("RETURNED", returned)
            archive.writestr("m/code/__torch__.py", source)
        return describe_model(tmp_path / "model.pt")

    return make


@pytest.mark.parametrize(
    ("returned", "softmax"),
    [
        ("scores", True),
        ("torch.squeeze(scores, 0)", True),
        ("features", False),
        ("unsure", None),
        ("strange + things", None),
        ("me.unknown", None),
    ],
)
def test_the_end_is_told_where_it_is_certain(describe: Describe, returned: str, softmax: bool | None) -> None:
    model = describe(returned)
    assert model.ends_in_softmax is softmax
    assert [(one.name, one.layout) for one in model.inputs] == [("x", "NHWC")]


def test_outputs_have_the_names_that_a_person_gave_them(describe: Describe) -> None:
    several = describe("(scores, torch.neg(x), _0)", "Tuple[Tensor, Tensor, Tensor]")
    assert [one.name for one in several.outputs] == ["scores", "output1", "output2"]
    named = describe('{"out": scores, "aux": features}', "Dict[str, Tensor]")
    assert [one.name for one in named.outputs] == ["out", "aux"]
