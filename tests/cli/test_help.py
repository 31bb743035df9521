"""Help on a terminal of 80 columns: whole sentences, and all that a verb takes."""

from __future__ import annotations

import re

import pytest
import typer.main
from typer.testing import CliRunner

from mlmodelscope.cli.main import app
from mlmodelscope.cli.server_choice import SERVED
from mlmodelscope.cli.verbs import SECTIONS, VERBS

ROOT = typer.main.get_command(app)
COMMANDS: list[tuple[str, ...]] = [
    (),
    *((verb,) for verb in VERBS),
    *((verb, inner) for verb in VERBS for inner in getattr(ROOT.commands[verb], "commands", ())),  # type: ignore[attr-defined]
]
OPEN_ENDED = re.compile(r"\b[A-Z]+ ?\.\.\.")
"""`RECORD...`: as many as one likes."""


def help_of(*words: str) -> str:
    done = CliRunner().invoke(app, [*words, "--help"], terminal_width=80, env={"COLUMNS": "80"})
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_help_fits_80_columns_and_nothing_is_cut(words: tuple[str, ...]) -> None:
    text = help_of(*words)
    assert [line for line in text.splitlines() if len(line) > 80] == []
    assert "…" not in text and "..." not in OPEN_ENDED.sub("", text)
    assert not re.search(r"<\w+[^>]*>", text), "types of the program are no help"


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_sentences_have_half_of_the_width(words: tuple[str, ...]) -> None:
    described = re.findall(r"(?m)^  (?! )(\S.*?) {2,}(?=\S)", help_of(*words))
    assert all(len(name) <= 36 for name in described)


def test_each_verb_that_a_server_can_do_says_how_it_is_named() -> None:
    with_server = {verb for verb in VERBS if "--server URL" in help_of(verb) and "--token TOKEN" in help_of(verb)}
    assert with_server == SERVED
    called = CliRunner().invoke(app, ["records", "list", "--help"], prog_name="python -m mlmodelscope")
    assert "--server URL" in called.output
    assert "--server" in help_of("trace", "export") and "--server" not in help_of("stacks", "build")


def test_every_verb_stands_below_what_it_is_for() -> None:
    text = help_of()
    places = [text.index(f"\n{title}:\n") for title in SECTIONS]
    assert places == sorted(places) and len(places) > 4
    assert all(len(re.findall(rf"(?m)^  {verb} ", text)) == 1 for verb in VERBS)


def test_what_is_needed_is_not_shown_as_optional() -> None:
    assert "replicate [OPTIONS] (MODEL | --log LOG) [DATASET]\n" in help_of("replicate")
    assert "init [OPTIONS] (MODEL | --from PATH)\n" in help_of("init")
    assert "evaluate [OPTIONS] MODEL [DATASET]\n" in help_of("evaluate")
    assert "records delete [OPTIONS] RECORD...\n" in help_of("records", "delete")
    assert re.search(r"--from URL\|PATH .*\[required\]", help_of("pull"))


def test_choices_and_defaults_are_told() -> None:
    text = " ".join(help_of("bench").split())
    assert "One of single-stream, multi-stream, server," in text and "[default: single-stream]" in text
    assert "--explain / --no-explain" in help_of("replicate") and "[default: explain]" in help_of("replicate")
    assert "[variable: MLMODELSCOPE_SERVER]" in " ".join(help_of("agent").split())


def test_studies_are_listed_when_asked() -> None:
    runner = CliRunner()
    assert runner.invoke(app, ["study", "--list"]).output == runner.invoke(app, ["study"]).output
    assert "table1" in runner.invoke(app, ["study", "--list", "--json"]).output
