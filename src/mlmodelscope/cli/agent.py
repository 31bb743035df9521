"""`agent`: do a server's work on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mlmodelscope.cli.agent_services import serve_models, speak_for
from mlmodelscope.cli.choices import pair
from mlmodelscope.cli.terminal import settings, verb
from mlmodelscope.errors import UsageError
from mlmodelscope.extras import install_extra


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
    inference_port: Annotated[
        int | None, typer.Option(help="Serve models by the Open Inference Protocol at this port.", min=0, max=65535)
    ] = None,
    inference_rpc_port: Annotated[
        int | None, typer.Option(help="The same over gRPC at this port.", min=0, max=65535)
    ] = None,
    inference_host: Annotated[
        str, typer.Option(help="Address to serve them on; beyond this machine only with a token.")
    ] = "127.0.0.1",
    inference_token: Annotated[
        str | None, typer.Option(help="What whoever asks must know.", envvar="MLMODELSCOPE_INFERENCE_TOKEN")
    ] = None,
    serve_model: Annotated[
        list[str] | None,
        typer.Option(help="A model to serve, or that the device has; by default the catalogue's.", metavar="MODEL"),
    ] = None,
    remote: Annotated[
        str | None,
        typer.Option(help="Speak for a device: an endpoint of the Open Inference Protocol.", metavar="URL"),
    ] = None,
    hardware: Annotated[
        Path | None, typer.Option(help="With --remote: a hardware manifest that describes the device.")
    ] = None,
) -> None:
    """Join a server and evaluate what fits this machine; it connects outwards only."""
    import asyncio
    import contextlib
    import logging
    import signal

    from mlmodelscope.inference.listening import Listening

    listening = Listening(inference_host, inference_port, inference_rpc_port)
    if hardware is not None and remote is None:
        raise UsageError("--hardware describes a device, which --remote names")
    if remote is not None and listening.is_wanted:
        raise UsageError("a device has its own server: --remote and --inference-port do not go together")
    if serve_model and remote is None and not listening.is_wanted:
        raise UsageError("--serve-model goes with --inference-port, --inference-rpc-port or --remote")

    try:
        from mlmodelscope.client.http_link import HttpLink
    except ModuleNotFoundError as error:
        raise UsageError(f"the package {error.name} is missing", hint=install_extra("client")) from None
    from mlmodelscope.cluster.agent import Agent
    from mlmodelscope.cluster.description import describe_agent
    from mlmodelscope.provision.stack.makeable import list_makeable
    from mlmodelscope.record.store import Store

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    speaker = speak_for(remote, hardware, serve_model or ()) if remote is not None else None
    labels = {key: str(value) for key, value in (pair(each) for each in label or ())}
    found = settings(False)
    store = Store(found)

    async def run() -> None:
        stop = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        link = HttpLink(server, token, store)
        wide = slots or (1 if speaker else None)  # a device does one thing at a time, unless somebody says otherwise
        description = describe_agent(found, name=name, labels=labels, slots=wide, trusts=trust)
        worker = Agent(link, speaker.describe(description) if speaker else description, found, makes=list_makeable)
        try:
            async with contextlib.AsyncExitStack() as beside:
                if speaker:
                    await beside.enter_async_context(speaker.beside(worker, description, stop))
                if listening.is_wanted:
                    serving = serve_models(worker, found, listening, serve_model or (), inference_token)
                    await beside.enter_async_context(serving)
                await worker.run(stop)
        finally:
            await link.close()

    try:
        asyncio.run(run())
    finally:
        store.close()
