"""`db`: the database and the files beside it, looked after by whoever runs them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mlmodelscope.cli.terminal import AsJson, print_json, settings, verb

if TYPE_CHECKING:
    from mlmodelscope.upkeep.backup import Backup

app = typer.Typer(help="Upgrade, check, back up and restore the database and its files.", no_args_is_help=True)


@app.command("upgrade")
@verb
def upgrade(
    to: Annotated[str, typer.Option(help="A schema, such as 0003; the newest by default.")] = "head",
    as_json: AsJson = False,
) -> None:
    """Bring the schema up to date. Every command does so by itself; this is for doing it at a chosen moment."""
    _migrate(to, as_json, upwards=True)


@app.command("downgrade")
@verb
def downgrade(
    to: Annotated[str, typer.Option(help="A schema, such as 0002; what later ones added is lost.")],
    as_json: AsJson = False,
) -> None:
    """Bring the schema back to what an older release has; the next command of this release brings it up again."""
    _migrate(to, as_json, upwards=False)


def _migrate(to: str, as_json: bool, *, upwards: bool) -> None:
    from mlmodelscope.errors import UsageError
    from mlmodelscope.record.database import HEAD, connect_database, migrate, revision

    database = connect_database(settings(False))
    try:
        with database.errors():
            before = revision(database)
            aim = HEAD if to == "head" else "" if to == "base" else to
            if (aim < (before or "")) if upwards else (aim > (before or "")):
                other = "downgrade" if upwards else "upgrade"
                raise UsageError(f"the schema is {before or 'not there'}", hint=f"mlmodelscope db {other} --to {to}")
            migrate(database, to)
            after = revision(database)
    finally:
        database.close()
    if as_json:
        print_json({"before": before, "after": after})
    else:
        print(f"the schema is {after}" + ("" if before == after else f", it was {before or 'not there'}"))


@app.command("check")
@verb
def check(
    repair: Annotated[bool, typer.Option("--repair", help="Fix what can be fixed without losing anything.")] = False,
    as_json: AsJson = False,
) -> int:
    """Look whether the database is sound and every record has its files, byte by byte.

    Exit code 0: no problems, or all were fixed; 1: problems remain.
    """
    from mlmodelscope.upkeep.check import check as look

    found, count = look(settings(False), repair=repair)
    left = [each for each in found if not each.is_mended]
    if as_json:
        rows = [
            {
                "about": each.about,
                "what": each.what,
                "can_be_fixed": each.mend is not None,
                "is_fixed": each.is_mended,
                "can_be_mended": each.mend is not None,  # former names, for one more minor version
                "is_mended": each.is_mended,
            }
            for each in found
        ]
        print_json({"records": count, "findings": rows})
        return int(bool(left))
    for each in found:
        print(f"{each.about}: {each.what}" + (f"; {each.remedy}" if each.is_mended else ""))
    if not left:
        print(f"{count} finished records, no problems")
    elif any(each.mend is not None for each in left):
        print("mlmodelscope db check --repair fixes what can be fixed without losing anything")
    return int(bool(left))


@app.command("backup")
@verb
def backup(
    destination: Annotated[Path, typer.Argument(help="File to write.")],
    without_files: Annotated[
        bool, typer.Option("--without-files", help="Only the database, not the files of records.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Write everything into one file, as of one moment; a server may go on meanwhile.

    Exit code 1: it was written, but files of records were not there.
    """
    from mlmodelscope.record.store import Store
    from mlmodelscope.upkeep.backup import back_up

    store = Store(settings(False))
    try:
        made = back_up(store, destination, with_files=not without_files)
    finally:
        store.close()
    _show(made, "wrote", as_json)
    return int(bool(made.missing))


@app.command("restore")
@verb
def restore(
    source: Annotated[Path, typer.Argument(help="A backup.")],
    as_json: AsJson = False,
) -> None:
    """Bring a backup back into an empty MLMODELSCOPE_HOME and an empty database, SQLite or PostgreSQL."""
    from mlmodelscope.upkeep.restore import restore as bring_back

    _show(bring_back(settings(False), source), "restored", as_json)


def _show(made: Backup, verb: str, as_json: bool) -> None:
    if as_json:
        print_json({**vars(made), "path": str(made.path)})
        return
    from mlmodelscope.report.words import size

    for name in made.missing:
        print(f"not there: {name}")
    count = made.rows.get("records", 0)
    print(f"{verb} {made.path}: {count} records, {made.files} files, {size(made.bytes)}")
