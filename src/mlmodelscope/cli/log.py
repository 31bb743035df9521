"""`log`: a record as a reference log for others."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mlmodelscope.cli.choices import RecordName
from mlmodelscope.cli.terminal import AsJson, print_json, settings, verb
from mlmodelscope.errors import UsageError


@verb
def log(
    name: RecordName = "latest",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File to write.")] = None,
    called: Annotated[str | None, typer.Option("--name", help="What the log is called.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite what is there.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write a record as a reference log: numbers, environment, and what to expect of every sample."""
    from mlmodelscope.cli.server_choice import open_store
    from mlmodelscope.record.log import table_beside, write_log

    store = open_store(settings(False))
    record = store.get(name)
    destination = output or Path(f"{record.id}.log.yml")
    for path in (destination, table_beside(destination)):
        if path.exists() and not force:
            raise UsageError(f"{path} is there already", hint="--force overwrites it")
    written = write_log(record, store, destination, called)
    if as_json:
        print_json({"record": record.id, "files": [str(path) for path in written]})
    else:
        for path in written:
            print(f"wrote {path}")
