"""`--server URL`, which any verb may be given: the work is done there, and its records are looked at."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from mlmodelscope.errors import UsageError
from mlmodelscope.extras import install_extra

if TYPE_CHECKING:
    from mlmodelscope.client.remote import Remote
    from mlmodelscope.record.store import Store
    from mlmodelscope.settings import Settings

_OWN = ("agent", "serve", "token")
"""Verbs that are about servers themselves."""
_VARIABLES = {"--server": "MLMODELSCOPE_SERVER", "--token": "MLMODELSCOPE_TOKEN"}
SERVED = {
    "evaluate",
    "bench",
    "profile",
    "predict",
    "train",
    "replicate",
    "sensitivity",
    "replay",
    "records",
    "report",
    "log",
    "trace",
    "compare",
    "analyze",
    "overview",
    "models",
    "claims",
    "datasets",
    "stacks",
    "machine",
    "check",
    "convert",
    "show",
    "watch",
}
"""Verbs that a server can be asked to do."""
HERE = {
    "doctor": "it looks at what is installed here",
    "plugins": "it lists what packages add here; agents have packages of their own",
    "trust": "it says whose code may run here; a server's agents are started with --trust",
    "catalog": "sources are kept in this home; a server reads those of its own",
    "schema": "a schema is the same everywhere; over the API it is /manifests/KIND/schema",
    "init": "it reads a file that is here; over the API it is POST /manifests/init",
    "plan": "a plan is made where it runs; /requests/resolve says where that could be",
    "pitfalls": "they are the same everywhere",
    "suggest": "it ranks what is known here; a server's page /models lists its own",
    "study": "it writes a folder of files here",
}
"""Verbs that are done on this machine, and why."""
_PARTS_HERE = {"stacks": ("build", "show", "lock", "diff", "remove"), "datasets": ("connect", "disconnect")}
"""Verbs of these verbs that are done on this machine."""
_WHY_HERE = {
    "stacks": "is done where the stack is; agents build what they are asked for",
    "datasets": "is done where the folder is, on the server or on an agent",
}


def is_served(words: Sequence[str]) -> bool:
    """Whether `--server` may be given to this verb, or verb of a verb."""
    return bool(words) and words[0] in SERVED and not _is_part_here(words)


def take_server(arguments: list[str]) -> list[str]:
    """The command line without `--server` and `--token`, which may stand anywhere; they are kept as variables."""
    kept, named = _without_server(arguments)
    said = [word for word in kept[1:] if not word.startswith("-")]
    verb = said[0] if said else ""
    if verb in _OWN:
        return arguments
    if None in named.values():
        raise UsageError(f"{next(name for name, value in named.items() if not value)} needs a value")
    if "--server" in named and verb and verb not in SERVED:
        raise UsageError(f"`{verb}` is done on this machine: {HERE.get(verb, 'a server cannot be asked to')}")
    if "--server" in named and _is_part_here(said):
        raise UsageError(f"`{verb} {said[1]}` {_WHY_HERE[verb]}")
    os.environ.update({_VARIABLES[name]: value for name, value in named.items() if value})
    return kept


def _without_server(arguments: list[str]) -> tuple[list[str], dict[str, str | None]]:
    """The other words, and what was named; None for an option without its value."""
    kept: list[str] = []
    named: dict[str, str | None] = {}
    words = iter(arguments)
    for word in words:
        name, equals, value = word.partition("=")
        if name in _VARIABLES:
            named[name] = (value if equals else next(words, None)) or None
        else:
            kept.append(word)
    return kept, named


def _is_part_here(words: Sequence[str]) -> bool:
    return len(words) > 1 and words[1] in _PARTS_HERE.get(words[0], ())


@cache
def remote() -> Remote | None:
    """The server that was named, if one was."""
    url = os.environ.get("MLMODELSCOPE_SERVER")
    if not url:
        return None
    import atexit

    try:
        from mlmodelscope.client.remote import Remote
    except ModuleNotFoundError as error:
        raise UsageError(f"the package {error.name} is missing", hint=install_extra("client")) from None
    from mlmodelscope.settings import Settings

    found = Remote(url, os.environ.get("MLMODELSCOPE_TOKEN"), Settings.from_environment())
    atexit.register(found.close)
    return found


def open_store(settings: Settings) -> Store:
    """Records of this machine, or of the server that was named."""
    there = remote()
    if there is not None:
        return there.store()
    from mlmodelscope.record.store import Store

    return Store(settings)


@cache
def text_of(name: str) -> str | None:
    """The text of a manifest of the server that was named; None where the name is that of a file here."""
    there = remote()
    is_here = name == "-" or name.endswith((".yml", ".yaml")) or os.sep in name or os.path.exists(name)
    return None if there is None or is_here else there.shelf.document_of_any_kind(name).text
