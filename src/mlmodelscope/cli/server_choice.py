"""`--server URL`, which any verb may be given: the work is done there, and its records are looked at."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

from mlmodelscope.errors import UsageError

if TYPE_CHECKING:
    from mlmodelscope.client.elsewhere import Elsewhere
    from mlmodelscope.record.store import Store
    from mlmodelscope.settings import Settings

_OWN = ("agent", "serve", "token")
"""Verbs that are about servers themselves."""
_VARIABLES = {"--server": "MLMODELSCOPE_SERVER", "--token": "MLMODELSCOPE_TOKEN"}
SERVED = {"evaluate", "bench", "profile", "predict", "records", "report", "log", "trace", "compare", "analyze"}
"""Verbs that a server can be asked to do; the others are about this machine, or about files that are here."""


def take_server(arguments: list[str]) -> list[str]:
    """The command line without `--server` and `--token`, which may stand anywhere; they are kept as variables."""
    verb = next((word for word in arguments[1:] if not word.startswith("-")), "")
    if verb in _OWN:
        return arguments
    kept, words = [], iter(arguments)
    for word in words:
        name, equals, value = word.partition("=")
        if name not in _VARIABLES:
            kept.append(word)
            continue
        found = value if equals else next(words, None)
        if not found:
            raise UsageError(f"{name} needs a value")
        os.environ[_VARIABLES[name]] = found
    if "--server" in " ".join(arguments) and verb not in SERVED and verb:
        raise UsageError(f"`{verb}` is done on this machine; a server cannot be asked to")
    return kept


@cache
def elsewhere() -> Elsewhere | None:
    """The server that was named, if one was."""
    url = os.environ.get("MLMODELSCOPE_SERVER")
    if not url:
        return None
    import atexit

    try:
        from mlmodelscope.client.elsewhere import Elsewhere
    except ModuleNotFoundError as error:
        raise UsageError(f"the package {error.name} is missing", hint="pip install 'mlmodelscope[client]'") from None
    from mlmodelscope.settings import Settings

    found = Elsewhere(url, os.environ.get("MLMODELSCOPE_TOKEN"), Settings.from_environment())
    atexit.register(found.close)
    return found


def open_store(settings: Settings) -> Store:
    """Records of this machine, or of the server that was named."""
    there = elsewhere()
    if there is not None:
        return there.store()
    from mlmodelscope.record.store import Store

    return Store(settings)
