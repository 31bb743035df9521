"""The verbs, in the order of the workflow, and a command line made of all or some of them.

Only the verb that was asked for is imported: building the options of all of them takes longer than most verbs run.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module

import typer

VERBS = (
    "doctor",
    "machine",
    "plugins",
    "models",
    "datasets",
    "schema",
    "init",
    "check",
    "show",
    "convert",
    "trust",
    "stacks",
    "predict",
    "plan",
    "evaluate",
    "replicate",
    "sensitivity",
    "pitfalls",
    "study",
    "train",
    "bench",
    "compare",
    "overview",
    "profile",
    "trace",
    "analyze",
    "records",
    "report",
    "log",
    "replay",
    "push",
    "pull",
    "keys",
    "db",
    "gc",
    "serve",
    "agent",
    "token",
)
_MODULES = {"push": "hub", "pull": "hub"}
"""Where a verb is, if not in the module of its name."""


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
    )
    app.callback()(_options)
    for verb in verbs:
        module = import_module(f"mlmodelscope.cli.{_MODULES.get(verb, verb)}")
        if hasattr(module, "app"):  # a verb with verbs of its own
            app.add_typer(module.app, name=verb)
        else:
            app.command(verb)(getattr(module, verb))
    return app


def _options(version: bool = typer.Option(False, "--version", "-V", help="Show the version.")) -> None:
    if version:
        from mlmodelscope_worker import __version__

        print(f"mlmodelscope {__version__}")
        raise typer.Exit()
