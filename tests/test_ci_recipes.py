"""The action for GitHub and the template for GitLab do what they promise: their own scripts run here."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from replicate.scenes import describe_colours, describe_seer

ROOT = Path(__file__).parent.parent
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
JOB: dict[str, Any] = yaml.safe_load((ROOT / "deploy" / "ci" / "gitlab.yml").read_text())[".check-claims"]
CHECK = next(step for step in ACTION["runs"]["steps"] if step.get("id") == "check")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Somebody's repository: a model with a mistake in its manifest, which claims what it would reach without it."""
    claims = [{"metric": "top1", "value": "100.0", "dataset": "colours"}]
    (tmp_path / "colours.yml").write_text(yaml.safe_dump(describe_colours(tmp_path, each=20)))
    (tmp_path / "seer.yml").write_text(yaml.safe_dump({**describe_seer(tmp_path), "claims": claims}))
    return tmp_path


def run(script: str, project: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    place = project / "bin"
    place.mkdir(exist_ok=True)
    command = place / "mlmodelscope"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m mlmodelscope "$@"\n')
    command.chmod(0o755)
    environment = {
        "PATH": f"{place}:/usr/bin:/bin",
        "HOME": str(project),
        "MLMODELSCOPE_HOME": str(project / "home"),
        "GITHUB_STEP_SUMMARY": str(project / "summary.md"),
        "GITHUB_OUTPUT": str(project / "output"),
        **variables,
    }
    shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    return subprocess.run(shell, cwd=project, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.slow(reason="a claim is checked and its cause sought, in processes of their own")
@pytest.mark.parametrize(("accept", "code"), [("0", 1), ("0 1", 0)])
def test_the_action_names_the_pitfall_and_fails_unless_that_is_accepted(project: Path, accept: str, code: int) -> None:
    given = {"MODEL": "seer.yml", "DATASET": "colours.yml", "CLAIM": "", "ACCEPT": accept, "REPORT": "verdict.html"}
    done = run(CHECK["run"], project, **given)
    assert done.returncode == code, done.stderr
    assert "color-layout" in (project / "summary.md").read_text()
    assert (project / "output").read_text() == "code=1\n"
    assert (project / "verdict.html").stat().st_size > 1000


@pytest.mark.slow(reason="a claim is checked, in processes of their own")
def test_the_template_of_gitlab_writes_the_verdict_as_a_test(project: Path) -> None:
    given = {"MODEL": "seer.yml", "DATASET": "colours.yml", "CLAIM": "top1=33.33@colours", "ACCEPT": "0"}
    done = run(JOB["script"][-1], project, **given)
    assert done.returncode == 0, done.stderr
    assert 'failures="0"' in (project / "verdict.xml").read_text()
    assert JOB["artifacts"]["reports"]["junit"] == "verdict.xml" and JOB["artifacts"]["paths"] == ["verdict.html"]


def test_no_text_of_a_workflow_becomes_a_command() -> None:
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step["run"]
    every = {*ACTION["inputs"]}
    assert every == set(re.findall(r"inputs\.([a-z]+)", (ROOT / "action.yml").read_text()))


def test_a_text_with_commands_is_an_argument(project: Path) -> None:
    given = {
        "MODEL": "$(touch here).yml",
        "DATASET": "",
        "CLAIM": "; touch here",
        "ACCEPT": "0",
        "REPORT": "verdict.html",
    }
    done = run(CHECK["run"], project, **given)
    assert done.returncode not in (0, 127) and not (project / "here").exists()


def test_the_docs_name_every_input() -> None:
    page = (ROOT / "docs" / "ci.md").read_text()
    assert [name for name in ACTION["inputs"] if f"`{name}`" not in page] == []
    assert os.path.relpath("deploy/ci/gitlab.yml") in page
