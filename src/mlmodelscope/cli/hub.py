"""`push` and `pull`: records to and from other servers, files and folders."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mlmodelscope.cli.terminal import AsJson, print_json, settings, verb
from mlmodelscope.errors import UsageError
from mlmodelscope.extras import install_extra

if TYPE_CHECKING:
    from mlmodelscope.client.client import Client
    from mlmodelscope.hub.receive import Received


@verb
def push(
    names: Annotated[list[str], typer.Argument(help="Ids of records, or `latest`.", metavar="RECORD...")],
    to: Annotated[str, typer.Option(help="A server's address, a folder, or a file to write.", metavar="URL|PATH")],
    as_json: AsJson = False,
) -> None:
    """Hand records on, signed: with their files and the manifests they were made from.

    A server that has one already says so and keeps what it has.
    """
    from mlmodelscope.record.store import Store

    with ExitStack() as stack:
        client = _client(to, stack)
        hub = _hub()
        store = Store(settings(False))
        stack.callback(store.close)
        records = [store.get(name) for name in names]
        if client is None and len(records) > 1 and not Path(to).is_dir():
            raise UsageError(f"{len(records)} records do not go into one file", hint="name a folder that is there")
        sent = [hub.push(store, record, to, client) for record in records]
    if as_json:
        print_json([vars(each) for each in sent])
        return
    for each in sent:
        print(f"{each.record}  {'pushed to' if each.is_new else 'already there:'} {each.place}")


@verb
def pull(
    place: Annotated[str, typer.Option("--from", help="A server's address, a folder or a file.", metavar="URL|PATH")],
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Ids of records; of a file or folder, all by default.", metavar="RECORD..."),
    ] = None,
    unsigned: Annotated[
        bool, typer.Option("--unsigned", help="Also what nobody who is known here has signed.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Take records in: from a server, or from files. Only what a known key has signed (`mlmodelscope keys`)."""
    from mlmodelscope.record.store import Store

    with ExitStack() as stack:
        client = _client(place, stack)
        if client is not None and not names:
            raise UsageError("which records? name them, or `latest`")
        hub = _hub()
        from mlmodelscope.hub.keys import Keyring, can_sign
        from mlmodelscope.hub.receive import Acceptance

        found = settings(False)
        ring = Keyring(found.home)
        own = {ring.own().key: "this home"} if can_sign() else {}
        whose = Acceptance({**own, **ring.known()}, anybody=unsigned)
        store = Store(found)
        stack.callback(store.close)
        if client is not None:
            taken = [hub.pull(store, name, client, whose) for name in names or []]
        else:
            taken = list(hub.pull_files(store, list(names or []), Path(place), whose))
    if as_json:
        print_json([{"record": each.record.id, "is_new": each.is_new, "signers": each.signers} for each in taken])
        return
    for each in taken:
        print(f"{each.record.id}  {'taken in' if each.is_new else 'already there'}{_signed(each, whose.known)}")
    if not taken:
        print("no bundles there")


def _signed(received: Received, known: Mapping[str, str]) -> str:
    names = [known.get(key, f"{key} (unknown)") for key in received.signers]
    return f", signed by {', '.join(names)}" if names else ", not signed"


def _client(place: str, stack: ExitStack) -> Client | None:
    """The server that is meant; None for a file or a folder."""
    if not place.startswith(("http://", "https://")):
        return None
    try:
        from mlmodelscope.client.client import Client
    except ModuleNotFoundError as error:
        raise UsageError(f"the package {error.name} is missing", hint=install_extra("hub")) from None
    return stack.enter_context(Client(place))


def _hub() -> Any:
    try:
        from mlmodelscope.client import hub
    except ModuleNotFoundError as error:
        raise UsageError(f"the package {error.name} is missing", hint=install_extra("hub")) from None
    return hub
