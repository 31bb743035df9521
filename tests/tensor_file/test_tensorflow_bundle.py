"""Variables of a SavedModel are read without TensorFlow, under their own names where the checkpoint has them."""

import contextlib
import random
from pathlib import Path

import pytest

from mlmodelscope.errors import ArtifactError
from mlmodelscope.tensor_file.tensorflow_bundle import read_bundle
from model_file import small_models as small


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, content in small.bundle().items():
        (tmp_path / name).write_bytes(content)
    return tmp_path


def test_every_variable_is_read_by_the_name_that_is_known_of_it(folder: Path) -> None:
    found = read_bundle(folder)
    assert list(found) == ["conv.weight", "conv.bias", "model/2", "model/3"]
    assert [bytes(tensor.data) for tensor in found.values()] == [data for _, data in small.TENSORS.values()]
    assert found["conv.weight"].shape == small.WEIGHT and found["conv.weight"].element_type == "float32"


@pytest.mark.parametrize(("name", "says"), [("variables.index", "index"), ("variables.data-00000-of-00001", "beyond")])
def test_a_cut_off_file_is_called_damaged(folder: Path, name: str, says: str) -> None:
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[: len(content) // 2])
    with pytest.raises(ArtifactError, match=says):
        read_bundle(folder)


def test_mutated_tables_are_read_or_refused(folder: Path) -> None:
    chance, content = random.Random(3), (folder / "variables.index").read_bytes()
    for _ in range(1500):
        data = bytearray(content)
        for _ in range(chance.choice([1, 2, 5])):
            data[chance.randrange(len(data))] = chance.choice([0, 255, 127, chance.randrange(256)])
        (folder / "variables.index").write_bytes(data)
        with contextlib.suppress(ArtifactError):
            read_bundle(folder)
