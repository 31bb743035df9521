"""The verbs by what they are for, and a command line made of all or some of them.

Only the verb that was asked for is imported: building the options of all of them takes longer than most verbs run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module

import typer

from mlmodelscope.cli.help import HelpCommand, HelpGroup

SECTIONS: dict[str, Sequence[str]] = {
    "Evaluate and check claims": (
        *("predict", "plan", "evaluate", "replicate", "sensitivity", "pitfalls"),
        *("compare", "diff", "reproduce", "overview", "study", "train"),
    ),
    "Measure": ("bench", "profile", "trace", "analyze"),
    "Manifests": (
        "models",
        "suggest",
        "datasets",
        "catalog",
        "claims",
        "inspect",
        "init",
        "check",
        "show",
        "convert",
        "export",
        "schema",
        "trust",
    ),
    "Records": ("records", "report", "log", "replay", "push", "pull", "keys"),
    "Stacks and machines": ("doctor", "machine", "stacks", "plugins"),
    "Servers and the store": ("serve", "agent", "watch", "token", "db", "gc"),
}
"""The verbs by what they are for."""
VERBS = tuple(verb for verbs in SECTIONS.values() for verb in verbs)
_MODULES = {"push": "hub", "pull": "hub"}
"""Where a verb is, if not in the module of its name."""


class _Verbs(HelpGroup):
    sections = SECTIONS


def make_app(verbs: Iterable[str] = VERBS) -> typer.Typer:
    """The command line with these verbs; whichever they are, each behaves the same."""
    app = typer.Typer(
        name="mlmodelscope",
        help="Check a shared model's claims: repeatable evaluation from text manifests, with statistics.",
        epilog="Exit codes: 0 done, 1 it failed (the message says why), 2 wrong usage, 3 done but some samples failed, "
        "130 interrupted. With --server URL (and --token, or MLMODELSCOPE_SERVER and MLMODELSCOPE_TOKEN) most verbs "
        "work on a server; those that do not say why.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        add_completion=False,
        rich_markup_mode=None,
        cls=_Verbs,
    )
    app.callback()(_options)
    for verb in verbs:
        module = import_module(f"mlmodelscope.cli.{_MODULES.get(verb, verb)}")
        if hasattr(module, "app"):  # a verb with verbs of its own
            for command in module.app.registered_commands:
                command.cls = HelpCommand
            app.add_typer(module.app, name=verb, cls=getattr(module, "Commands", HelpGroup))
            if verb == "catalog":  # the same word as others spell it
                app.add_typer(module.app, name="catalogue", cls=HelpGroup, hidden=True)
        else:
            app.command(verb, cls=getattr(module, "Command", HelpCommand))(getattr(module, verb))
    return app


def _options(version: bool = typer.Option(False, "--version", "-V", help="Show the version.")) -> None:
    if version:
        from mlmodelscope_worker import __version__

        print(f"mlmodelscope {__version__}")
        raise typer.Exit()
