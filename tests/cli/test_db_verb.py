"""`db` and `gc` as people use them: what they print, and how they end."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from mlmodelscope import Options, Settings, evaluate
from mlmodelscope.cli.main import app
from mlmodelscope.record.database import HEAD

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    def run(*arguments: str, home: str = "home") -> Result:
        environment = {"MLMODELSCOPE_HOME": str(tmp_path / home), "MLMODELSCOPE_CACHE": str(tmp_path / "cache")}
        environment["UV_CACHE_DIR"] = str(tmp_path / "uv")
        return CliRunner(env={**os.environ, **environment}).invoke(app, arguments)

    return run


def test_from_an_empty_home_to_a_restored_one(
    run: Run, settings: Settings, make_model: Callable, make_dataset: Callable, make_pictures: Callable, tmp_path: Path
) -> None:
    shutil.rmtree(settings.home)
    assert run("db", "check").exit_code == 1 and "not there" in run("db", "check").output
    assert run("db", "upgrade", "--to", "0002").output == "the schema is 0002, it was not there\n"
    refused = run("db", "downgrade", "--to", "0003")
    assert refused.exit_code == 2 and "db upgrade --to 0003" in refused.output
    assert run("db", "upgrade").output == f"the schema is {HEAD}, it was 0002\n"
    options = Options(timed_runs=1, warm_up_runs=1)
    record = evaluate(make_model(), make_dataset(make_pictures()), options, settings=settings)
    assert run("db", "check").output == "1 finished records, no problems\n"
    said = run("db", "backup", str(tmp_path / "b.zip"))
    assert said.exit_code == 0 and "1 records, " in said.output
    assert run("db", "restore", str(tmp_path / "b.zip")).exit_code == 2
    assert run("db", "restore", str(tmp_path / "b.zip"), home="new").exit_code == 0
    assert json.loads(run("records", "list", "--json", home="new").output)[0]["id"] == record.id
    samples = settings.home / "records" / record.id / "samples.parquet"
    samples.unlink()
    found = run("db", "check", "--repair", "--json")
    assert found.exit_code == 1 and json.loads(found.output)["findings"][0]["what"] == "samples.parquet is not there"
    assert run("db", "backup", str(tmp_path / "c.zip")).exit_code == 1
    assert run("db", "downgrade", "--to", "0002", home="new").output == f"the schema is 0002, it was {HEAD}\n"


def test_nothing_goes_unless_it_is_said(
    run: Run, settings: Settings, make_model: Callable, make_dataset: Callable, make_pictures: Callable
) -> None:
    options = Options(timed_runs=1, warm_up_runs=1)
    record = evaluate(make_model(), make_dataset(make_pictures()), options, settings=settings)
    assert run("gc").exit_code == 2 and run("gc", "--artifacts-size", "many").exit_code == 2
    held = run("gc", "--caches").output
    assert "took away" not in held and ("freed by" in held or "no cache holds anything" in held)
    assert "took away nothing, 0 bytes" in run("gc", "--keep-days", "1").output.replace("\xa0", " ")
    run("records", "pin", record.id)
    assert "nothing" in run("gc", "--keep-days", "0").output
    run("records", "pin", "--off", record.id)
    would = run("gc", "--keep-days", "0", "--dry-run").output
    assert f"record {record.id}" in would and "would take away 1 record" in would.replace("\xa0", " ")
    done = json.loads(run("gc", "--keep-days", "0", "--json").output)
    assert done["records"] == [record.id] and done["freed_bytes"] > 0 and not done["dry_run"]
    assert run("records", "list").output.startswith("no records yet")
