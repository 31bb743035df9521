"""Which models there are, and who may have them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mlmodelscope.errors import MLModelScopeError, UsageError
from mlmodelscope.inference.door import LoneDoor
from mlmodelscope.inference.models import Models
from mlmodelscope.inference.refusal import Refusal
from mlmodelscope.settings import Settings

from .conftest import Running
from .test_rest import ask


@pytest.fixture
def models(catalogue: Path, home: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Models]:
    monkeypatch.setenv("MLMODELSCOPE_MANIFESTS", str(catalogue))
    found = Models(home)
    yield found
    found.close()


def test_a_model_of_the_catalogue_is_loaded_and_let_go(models: Models) -> None:
    assert {each["state"] for each in models.index()} == {"UNAVAILABLE"} and models.is_ready
    with pytest.raises(Refusal, match="is not loaded; POST"):
        models.find("toy")
    models.load("toy")
    models.load("toy")
    assert [each["name"] for each in models.index(ready_only=True)] == ["toy"]
    models.unload("toy")
    models.unload("toy")
    assert not models.is_loaded("toy") and models.index(ready_only=True) == []


def test_what_cannot_be_loaded_says_why_in_the_index(models: Models, catalogue: Path) -> None:
    (catalogue / "broken.yml").write_text((catalogue / "toy.yml").read_text().replace("toy", "broken"))
    try:
        with pytest.raises(MLModelScopeError):
            models.load("broken")
        (entry,) = [each for each in models.index() if each["name"] == "broken"]
        assert entry["state"] == "UNAVAILABLE" and "broken.json" in entry["reason"]
    finally:
        (catalogue / "broken.yml").unlink()


@pytest.mark.parametrize("name", ["nothing", "toy.yml", "../models/toy.yml", "/etc/passwd", "toy@1.2.0", ""])
def test_only_names_of_the_catalogue_are_loaded(models: Models, name: str) -> None:
    with pytest.raises(Refusal, match="there is no model"):
        models.load(name)


def test_those_that_were_named_are_the_only_ones(catalogue: Path, home: Settings) -> None:
    models = Models(home, [str(catalogue / "toy.yml")])
    with pytest.raises(Refusal, match="there is no model `bytes` to load"):
        models.load("bytes")
    assert not models.is_ready
    models.close()


def test_beyond_this_machine_there_must_be_a_token() -> None:
    with pytest.raises(UsageError, match="can be reached from other machines"):
        LoneDoor("0.0.0.0", None)


def test_who_has_no_token_gets_nothing(catalogue: Path, home: Settings) -> None:
    running = Running(home, [str(catalogue / "bytes.yml")], LoneDoor("0.0.0.0", "right"))
    try:
        for path in ("/v2", "/v2/models/bytes", "/v2/models/bytes/infer", "/v2/repository/index", "/v2/nothing"):
            for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic right"}):
                assert ask(running, "POST", path, b"{}", headers)[0] == 401
        assert ask(running, "GET", "/v2/health/ready")[0] == 200
        assert ask(running, "GET", "/v2", headers={"Authorization": "Bearer right"})[0] == 200
    finally:
        running.stop()
