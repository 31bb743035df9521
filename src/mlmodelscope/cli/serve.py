"""`serve`: one process with the API, the ledger and an agent for this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mlmodelscope.cli.terminal import console, settings, verb
from mlmodelscope.errors import UsageError
from mlmodelscope.extras import install_extra


@verb
def serve(
    host: Annotated[
        str | None, typer.Option(help="Address to listen on; beyond this machine only with tokens.")
    ] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on.")] = None,
    rpc_port: Annotated[
        int | None, typer.Option(help="Speak gRPC at this port as well; 0 takes any that is free.", min=0, max=65535)
    ] = None,
    database: Annotated[str | None, typer.Option(help="postgresql://HOST/NAME or sqlite:///FILE.")] = None,
    executor: Annotated[str | None, typer.Option(help="Who evaluates here: local, ray or none.")] = None,
    slots: Annotated[int | None, typer.Option(help="Evaluations side by side on this machine.", min=1)] = None,
    trust: Annotated[
        bool | None, typer.Option("--trust", help="Let code in manifests run here, for tokens that may ask for it.")
    ] = None,
    inference_port: Annotated[
        int | None, typer.Option(help="Serve models by the Open Inference Protocol at this port.", min=0, max=65535)
    ] = None,
    inference_rpc_port: Annotated[
        int | None, typer.Option(help="The same over gRPC at this port.", min=0, max=65535)
    ] = None,
    serve_model: Annotated[
        list[str] | None, typer.Option(help="A model to serve; by default the catalogue's.", metavar="MODEL")
    ] = None,
    tls_certificate: Annotated[Path | None, typer.Option(help="PEM file; with --tls-key it speaks HTTPS.")] = None,
    tls_key: Annotated[Path | None, typer.Option(help="PEM file of the key.")] = None,
    config: Annotated[Path | None, typer.Option(help="A YAML file with these and further settings.")] = None,
    print_config: Annotated[bool, typer.Option("--print-config", help="Show the settings in force, and end.")] = False,
) -> None:
    """Run a server: API, registry, database, and an agent for this machine, in one process."""
    from mlmodelscope.server.config import read_config

    flags = {"host": host, "port": port, "database": database, "executor": executor, "slots": slots, "trust": trust}
    flags |= {"inference_port": inference_port, "inference_rpc_port": inference_rpc_port}
    named = {"inference_models": tuple(serve_model) if serve_model else None}
    files = {"tls_certificate": tls_certificate, "tls_key": tls_key}
    found = read_config(config, {**flags, **named, **files, "rpc_port": rpc_port})
    if print_config:
        import yaml

        print(yaml.safe_dump(found.shown(), sort_keys=False), end="")
        return
    try:
        from mlmodelscope.server.main import serve as run
    except ModuleNotFoundError as error:
        raise UsageError(f"the package {error.name} is missing", hint=install_extra("server")) from None
    scheme = "https" if found.tls_certificate else "http"
    words = f"serving {scheme}://{found.host}:{found.port}"
    run(settings(False), found, lambda: console().print(words, soft_wrap=True))
