"""`mlmodelscope machine`: a table, JSON, a manifest that loads, and setting back what a killed run left."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from mlmodelscope.cli.main import app
from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.manifest.schema import HardwareManifest
from mlmodelscope.plan.match import unmet
from mlmodelscope.provision.machine import Description, describe_facts
from mlmodelscope.provision.setting.journal import Journal


def run(*words: str) -> Result:
    done = CliRunner().invoke(app, ["machine", *words])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


def test_the_table_tells_the_main_things() -> None:
    text = run().stdout
    for word in ("processor", "set to", "flags", "memory", "system", "kernel"):
        assert word in text


def test_no_line_is_padded() -> None:
    lines = CliRunner().invoke(app, ["machine"]).output.splitlines()
    assert lines and [line.rstrip() for line in lines] == lines


def test_json_is_the_whole_description() -> None:
    found = Description.model_validate(json.loads(run("--json").stdout))
    assert found.cpu.usable >= 1 and found.surroundings.kernel


def test_the_manifest_loads_and_this_machine_meets_it(tmp_path: Path) -> None:
    (tmp_path / "this.yml").write_text(run("--yaml").stdout)
    manifest = load_manifest(tmp_path / "this.yml")
    assert isinstance(manifest, HardwareManifest) and unmet(manifest, describe_facts()) == []
    checked = CliRunner().invoke(app, ["check", str(tmp_path / "this.yml")])
    assert checked.exit_code == 0, checked.stdout


def test_two_forms_at_once_are_refused() -> None:
    done = run("--yaml", "--json")
    assert done.exit_code == 2 and "exclude each other" in done.stdout + done.stderr


def test_what_a_killed_run_left_is_set_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLMODELSCOPE_HOME", str(tmp_path))
    assert run("--restore").stdout == "nothing was left to be set back\n"
    Journal(tmp_path).write({"governor": {"/sys/devices/system/cpu/cpu9999/cpufreq/scaling_governor": "powersave"}})
    assert run("--restore").stdout == "set back: governor\n"
    assert json.loads(run("--restore", "--json").stdout) == {"restored": []}
