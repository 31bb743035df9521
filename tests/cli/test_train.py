"""`train` as people and programs use it."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from mlmodelscope import Settings
from small_world import Once

from .command import Run, command_in

TRAINING = """name: learner
version: 1.0.0
task: general
job_type: training
hyperparameters: {best: 0.8, layers: '[/red] [8]'}
run: |
  def run(ctx, data):
      best = ctx["hyperparameters"]["best"]
      for step in range(1, 9):
          ctx["report"](step / 8, top1=best * step / 8)
      open(ctx["folder"] + "/weights[1].bin", "w").close()
      return {"top1": best, "[bold]": 1}
"""
DATA = "name: numbers\nversion: 1.0.0\nformat: files\nsources: [{url: numbers}]\n"


def write_training(folder: Path) -> None:
    (folder / "numbers").mkdir()
    (folder / "numbers" / "a").write_text("1")
    (folder / "learner.yml").write_text(TRAINING)
    (folder / "numbers.yml").write_text(DATA)


@pytest.fixture(autouse=True)
def manifests(tmp_path: Path) -> None:
    write_training(tmp_path)


@pytest.fixture
def trained(once: Once, settings: Settings) -> None:
    """`train learner.yml numbers.yml --trust` was run here."""

    def make(place: Path) -> None:
        write_training(place)
        train(command_in(place))

    shutil.copytree(once("cli-trained", make) / "home", settings.home, dirs_exist_ok=True)


def train(run: Run, *words: str) -> dict[str, Any]:
    done = run("train", "learner.yml", "numbers.yml", "--trust", "--json", *words)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_training_shows_its_curve_and_what_it_made(run: Run) -> None:
    done = run("train", "learner.yml", "numbers.yml", "--trust")
    assert done.returncode == 0 and done.stderr == ""
    for shown in (
        "learner@1.0.0 trained on numbers",
        "▁▂▃▄▅▆▇█",
        "0.1 → 0.8",
        "weights[1].bin",
        "[/red] [8]",
        "final [bold]",
    ):
        assert shown in done.stdout, shown


def test_programs_get_json_and_hyper_parameters_can_be_set(run: Run) -> None:
    record = train(run, "--set", "best=0.5", "--seed", "3")
    assert record["training"]["metrics"]["top1"] == 0.5 and record["plan"]["hyperparameters"]["best"] == 0.5
    assert record["plan"]["seed"] == 3
    assert train(run, "--set", "best=0.5", "--seed", "3")["id"] == record["id"]
    assert train(run, "--set", "best=0.5", "--seed", "3", "--again")["id"] != record["id"]


def test_without_trust_it_is_refused_with_what_to_do(run: Run) -> None:
    done = run("train", "learner.yml", "numbers.yml")
    assert done.returncode == 1 and done.stdout == "" and "Traceback" not in done.stderr
    assert "run (learner.yml:7)" in done.stderr and "mlmodelscope trust learner.yml" in done.stderr


def test_one_that_falls_behind_ends_with_its_own_exit_code(run: Run, trained: None) -> None:
    assert run("log", "latest", "--output", "good.log.yml").returncode == 0
    behind = ("train", "learner.yml", "numbers.yml", "--trust", "--set", "best=0.2", "--log", "good.log.yml")
    stopped = run(*behind)
    assert stopped.returncode == 4 and "stopped: at 25 % of the training top1 is 0.05" in stopped.stdout
    assert run(*behind, "--within", "0.9").returncode == 0
    assert run(*behind, "--no-early-stop", "--again").returncode == 0
    unknown = run(*behind, "--metric", "f1")
    assert unknown.returncode == 2 and "known: top1" in unknown.stderr


def test_a_training_that_raises_says_where(run: Run, tmp_path: Path) -> None:
    (tmp_path / "learner.yml").write_text(TRAINING.replace("best = ctx", "best = 1 / 0, ctx"))
    done = run("train", "learner.yml", "numbers.yml", "--trust", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["error"]["message"] == "ZeroDivisionError: division by zero (learner.yml:8, in run)"


@pytest.mark.parametrize("words", [("--set", "best"), ("--within", "-1"), ("--log", "nothing.yml")])
def test_a_wrong_request_is_refused_before_anything_runs(run: Run, words: tuple[str, ...], tmp_path: Path) -> None:
    done = run("train", "learner.yml", "numbers.yml", "--trust", *words)
    assert done.returncode in (1, 2) and "Traceback" not in done.stderr
    assert not (tmp_path / "home" / "records").exists()


def test_a_training_has_a_report_in_every_form(run: Run, trained: None, tmp_path: Path) -> None:
    for form in ("html", "md", "csv", "json"):
        done = run("report", "latest", "--format", form, "--output", f"r.{form}")
        assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "r.json").read_text())["record"]["training"]["metrics"]["top1"] == 0.8
    assert (tmp_path / "r.csv").read_text().startswith("progress,wall_s,top1\n0.125,")


def test_a_training_without_a_curve_has_a_report_too(run: Run, tmp_path: Path) -> None:
    quiet = "\n".join(line for line in TRAINING.splitlines() if "report" not in line and "for step" not in line)
    (tmp_path / "learner.yml").write_text(quiet)
    assert run("train", "learner.yml", "numbers.yml", "--trust").returncode == 0
    for form in ("html", "md", "csv"):
        assert run("report", "latest", "--format", form, "--output", f"r.{form}").returncode == 0
    assert "progress" not in (tmp_path / "r.md").read_text()
