"""`trust`: which code of other people may run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from mlmodelscope.cli.terminal import AsJson, print_json, settings, verb
from mlmodelscope.errors import UsageError


@verb
def trust(
    what: Annotated[
        list[str] | None, typer.Argument(help="Manifests whose code to trust, or digests of code.", metavar="WHAT...")
    ] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Trust it no longer.")] = False,
    as_json: AsJson = False,
) -> None:
    """Remember that a manifest's code may run; without arguments, list what is trusted.

    The digest covers the code and nothing else: a changed line of code is not trusted, a changed description is.
    """
    from mlmodelscope.provision.trust import Trusted

    trusted = Trusted(settings(False))
    if not what:
        _list(trusted.read(), as_json)
        return
    done = []
    for name in what:
        digest, label = _digest(name, remove)
        if remove:
            digest = trusted.remove(digest)
        else:
            trusted.add(digest, label)
        done.append({"digest": digest, "name": label})
        if not as_json:
            print(f"{'no longer trusted' if remove else 'trusted'}: {digest}  {label}")
    if as_json:
        print_json(done)


def _list(known: dict[str, dict[str, str]], as_json: bool) -> None:
    if as_json:
        print_json(known)
        return
    for digest, entry in known.items():
        print(f"{digest}  {entry.get('name', '')}  since {entry.get('since', '')}")
    if not known:
        print("no code is trusted; mlmodelscope trust MANIFEST changes that")


def _digest(name: str, remove: bool) -> tuple[str, str]:
    from mlmodelscope.manifest.load import load_manifest
    from mlmodelscope.manifest.trust import code_digest
    from mlmodelscope.provision.trust import is_digest

    if is_digest(name):
        return name.removeprefix("sha256:"), "given by its digest"
    if remove and not Path(name).exists() and re.fullmatch(r"(sha256:)?[0-9a-f]{4,64}", name):
        return name, "given by its digest"
    if not Path(name).exists():
        from mlmodelscope.cli.show import find_file

        name = find_file(name)
    manifest = load_manifest(name)
    digest = code_digest(manifest)
    if digest is None:
        raise UsageError(f"{manifest.reference} carries no code, so there is nothing to trust")
    return digest, manifest.reference
