"""`pitfalls`: what people get wrong, one page each."""

from __future__ import annotations

import sys
from difflib import get_close_matches
from typing import Annotated

import typer

from mlmodelscope.cli.plugins import warn_of_broken
from mlmodelscope.cli.terminal import AsJson, console, print_json, verb
from mlmodelscope.errors import UsageError


@verb
def pitfalls(
    name: Annotated[str | None, typer.Argument(help="Explain this one, such as color-layout.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the pitfalls that `replicate` and `sensitivity` know, or explain one."""
    from mlmodelscope.replicate.pitfall import PITFALLS, REGISTRY, load_plugins

    load_plugins()
    if name is None:
        _list(as_json)
        warn_of_broken(REGISTRY)
        return
    if REGISTRY.find(name) is None:
        near = get_close_matches(name, PITFALLS, 1)
        hint = f"did you mean `{near[0]}`?" if near else f"known: {', '.join(PITFALLS)}"
        raise UsageError(f"no pitfall is called `{name}`", hint=hint)
    _explain(name, as_json)


def _list(as_json: bool) -> None:
    from mlmodelscope.replicate.pitfall import PITFALLS

    if as_json:
        print_json([{"name": each.name, "title": each.title, "paper": each.paper} for each in PITFALLS.values()])
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for column in ("name", "title", "in the papers"):
        table.add_column(column, no_wrap=True)
    for each in PITFALLS.values():
        table.add_row(each.name, each.title, each.paper)
    console().print(table)


def _explain(name: str, as_json: bool) -> None:
    from mlmodelscope.replicate.pitfall import PITFALLS
    from mlmodelscope.replicate.pitfall.explanation import explanation_of

    found, text = PITFALLS[name], explanation_of(name)
    if as_json:
        body = {"name": name, "title": found.title, "paper": found.paper, "explanation": text}
        print_json(body)
        return
    page = f"# {found.title}\n\n{text}\n"
    if not sys.stdout.isatty():
        print(page)
        return
    from rich.markdown import Markdown

    console().print(Markdown(page))
