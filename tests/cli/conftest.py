"""The command in a folder of its own, with a home and a cache of its own."""

import os
import shutil
from functools import partial
from pathlib import Path

import pytest

from cli.command import Run, run_command
from cli.toy import write_toy
from mlmodelscope.settings import Settings
from small_world import Once


@pytest.fixture
def environment(settings: Settings) -> dict[str, str]:
    """The variables that `run` gives the command; a test may change them."""
    return {**os.environ, "MLMODELSCOPE_HOME": str(settings.home), "MLMODELSCOPE_CACHE": str(settings.cache)}


@pytest.fixture
def run(tmp_path: Path, environment: dict[str, str]) -> Run:
    """`mlmodelscope` with these words, in the test's folder."""
    return partial(run_command, cwd=tmp_path, environment=environment)


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
        ours = {"MLMODELSCOPE_HOME": str(place / "home"), "MLMODELSCOPE_CACHE": str(place / "cache")}
        done = run_command("evaluate", "toy.yml", "pictures.yml", cwd=place, environment={**os.environ, **ours})
        assert done.returncode == 0, done.stderr

    shutil.copytree(once("cli-evaluated", make) / "home", settings.home, dirs_exist_ok=True)
    return toy
