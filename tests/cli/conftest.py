"""The command in a folder of its own, with a home and a cache of its own."""

import json
import os
import shutil
from functools import partial
from pathlib import Path

import pytest

from cli.command import Call, Run, command_in, run_command
from cli.toy import write_toy
from mlmodelscope.settings import Settings
from small_world import Once

MEASURED = {
    "evaluation": "evaluate",
    "top 3": "evaluate --top-k 3",
    "single-stream": "bench --budget 0.3 --processes 1",
    "offline": "bench --budget 0.3 --processes 1 --scenario offline",
    "cold": "profile --cold --runs 2",
    "library": "profile --runs 2 --level library",
    "framework": "profile --runs 2",
}
"""What `measured` makes, from the oldest to the newest."""


@pytest.fixture
def environment(settings: Settings) -> dict[str, str]:
    """The variables that `run` gives the command; a test may change them."""
    return {**os.environ, "MLMODELSCOPE_HOME": str(settings.home), "MLMODELSCOPE_CACHE": str(settings.cache)}


@pytest.fixture
def run(tmp_path: Path, environment: dict[str, str]) -> Run:
    """`mlmodelscope` with these words, in the test's folder."""
    return partial(run_command, cwd=tmp_path, environment=environment)


@pytest.fixture
def call(run: Run) -> Call:
    """The same, which must end with `code`: all that it said."""

    def call(*words: str, code: int = 0) -> str:
        done = run(*words)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    return call


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    """A folder with a model, a dataset and nothing else."""
    write_toy(tmp_path)
    return tmp_path


@pytest.fixture
def evaluated(once: Once, settings: Settings, toy: Path) -> Path:
    """The same, and `evaluate toy.yml pictures.yml` was run there."""

    def make(place: Path) -> None:
        write_toy(place)
        done = command_in(place)("evaluate", "toy.yml", "pictures.yml")
        assert done.returncode == 0, done.stderr

    shutil.copytree(once("cli-evaluated", make) / "home", settings.home, dirs_exist_ok=True)
    return toy


@pytest.fixture
def measured(once: Once, settings: Settings, tmp_path: Path, small_peak: None) -> dict[str, str]:
    """Records of every kind of a toy with four layers, whose manifests are here: their ids by what they are."""

    def make(place: Path) -> None:
        write_toy(place, 6, layers=4)
        run, made = command_in(place), {}
        for name, words in MEASURED.items():
            verb, *more = words.split()
            done = run(verb, "toy.yml", "pictures.yml", *more, "--json")
            assert done.returncode == 0, done.stderr
            record = json.loads(done.stdout)
            made[name] = record["record"] if verb == "profile" else record["id"]
        (place / "made.json").write_text(json.dumps(made))

    place = once("cli-measured", make)
    shutil.copytree(place / "home", settings.home, dirs_exist_ok=True)
    write_toy(tmp_path, 6, layers=4)
    found: dict[str, str] = json.loads((place / "made.json").read_text())
    return found
