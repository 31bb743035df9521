"""Files are recognised by what is in them, and what is no model gets an answer that helps."""

import shutil
from pathlib import Path

import pytest

from mlmodelscope.errors import ArtifactError
from mlmodelscope.model_file.describe import describe_model
from mlmodelscope.model_file.model_file import ModelFileError

FILES = Path(__file__).parent / "files"


@pytest.mark.parametrize(
    "name",
    ["onnx_softmax.onnx", "keras_float.tflite", "torch_traced.pt", "torch_exported.pt2", "frozen.pb", "openvino.xml"],
)
def test_the_content_decides_whatever_the_name_says(tmp_path: Path, name: str) -> None:
    shutil.copy(FILES / name, tmp_path / "model.bin")
    assert describe_model(tmp_path / "model.bin") == describe_model(FILES / name)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "empty"),
        (b"hello, I am a text", "OpenVINO IR"),
        (b"<!DOCTYPE html><html></html>", "web page"),
        (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS"),
        (b"\x89HDF\r\n\x1a\n" + bytes(64), "HDF5"),
        (b"\x80\x04N.", "pickle"),
    ],
)
def test_what_is_no_model_is_named(tmp_path: Path, content: bytes, says: str) -> None:
    (tmp_path / "model").write_bytes(content)
    with pytest.raises(ModelFileError, match=says):
        describe_model(tmp_path / "model")


def test_weights_alone_are_no_model() -> None:
    with pytest.raises(ArtifactError, match="weights") as error:
        describe_model(FILES / "torch_state_dict.pt")
    assert "torch.jit.save" in str(error.value)


def test_a_missing_file_and_a_folder_of_something_else_are_errors(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="no such file"):
        describe_model(tmp_path / "nothing.onnx")
    with pytest.raises(ModelFileError, match=r"saved_model\.pb"):
        describe_model(tmp_path)


@pytest.mark.parametrize("name", ["onnx_softmax.onnx", "keras_float.tflite", "torch_traced.pt", "openvino.xml"])
def test_a_cut_off_download_is_called_damaged(tmp_path: Path, name: str) -> None:
    content = (FILES / name).read_bytes()
    (tmp_path / name).write_bytes(content[: len(content) * 2 // 3])
    with pytest.raises(ModelFileError, match="damaged"):
        describe_model(tmp_path / name)
