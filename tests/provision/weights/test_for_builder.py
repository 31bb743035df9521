"""Weights for a builder are written once more, and take about as much space as before."""

from pathlib import Path

import pytest

from mlmodelscope.errors import ArtifactError
from mlmodelscope.provision.weights import for_builder
from mlmodelscope.provision.weights.for_builder import write_safetensors, write_tensors
from mlmodelscope.tensor_file.read import read_tensors
from mlmodelscope.tensor_file.tensor import Tensor


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    path = tmp_path / "weights.safetensors"
    write_safetensors({name: Tensor(name, "float32", (2,), memoryview(bytes(8))) for name in "ab"}, path)
    return path


def test_what_is_written_is_what_was_read(weights: Path, tmp_path: Path) -> None:
    write_tensors(weights, None, tmp_path / "again")
    assert {name: bytes(each.data) for name, each in read_tensors(tmp_path / "again", None).items()} == {
        "a": bytes(8),
        "b": bytes(8),
    }


def test_tensors_that_share_all_their_bytes_fill_no_disk(
    weights: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A state dict may have any number of tensors over one storage."""
    large = memoryview(bytes(weights.stat().st_size))
    many = {str(number): Tensor(str(number), "uint8", (len(large),), large) for number in range(9)}
    monkeypatch.setattr(for_builder, "read_tensors", lambda path, key: many)
    with pytest.raises(ArtifactError, match="more than 8 times"):
        write_tensors(weights, None, tmp_path / "again")
    assert not (tmp_path / "again").exists()
