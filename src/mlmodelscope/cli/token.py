"""`token`: who may do what on a server, managed where its database is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from mlmodelscope.cli.terminal import AsJson, console, print_json, settings, verb

if TYPE_CHECKING:
    from mlmodelscope.ledger.tokens import Tokens

app = typer.Typer(help="Tokens of a server, managed on the machine that has its database.", no_args_is_help=True)


@app.command("make")
@verb
def make(
    owner: Annotated[str, typer.Option(help="Whose it is.")],
    scope: Annotated[list[str], typer.Option(help="What it may do: read, run, agent, trust, admin; several times.")],
    name: Annotated[str, typer.Option(help="What it is for.")] = "",
    days: Annotated[float | None, typer.Option(help="Days until it expires.", min=0)] = None,
    as_json: AsJson = False,
) -> None:
    """Make a token. It is shown this once; only its hash is kept."""
    identity, secret = _tokens().make(name, owner, scope, days)
    if as_json:
        print_json({"id": identity, "token": secret})
    else:
        print(secret)


@app.command("list")
@verb
def show(as_json: AsJson = False) -> None:
    """All tokens, without their secrets."""
    rows = [dict(row) for row in _tokens().list()]
    if as_json:
        print_json(rows)
        return
    from rich.markup import escape
    from rich.table import Table

    table = Table("id", "owner", "scopes", "name", "made", "expires", "last used", box=None, pad_edge=False)
    for row in rows:
        moments = (f"{row[key]:%Y-%m-%d %H:%M}" if row[key] else "" for key in ("created_at", "expires_at", "used_at"))
        table.add_row(row["id"], escape(row["owner"]), row["scopes"], escape(row["name"]), *moments)
    console().print(table)


@app.command("revoke")
@verb
def revoke(identity: Annotated[str, typer.Argument(help="Its id, as `token list` shows it.")]) -> None:
    """Make a token worthless."""
    _tokens().revoke(identity)


def _tokens() -> Tokens:
    from mlmodelscope.ledger.tokens import Tokens
    from mlmodelscope.record.database import open_database

    return Tokens(open_database(settings(False)))
