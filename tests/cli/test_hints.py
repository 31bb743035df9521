"""Every hint works when it is followed: what it names exists, and the commands that it gives run.

`ADVICE` lists the hints that name nothing of ours. A new hint either names something that is checked here, or has its
line there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer.main

from mlmodelscope.cli.main import app
from mlmodelscope.ledger.request import Request
from mlmodelscope.manifest.json_schema import manifest_schema
from mlmodelscope.server.config import Config

from .advice import ADVICE, EXAMPLES
from .command import Run
from .hints import COMMAND, KEY, OPTION, PAGE, SOURCES, VARIABLE, Hint, all_hints

HINTS = all_hints()
ROOT = Path(__file__).parents[2]
OTHERS = re.compile(r"^(OTEL|RAY|CAP|AWS)_")
"""Variables that belong to other programs."""


def named(pattern: re.Pattern[str]) -> list[Any]:
    return [pytest.param(hint, id=f"{hint.file}:{hint.text[:60]}") for hint in HINTS if pattern.search(hint.text)]


@cache
def commands() -> dict[str, Any]:
    """Every command by its words: `records list`."""
    found: dict[str, Any] = {}

    def add(group: Any, words: tuple[str, ...]) -> None:
        for name, command in group.commands.items():
            found[" ".join((*words, name))] = command
            if hasattr(command, "commands"):
                add(command, (*words, name))

    add(typer.main.get_group(app), ())
    return found


def options(command: Any) -> set[str]:
    return {option for each in command.params for option in (*each.opts, *each.secondary_opts)} | {
        "--server",
        "--token",
    }


@cache
def keys() -> set[str]:
    """What a manifest, a request or a server's configuration may say."""

    def properties(node: Any) -> Iterator[str]:
        if isinstance(node, dict):
            yield from node.get("properties", {})
            for each in node.values():
                yield from properties(each)
        elif isinstance(node, list):
            for each in node:
                yield from properties(each)

    schemas = [manifest_schema(kind) for kind in ("model", "dataset", "software", "hardware", "log")]
    ours = {name for schema in (*schemas, Request.model_json_schema()) for name in properties(schema)}
    return ours | set(Config.model_fields)


def test_every_hint_names_something_or_has_a_line() -> None:
    loose = {hint.text for hint in HINTS if not hint.names_something}
    assert loose - ADVICE - set(EXAMPLES) == set(), "a new hint: have it name a command, or give it a line in advice.py"
    assert (ADVICE | set(EXAMPLES)) - {hint.text for hint in HINTS} == set(), "lines in advice.py that no hint has"


@pytest.mark.parametrize("hint", named(COMMAND))
def test_a_command_exists_and_has_its_options(hint: Hint) -> None:
    for found in COMMAND.finditer(hint.text):
        verb = found["words"].partition(" ")[0]
        command = commands().get(found["words"]) or commands().get(verb)
        assert command is not None, f"`mlmodelscope {verb}` does not exist: {hint}"
        known = options(command)
        if found["rest"].startswith(" {}"):  # any of its subcommands
            known |= {each for name in commands() if name.startswith(f"{verb} ") for each in options(commands()[name])}
        unknown = set(OPTION.findall(found["rest"])) - known
        assert not unknown, f"`mlmodelscope {verb}` has no {unknown}: {hint}"


@pytest.mark.parametrize("hint", named(OPTION))
def test_an_option_exists(hint: Hint) -> None:
    known = {option for command in commands().values() for option in options(command)}
    outside = {"--head", "--generate"}  # of ray
    assert set(OPTION.findall(hint.text)) <= known | outside, hint


@pytest.mark.parametrize("hint", named(VARIABLE))
def test_a_variable_is_read_somewhere(hint: Hint) -> None:
    texts = [other.text for other in HINTS]
    code = "".join(path.read_text() for path in SOURCES.rglob("*.py"))
    for name in VARIABLE.findall(hint.text):
        told = sum(text.count(name) for text in texts)
        assert OTHERS.match(name) or code.count(name) > told, f"nothing reads {name}: {hint}"


@pytest.mark.parametrize("hint", named(KEY))
def test_a_key_exists(hint: Hint) -> None:
    values = {"resize", "trust"}  # of an example in the API's docs; a scope of tokens
    for found in KEY.finditer(hint.text):
        assert found["key"] in keys() | values, f"no manifest, request or configuration has `{found['key']}`: {hint}"


@pytest.mark.parametrize("hint", named(PAGE))
def test_a_page_exists(hint: Hint) -> None:
    for name in PAGE.findall(hint.text):
        assert (ROOT / name.rstrip(".")).exists(), hint


@pytest.mark.parametrize("text", sorted(EXAMPLES))
def test_an_example_is_one(text: str) -> None:
    EXAMPLES[text]()


MEASURED = "--budget 0.3 --processes 1"
FOLLOWED = [
    ("evaluate toy.yml", "mlmodelscope datasets shows what there is", "datasets"),
    ("evaluate toy pictures.yml", "a path to a manifest file will do as well", "evaluate toy.yml pictures.yml"),
    ("plan efficientnet-lit0 pictures.yml", "did you mean `efficientnet-lite0`?", "show efficientnet-lite0"),
    ("report nothing", "mlmodelscope records lists them", "records"),
    ("trace show {evaluation}", "mlmodelscope profile makes records with one", "profile toy.yml pictures.yml"),
    (
        "trace export {framework} -o x.csv --format csv",
        "leave out --format csv, or -o x.csv",
        "trace export {framework} --format csv",
    ),
    ("trace export {framework} -o x.doc", "end it with one of", "trace export {framework} -o x.json"),
    (
        "report {framework}",
        "trace export {framework} -o {framework}.html",
        "trace export {framework} -o {framework}.html",
    ),
    ("log {offline}", "mlmodelscope report {offline} writes what it has", "report {offline}"),
    ("check", "`mlmodelscope check .` checks this folder", "check ."),
    ("show efficientnet-lite0@^^1", "examples: ^1.x", "show efficientnet-lite0@^1.x"),
    ("check toy.yml --select nope", "`mlmodelscope check --explain all` lists every rule", "check --explain all"),
    ("records delete {evaluation}", "add --yes", "records delete {evaluation} --yes"),
    ("records list --kind profil", "did you mean `profile`?", "records list --kind profile"),
    (
        "bench toy.yml pictures.yml --scenario max-rate",
        "add --bound MILLISECONDS",
        f"bench toy.yml pictures.yml --scenario max-rate --bound 1000 {MEASURED}",
    ),
    (
        "bench toy.yml --random --shape 1,a",
        "write it as input=1,3,224,224",
        f"bench toy.yml --random --shape 1,3,8,8 {MEASURED}",
    ),
    (
        "overview --measure",
        "mlmodelscope overview MODEL --measure",
        "overview toy.yml --measure --dataset pictures.yml --budget 0.3",
    ),
    (
        "compare {offline} {single-stream} -o x.csv",
        "--json prints what was compared",
        "compare {offline} {single-stream} --json",
    ),
    ("pitfalls colour-layout", "did you mean `color-layout`?", "pitfalls color-layout"),
    (
        "replicate toy.yml pictures.yml --claim seven",
        "such as ap=37.4@coco-val2017",
        "replicate toy.yml pictures.yml --claim top1=0.0@pictures --within 50 --no-explain",
    ),
    ("keys remove nobody", "mlmodelscope keys list", "keys list"),
    ("keys add somebody nothing", "mlmodelscope keys show", "keys show"),
    (
        "analyze {framework} -o x.csv",
        "choose one with --only A2, or give a folder",
        "analyze {framework} --only A2 -o x.csv",
    ),
    ("gc", "--keep-days 90", "gc --keep-days 90"),
    ("convert toy.yml -o pictures.yml", "--force overwrites it", "convert toy.yml -o pictures.yml --force"),
]
"""What provokes a hint, what it says, and what one then types; `{name}` is a record of `measured`."""


@pytest.mark.parametrize(("provoked", "says", "followed"), FOLLOWED, ids=[provoked for provoked, _, _ in FOLLOWED])
def test_a_hint_that_is_followed_helps(
    run: Run, measured: dict[str, str], provoked: str, says: str, followed: str
) -> None:
    def fill(text: str) -> str:
        return re.sub(r"\{([\w -]+)\}", lambda found: measured[found[1]], text)

    refused = run(*fill(provoked).split())
    assert refused.returncode not in (0, 130) and fill(says) in refused.stdout + refused.stderr, refused
    done = run(*fill(followed).split())
    assert done.returncode == 0, done.stdout + done.stderr


Edit = tuple[str, str, str]
"""A file, what stands in it, what is written instead."""
EDITED: list[tuple[str, Edit, str, Edit]] = [
    ("ManifestError", ("toy.yml", "resize", "resise"), "did you mean `resize`?", ("toy.yml", "resise", "resize")),
    (
        "PlanError",
        ("toy.yml", "name: fake", "name: fak"),
        "did you mean `fake`?",
        ("toy.yml", "name: fak", "name: fake"),
    ),
    (
        "DatasetError",
        ("pictures.yml", "format: folder", "format: folder\nclasses_url: names.txt"),
        "give the dataset a `classes_url` that lists it",
        ("names.txt", "klass2", "class2"),
    ),
    (
        "ArtifactError",
        ("pictures.yml", "{url: pictures}", "{url: pictures/*.png}"),
        "itself, and its files by `include: '*.png'`",
        ("pictures.yml", "sources: [{url: pictures/*.png}]", "sources: [{url: pictures}]\ninclude: '*.png'"),
    ),
    (
        "TrustError",
        ("toy.yml", "outputs:", "envvars: {OF_THEIRS: '1'}\noutputs:"),
        "mlmodelscope trust toy.yml",
        ("toy.yml", "", ""),
    ),
]
"""What error a mistake in a manifest is, the mistake, what the hint says, and how it is followed."""


@pytest.mark.parametrize(("kind", "mistake", "says", "followed"), EDITED, ids=[kind for kind, *_ in EDITED])
def test_a_manifest_that_follows_its_hint_is_evaluated(
    run: Run, toy: Path, kind: str, mistake: Edit, says: str, followed: Edit
) -> None:
    def edit(file: str, old: str, new: str) -> None:
        assert old in (text := (toy / file).read_text())
        (toy / file).write_text(text.replace(old, new))

    (toy / "names.txt").write_text("".join(f"{'k' if n == 2 else 'c'}lass{n}\n" for n in range(10)))
    edit(*mistake)
    refused = json.loads(run("evaluate", "toy.yml", "pictures.yml", "--json").stdout)["error"]
    assert refused["kind"] == kind and says in f"{refused['message']} {refused['hint']}", refused
    edit(*followed)
    if says.startswith("mlmodelscope "):
        assert run(*says.split()[1:]).returncode == 0
    done = run("evaluate", "toy.yml", "pictures.yml")
    assert done.returncode == 0, done.stderr


def test_a_home_that_is_chosen_as_the_hint_says_is_used(run: Run, toy: Path, environment: dict[str, str]) -> None:
    environment["MLMODELSCOPE_HOME"] = "/proc/nowhere"
    refused = json.loads(run("evaluate", "toy.yml", "pictures.yml", "--json").stdout)["error"]
    assert (refused["kind"], refused["hint"]) == ("StoreError", "set MLMODELSCOPE_HOME to a folder of yours")
    environment["MLMODELSCOPE_HOME"] = str(toy / "own")
    assert run("evaluate", "toy.yml", "pictures.yml").returncode == 0


def test_all_layers_are_in_the_file_that_a_profile_names(run: Run, measured: dict[str, str], tmp_path: Path) -> None:
    shown = run("profile", "toy.yml", "pictures.yml", "--top", "1").stdout
    (command,) = re.findall(r"all: mlmodelscope (.*)", shown)
    assert run(*command.split()).returncode == 0
    assert len((tmp_path / "layers.csv").read_text().splitlines()) == 1 + 4
