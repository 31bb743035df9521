"""What the stacks that come with this package pin: packages that its authors have chosen, each with its hashes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from mlmodelscope.manifest.folders import shipped_folder

_LINE = re.compile(
    r"([A-Za-z0-9][A-Za-z0-9._-]*)===?([A-Za-z0-9][A-Za-z0-9.+!_-]*)(?:\s*;[^\n]*?)?((?:\s+--hash=sha256:[0-9a-f]{64})+)"
)
_DASHES = re.compile(r"[-_.]+")


@cache
def shipped_pins() -> Mapping[tuple[str, str], frozenset[str]]:
    """{(package, version): its hashes}. The files are ours: their text is searched, which takes no time."""
    found: dict[tuple[str, str], frozenset[str]] = {}
    folder = shipped_folder()
    for path in sorted((folder / "software").glob("*.yml")) if folder is not None else ():
        for name, version, hashes in _LINE.findall(path.read_text(encoding="utf-8")):
            key = spelled(name), version
            found[key] = found.get(key, frozenset()) | {each.removeprefix("--hash=") for each in hashes.split()}
    return found


def spelled(name: str) -> str:
    """A package's name as indexes compare it."""
    return _DASHES.sub("-", name).lower()
