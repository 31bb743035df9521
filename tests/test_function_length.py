"""A function that needs a table of contents wants to be several."""

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path

import typer

from mlmodelscope.cli.main import app

SOURCE = Path(__file__).parent.parent / "src"
MOST_LINES = 60

Place = tuple[Path, str]


def commands(group: typer.Typer) -> Iterator[Place]:
    """Where the functions of the command line are written; their signatures are lists of options."""
    found = [each.callback for each in (*group.registered_commands, group.registered_callback) if each is not None]
    for callback in found:
        if callback is not None:
            function = inspect.unwrap(callback)
            yield Path(function.__code__.co_filename), function.__name__
    for each in group.registered_groups:
        if each.typer_instance is not None:
            yield from commands(each.typer_instance)


def lengths(path: Path, without_signature: set[Place]) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0].lineno if (path, node.name) in without_signature else node.lineno
            assert node.end_lineno is not None
            yield f"{path.relative_to(SOURCE)}:{node.lineno} {node.name}", node.end_lineno - first + 1


def test_no_function_is_longer_than_a_screen() -> None:
    options = set(commands(app))
    found = [each for path in sorted(SOURCE.rglob("*.py")) for each in lengths(path, options)]
    assert [f"{name} has {lines} lines" for name, lines in found if lines > MOST_LINES] == []


def test_only_the_options_of_a_command_are_not_counted() -> None:
    assert {"evaluate", "bench", "list_records"} <= {name for _, name in commands(app)}
    path = SOURCE / "mlmodelscope" / "cli" / "bench.py"
    whole, body = (dict(lengths(path, chosen)) for chosen in (set[Place](), set(commands(app))))
    changed = [name for name in whole if whole[name] != body[name]]
    assert [name.split()[-1] for name in changed] == ["bench"] and whole[changed[0]] > MOST_LINES
