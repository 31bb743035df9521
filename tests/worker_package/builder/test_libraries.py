"""The worker checks what it is to build again: a plan may come from anywhere."""

import json
from pathlib import Path
from typing import Any

import pytest

from mlmodelscope_worker.builder.built import read_build, read_json
from mlmodelscope_worker.predictor import ModelError

GOOD: dict[str, Any] = {"builder": "timm", "architecture": "resnet18", "options": {}}


def read(tmp_path: Path, data: Any) -> Any:
    path = tmp_path / "build.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    return read_build({"build": str(path), "weights": "weights"})


def test_a_description_is_read(tmp_path: Path) -> None:
    assert read(tmp_path, GOOD) == ("timm", "resnet18", {}, "weights", None)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"builder": "os"}, "there is no builder `os`"),
        ({"architecture": "hf_hub:a/b"}, "`architecture` is not the name"),
        ({"architecture": 7}, "`architecture` is not the name"),
        ({"architecture": ["resnet18"]}, "`architecture` is not the name"),
        ({"options": {"pretrained": True}}, "`options` has `pretrained`, which is refused"),
        ({"options": {"checkpoint_path": "x"}}, "refused"),
        ({"options": [1]}, "`options` are a mapping"),
        ({"options": {"a": {"b": 1}}}, "`options` has something in `a`"),
    ],
)
def test_a_hostile_description_is_refused(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    with pytest.raises(ModelError, match=words):
        read(tmp_path, {**GOOD, **change})


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"builder": []}', "[" * 100_000])
def test_a_damaged_description_is_told(tmp_path: Path, text: str) -> None:
    with pytest.raises(ModelError):
        read(tmp_path, text)


def test_a_huge_one_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "build.json"
    with path.open("wb") as file:
        file.truncate(1 << 33)
    with pytest.raises(ModelError, match="larger than"):
        read_json(str(path), "the description")
