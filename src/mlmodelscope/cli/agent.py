"""`agent`: do a server's work on this machine."""

from __future__ import annotations

from typing import Annotated

import typer

from mlmodelscope.cli.choices import pair
from mlmodelscope.cli.terminal import settings, verb
from mlmodelscope.errors import UsageError


@verb
def agent(
    server: Annotated[str, typer.Option(help="Address of the server.", envvar="MLMODELSCOPE_SERVER")],
    token: Annotated[
        str | None, typer.Option(help="A token with the scope `agent`.", envvar="MLMODELSCOPE_TOKEN")
    ] = None,
    name: Annotated[str | None, typer.Option(help="What it is called; by default after this machine.")] = None,
    label: Annotated[
        list[str] | None, typer.Option(help="A label that requests may ask for.", metavar="KEY=VALUE")
    ] = None,
    slots: Annotated[int | None, typer.Option(help="Evaluations side by side; timed ones run alone.", min=1)] = None,
    trust: Annotated[
        bool, typer.Option("--trust", help="Run code in manifests, for tokens that may ask for it.")
    ] = False,
) -> None:
    """Join a server and evaluate what fits this machine; it connects outwards only."""
    import asyncio
    import logging
    import signal

    try:
        from mlmodelscope.client.http_link import HttpLink
    except ModuleNotFoundError as error:
        raise UsageError(f"the package {error.name} is missing", hint="pip install 'mlmodelscope[client]'") from None
    from mlmodelscope.cluster.agent import Agent
    from mlmodelscope.cluster.description import describe_agent
    from mlmodelscope.record.store import Store

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    labels = {key: str(value) for key, value in (pair(each) for each in label or ())}
    found = settings(False)
    store = Store(found)

    async def run() -> None:
        stop = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        link = HttpLink(server, token, store)
        description = describe_agent(found, name=name, labels=labels, slots=slots, trusts=trust)
        try:
            await Agent(link, description, found).run(stop)
        finally:
            await link.close()

    try:
        asyncio.run(run())
    finally:
        store.close()
