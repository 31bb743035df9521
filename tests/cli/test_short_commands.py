"""Short commands import only what they need. What that saves is shown by benchmarks/short_commands.py."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import typer.main

from mlmodelscope import Settings, evaluate
from mlmodelscope.cli.main import app
from mlmodelscope.cli.verbs import VERBS, make_app
from small_world import DATASET, MODEL

_WATCHED = """
import atexit, json, sys
atexit.register(lambda: print(json.dumps(sorted(sys.modules)), file=sys.stderr))
from mlmodelscope.__main__ import main
main()
"""
DATABASE = ("sqlalchemy", "alembic", "mako", "mlmodelscope.record.engine")
TABLES = ("pyarrow", "numpy")
NETWORK = ("http.client", "ssl", "urllib.request", "asyncio")
SCHEMAS = ("mlmodelscope.manifest.schema", "mlmodelscope.record.record", "mlmodelscope.plan")

Imported = Callable[..., set[str]]


@pytest.fixture
def place(tmp_path: Path, make_pictures: Callable[..., Path]) -> Path:
    make_pictures(6)
    (tmp_path / "toy.json").write_text(json.dumps({"shape": [None, 3, 8, 8], "classes": 10}))
    (tmp_path / "toy.yml").write_text(MODEL)
    (tmp_path / "pictures.yml").write_text(DATASET)
    return tmp_path


@pytest.fixture
def imported(place: Path) -> Imported:
    """The modules that a command had imported when it ended."""

    def run(*words: str) -> set[str]:
        homes = {"MLMODELSCOPE_HOME": str(place / "home"), "MLMODELSCOPE_CACHE": str(place / "cache")}
        done = subprocess.run(
            [sys.executable, "-c", _WATCHED, *words],
            cwd=place,
            env={**os.environ, **homes},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return set(json.loads(done.stderr.splitlines()[-1]))

    return run


@pytest.fixture
def evaluated(place: Path) -> Path:
    evaluate(place / "toy.yml", place / "pictures.yml", settings=Settings(place / "home", place / "cache"))
    return place


def test_records_are_listed_without_database_toolkit_tables_or_schemas(evaluated: Path, imported: Imported) -> None:
    assert imported("records").isdisjoint({*DATABASE, *TABLES, *NETWORK, *SCHEMAS})


def test_a_new_home_needs_no_migrations(place: Path, imported: Imported) -> None:
    assert imported("records").isdisjoint({*DATABASE, *TABLES})
    assert (place / "home" / "records.sqlite").exists()


def test_models_are_listed_without_records(imported: Imported) -> None:
    found = imported("models")
    assert found.isdisjoint({*DATABASE, *TABLES, *NETWORK})
    assert not [name for name in found if name.startswith(("mlmodelscope.record", "mlmodelscope.provision"))]


def test_claims_are_listed_without_what_runs_an_evaluation(evaluated: Path, imported: Imported) -> None:
    imported("claims", "list")  # the index and the rows of manifests are made
    found = imported("claims", "list", "--status", "unchecked", "--dataset", "imagenet-val")
    assert found.isdisjoint({*DATABASE, *TABLES, *NETWORK, *SCHEMAS, "mlmodelscope.evaluation"})


def test_a_file_is_checked_without_records(imported: Imported) -> None:
    found = imported("check", "toy.yml")
    assert found.isdisjoint({*DATABASE, *TABLES, *NETWORK})
    assert not [name for name in found if name.startswith(("mlmodelscope.record", "mlmodelscope.provision"))]


def test_an_evaluation_is_answered_from_the_store_without_what_runs_one(evaluated: Path, imported: Imported) -> None:
    found = imported("evaluate", "toy.yml", "pictures.yml")
    assert found.isdisjoint({*DATABASE, *TABLES, *NETWORK, "rich.progress", "mlmodelscope.record.samples"})


def test_a_prediction_needs_no_database_and_no_tables(place: Path, imported: Imported) -> None:
    picture = next((place / "pictures").rglob("*.png"))
    assert imported("predict", "toy.yml", str(picture)).isdisjoint({*DATABASE, *TABLES, *NETWORK})


def test_only_the_verb_that_was_asked_for_is_imported(imported: Imported) -> None:
    modules = {name.removeprefix("mlmodelscope.cli.") for name in imported("schema", "model") if ".cli." in name}
    assert modules == {"verbs", "help", "server_choice", "terminal", "schema"}


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_alone_is_the_same_as_among_all(verb: str) -> None:
    alone, among = (typer.main.get_group(each).commands[verb] for each in (make_app([verb]), app))
    assert [each.opts for each in alone.params] == [each.opts for each in among.params]
    assert alone.help == among.help


def test_an_answer_from_the_store_looks_only_at_what_makes_the_machine_the_same(
    evaluated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mlmodelscope.running.describe_machine", lambda: pytest.fail("described in full"))
    settings = Settings(evaluated / "home", evaluated / "cache")
    record = evaluate(evaluated / "toy.yml", evaluated / "pictures.yml", settings=settings)
    assert record.machine.details is not None
