"""The document that clients are made from: it is the server's, and it says what is needed."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the server's packages are not installed")

ROOT = Path(__file__).parent.parent.parent
DOCUMENT: dict[str, Any] = json.loads((ROOT / "docs" / "reference" / "openapi.json").read_text())
OPERATIONS = [
    (method, path, operation) for path, methods in DOCUMENT["paths"].items() for method, operation in methods.items()
]


def test_the_document_has_not_drifted() -> None:
    tool = runpy.run_path(str(ROOT / "tools" / "make_openapi.py"))
    assert json.loads(tool["text"]()) == DOCUMENT, "run python tools/make_openapi.py"


def test_operations_have_short_names_of_their_own() -> None:
    names = [operation["operationId"] for _, _, operation in OPERATIONS]
    assert len(names) == len(set(names)) and all(len(name) <= 24 and name.isidentifier() for name in names)
    assert all("_api_v1_" not in name and "__" not in name for name in DOCUMENT["components"]["schemas"])


@pytest.mark.parametrize(("method", "path", "operation"), OPERATIONS, ids=lambda each: str(each)[:40])
def test_every_answer_is_described(method: str, path: str, operation: dict[str, Any]) -> None:
    for status, response in operation["responses"].items():
        if status in ("204", "304") or (method == "head" and status == "200"):
            continue
        for kind, body in response["content"].items():
            assert body["schema"] not in ({}, {"type": "object", "additionalProperties": True}), (status, kind)
        if status[0] in "45":
            assert response["content"] == {
                "application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}
            }
