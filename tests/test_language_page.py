"""The examples of the page on language models run, and their numbers can be computed by hand."""

import math
import os
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.command import run_command
from mlmodelscope import Settings, evaluate
from mlmodelscope.cli.main import app
from mlmodelscope.record.record import Record

PAGE = Path(__file__).parents[1] / "docs" / "language-models.md"
pytestmark = pytest.mark.usefixtures("few_calls")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    text = PAGE.read_text()
    for name, body in re.findall(r"`([\w.]+)`[^`]*?:\n\n```text\n(.*?)```", text, re.DOTALL):
        (tmp_path / name).write_text(body)
    for name, body in re.findall(r"```yaml\n# (\S+\.yml)\n(.*?)```", text, re.DOTALL):
        (tmp_path / name).write_text(body)
    return tmp_path


def record(place: Path, settings: Settings, dataset: str) -> Record:
    found = evaluate(str(place / "pets.yml"), str(place / dataset), settings=settings)
    assert found.failed == 0
    return found


def test_the_choices_of_the_page(place: Path, settings: Settings) -> None:
    found = record(place, settings, "ends.yml")
    assert {name: each.value for name, each in found.metrics.items()} == pytest.approx(
        {f"choice-accuracy{rule}": 1.0 for rule in ("", "-characters", "-bytes", "-tokens")}
    )


def test_the_perplexity_of_the_page(place: Path, settings: Settings) -> None:
    """Logarithms to the base of 10 in the file: the, cat, sat; the, dog, barked."""
    logs = (-0.1, -0.4, -0.2, -0.1, -0.5, -0.3)
    found = record(place, settings, "films.yml").metrics
    assert found["perplexity"].value == pytest.approx(10 ** (-sum(logs) / 6))
    assert found["bits-per-byte"].value == pytest.approx(-sum(logs) * math.log2(10) / (11 + 14))
    assert found["greedy-accuracy"].value == 0.5, "behind `the` comes `cat` more often than `dog`"


def test_the_texts_of_the_page(place: Path, settings: Settings) -> None:
    found = record(place, settings, "sums.yml")
    assert found.metrics["exact-match"].value == 0.0 and found.metrics["exact-match"].samples == 1
    assert found.details["answers"]["written"] == 1 and found.details["answers"]["empty"] == 1


@pytest.mark.usefixtures("small_peak")
def test_the_commands_of_the_page_run(place: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLMODELSCOPE_HOME", str(settings.home))
    monkeypatch.setenv("MLMODELSCOPE_CACHE", str(settings.cache))
    monkeypatch.chdir(place)
    found = re.findall(r"^mlmodelscope (.*)$", PAGE.read_text(), re.MULTILINE)
    assert len(found) == 3
    for line in found:
        words = line.replace("--budget 1", "--budget 0.2 --processes 1").split()
        done = CliRunner().invoke(app, words)
        assert done.exit_code == 0, f"{line}\n{done.output}"


def test_the_commands_of_the_page_print_what_it_shows(place: Path, settings: Settings) -> None:
    variables = {**os.environ, "MLMODELSCOPE_HOME": str(settings.home), "MLMODELSCOPE_CACHE": str(settings.cache)}
    shown = re.findall(r"```text\n\$ mlmodelscope (.*?)\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(shown) == 2
    for words, printed in shown:
        done = run_command(*shlex.split(words), cwd=place, environment=variables)
        assert done.returncode == 0, done.stderr
        assert all(line in done.stdout.splitlines() for line in printed.splitlines() if line != "…"), done.stdout
