"""`plugins`: what installed packages add."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from mlmodelscope.cli.terminal import AsJson, console, print_json, verb

if TYPE_CHECKING:
    from mlmodelscope.plugins.installed import Plugin
    from mlmodelscope.plugins.registry import Registry


@dataclass(frozen=True)
class Row:
    """One entry point, and whether what it promises can be used."""

    kind: str
    name: str
    package: str
    version: str
    module: str
    origin: str
    state: str
    reason: str = ""


@verb
def plugins(as_json: AsJson = False) -> int:
    """List what installed packages add to MLModelScope, and what is wrong with those that cannot be used."""
    from mlmodelscope.plugins.installed import PREFIX, all_plugins

    known = {each.group: each for each in registries()}
    order = {group: number for number, group in enumerate(known)}
    found = sorted(all_plugins(), key=lambda each: order.get(each.group.removeprefix(PREFIX), len(order)))
    rows = [_row(each, known) for each in found]
    if as_json:
        print_json([asdict(row) for row in rows])
    else:
        _show(rows)
    return int(any(row.state == "broken" for row in rows))


def registries() -> list[Registry[Any]]:
    """Every kind that a package can add, in the order of the workflow."""
    from mlmodelscope.author.importer import REGISTRY as IMPORTERS
    from mlmodelscope.dataset.format import FORMATS
    from mlmodelscope.lint.rule import REGISTRY as LINTS
    from mlmodelscope.plugins.predictors import PREDICTORS
    from mlmodelscope.plugins.readers import READERS
    from mlmodelscope.plugins.steps import ANSWER_STEPS, OUTPUT_STEPS, STEPS
    from mlmodelscope.replicate.pitfall import REGISTRY as PITFALLS
    from mlmodelscope.task.measure import MEASURES
    from mlmodelscope.task.rules import RULES
    from mlmodelscope.task.task import TASKS

    running: list[Registry[Any]] = [PREDICTORS, STEPS, OUTPUT_STEPS, ANSWER_STEPS, READERS]
    return [*running, TASKS, RULES, MEASURES, FORMATS, IMPORTERS, LINTS, PITFALLS]


def _row(plugin: Plugin, known: dict[str, Registry[Any]]) -> Row:
    from mlmodelscope.plugins.installed import PREFIX

    group = plugin.group.removeprefix(PREFIX)
    registry = known.get(group)
    problem = registry.problem(plugin) if registry is not None and not plugin.hidden else None
    state, reason = "ok", ""
    if registry is None:
        state, reason = (
            "broken",
            f"there is no group {plugin.group}; known: {', '.join(PREFIX + each for each in known)}",
        )
    elif plugin.hidden:
        state, reason = "hidden", plugin.hidden
    elif problem is not None:
        state, reason = "broken", str(problem)
    about = (plugin.package, plugin.version, plugin.module, _origin(plugin))
    return Row(registry.kind if registry is not None else "?", plugin.name, *about, state, reason)


def _origin(plugin: Plugin) -> str:
    """Where its module is; where the package is, if Python finds no such module."""
    from mlmodelscope.plugins.files import files_of
    from mlmodelscope.plugins.load import Fault

    try:
        return plugin.folder if plugin.hidden or plugin.fault else str(files_of(plugin).path)
    except Fault:
        return plugin.folder


def _show(rows: list[Row]) -> None:
    import sys

    from rich.markup import escape
    from rich.table import Table

    if not rows:
        print("no installed package adds anything; docs/extend.md explains how one would")
        return
    table = Table(box=None, pad_edge=False)
    for column in ("kind", "name", "package", "version", "origin", "state"):
        table.add_column(column, no_wrap=True)
    for row in rows:
        table.add_row(*map(escape, (row.kind, row.name, row.package, row.version, row.origin, row.state)))
    console().print(table)
    for row in rows:
        if row.reason:
            print(f"\n{row.state}: {row.reason}", file=sys.stderr)


def warn_of_broken_pitfalls() -> None:
    from mlmodelscope.replicate.pitfall import REGISTRY

    warn_of_broken(REGISTRY)


def warn_of_broken(registry: Registry[Any]) -> None:
    """For verbs that use all of a kind and do without what is broken: nobody should miss it without knowing."""
    import sys

    for problem in registry.problems():
        print(f"warning: {problem.message}; {problem.hint}", file=sys.stderr)
