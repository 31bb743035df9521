"""Manifests to find fault with."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from mlmodelscope.lint.check import check_text
from mlmodelscope.lint.finding import Finding

MODEL: dict[str, Any] = {
    "name": "toy",
    "version": "1.0.0",
    "task": "classification",
    "license": "MIT",
    "references": ["https://example.org"],
    "framework": {"name": "onnxruntime", "version": "^1.17"},
    "inputs": [
        {
            "type": "image",
            "processing": {"decode": None, "resize": {"short_side": 256}, "crop": {"dimensions": [224, 224]}},
        }
    ],
    "outputs": [{"type": "probability"}],
    "source": {"graph_path": "https://example.org/toy.onnx", "graph_checksum": "sha256:" + "ab" * 32},
}
Say = Callable[..., list[Finding]]


@pytest.fixture
def say(tmp_path: Path) -> Say:
    """Findings about a right model manifest with changes; `inputs__0__element_type` goes deep."""

    def call(text: str | None = None, **changes: Any) -> list[Finding]:
        if text is None:
            data: Any = copy.deepcopy(MODEL)
            for path, value in changes.items():
                *way, last = [int(part) if part.isdigit() else part for part in path.split("__")]
                holder = data
                for part in way:
                    holder = holder[part]
                if value is None:
                    holder.pop(last, None)
                else:
                    holder[last] = value
            text = yaml.safe_dump(data, sort_keys=False)
        return check_text(text, str(tmp_path / "toy.yml"), tmp_path)[1]

    return call


@pytest.fixture
def codes(say: Say) -> Callable[..., set[str]]:
    def call(text: str | None = None, **changes: Any) -> set[str]:
        return {found.code for found in say(text, **changes)}

    return call
