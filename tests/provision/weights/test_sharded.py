"""Weights in several files, and weights as a builder takes them."""

import json
from pathlib import Path
from typing import Any

import pytest

from mlmodelscope.errors import ArtifactError
from mlmodelscope.provision.weights.for_builder import is_ready, write_safetensors, write_tensors
from mlmodelscope.tensor_file.read import read_tensors
from mlmodelscope.tensor_file.tensor import Tensor

INDEX = "model.safetensors.index.json"


def tensor(name: str, *values: int) -> Tensor:
    return Tensor(name, "uint8", (len(values),), bytes(values))


def shard(path: Path, *tensors: Tensor) -> None:
    write_safetensors({each.name: each for each in tensors}, path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shard(tmp_path / "a.safetensors", tensor("one", 1, 2), tensor("two", 3))
    shard(tmp_path / "b.safetensors", tensor("three", 4))
    index(tmp_path, {"one": "a.safetensors", "two": "a.safetensors", "three": "b.safetensors"})
    return tmp_path


def index(folder: Path, places: Any) -> None:
    (folder / INDEX).write_text(json.dumps({"weight_map": places}))


def test_shards_are_read_as_their_index_says(folder: Path) -> None:
    found = read_tensors(folder)
    assert {name: bytes(each.data) for name, each in found.items()} == {"one": b"\1\2", "two": b"\3", "three": b"\4"}


def test_they_become_one_file_for_a_builder(folder: Path, tmp_path: Path) -> None:
    assert not is_ready(folder, None)
    whole = tmp_path / "whole"
    write_tensors(folder, None, whole)
    assert is_ready(whole, None)
    assert {name: bytes(each.data) for name, each in read_tensors(whole).items()} == {
        "one": b"\1\2",
        "two": b"\3",
        "three": b"\4",
    }


def test_a_folder_with_one_file_needs_no_index(tmp_path: Path) -> None:
    shard(tmp_path / "model.safetensors", tensor("one", 1))
    (tmp_path / "README.md").write_text("words")
    assert list(read_tensors(tmp_path)) == ["one"]


@pytest.mark.parametrize(
    "name",
    ["../a.safetensors", "/etc/passwd", "sub/a.safetensors", "..", "", "a.safetensors\n", ".a.safetensors", 7, None],
)
def test_an_index_that_leaves_its_folder_is_refused(folder: Path, name: Any) -> None:
    index(folder, {"one": name})
    with pytest.raises(ArtifactError, match="not the name of a file of weights beside it"):
        read_tensors(folder)


@pytest.mark.parametrize(
    ("places", "words"),
    [
        ({"one": "c.safetensors"}, "lacks c.safetensors, which its index names"),
        ({"one": "a.safetensors"}, "has tensor `two`, of which the index says otherwise"),
        ({"one": "a.safetensors", "two": "a.safetensors", "four": "b.safetensors"}, "lacks tensor `four`"),
        ({}, "no `weight_map`"),
        ([], "no `weight_map`"),
        ({str(number): f"{number}.safetensors" for number in range(3000)}, "names 3,000 files"),
    ],
)
def test_an_index_that_does_not_fit_is_told(folder: Path, places: Any, words: str) -> None:
    index(folder, places)
    with pytest.raises(ArtifactError, match=words):
        read_tensors(folder)


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, "null", "7"])
def test_an_index_that_is_not_json_is_told(folder: Path, text: str) -> None:
    (folder / INDEX).write_text(text)
    with pytest.raises(ArtifactError, match="index"):
        read_tensors(folder)


def test_a_huge_index_is_not_read(folder: Path) -> None:
    with (folder / INDEX).open("wb") as file:
        file.truncate(1 << 30)
    with pytest.raises(ArtifactError, match="larger than"):
        read_tensors(folder)


def test_two_files_without_an_index_are_not_guessed_at(folder: Path) -> None:
    (folder / INDEX).unlink()
    with pytest.raises(ArtifactError, match="2 files of weights and no index"):
        read_tensors(folder)
