"""What installed packages say that they add. Nothing of theirs is imported for it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from importlib.metadata import Distribution

PREFIX = "mlmodelscope."
"""Every group of ours begins with it; the rest is the kind, as in `mlmodelscope.steps`."""
_VALUE = re.compile(r"(?P<module>[A-Za-z_]\w*(\.[A-Za-z_]\w*)*)(\s*:\s*(?P<attribute>[A-Za-z_][\w.]*))?", re.ASCII)
_LONGEST = 300


@dataclass(frozen=True)
class Plugin:
    """One entry point: a package says that a module of its own adds something of this name."""

    group: str
    name: str
    module: str
    attribute: str
    """What in that module, where the entry point says it; empty for the module as a whole."""
    package: str
    version: str
    folder: str
    """Where the package is installed; for an editable installation, where its source is."""
    author: str = ""
    fault: str = ""
    """What is wrong with it, as far as that can be seen without importing it."""
    hidden: str = ""
    """Why it is never imported though nothing is wrong with it."""

    @property
    def owner(self) -> str:
        return f"{self.package} {self.version}"


def plugins_in(group: str) -> tuple[Plugin, ...]:
    """The plugins of one group, in the order of their packages on the path, without hidden ones."""
    return tuple(each for each in all_plugins() if each.group == group and not each.hidden)


@cache
def all_plugins() -> tuple[Plugin, ...]:
    """Every entry point in a group of ours, read once."""
    from importlib import metadata  # it takes a while, and hardly any command needs it

    found: list[Plugin] = []
    for distribution in metadata.distributions():
        try:
            text = distribution.read_text("entry_points.txt") or ""
        except (OSError, UnicodeDecodeError):
            continue  # whatever it says, nobody can read it
        if PREFIX in text:  # few packages have anything of ours, and reading their names takes longer than this
            found += _plugins_of(distribution, text)
    return tuple(dict.fromkeys(found))


def _plugins_of(distribution: Distribution, text: str) -> Iterator[Plugin]:
    fields = dict.fromkeys(("Name", "Version", "Author-email", "Author"), "")
    told = {**fields, **{name: distribution.metadata[name] for name in fields if name in distribution.metadata}}
    package, version = shown(told["Name"] or "unnamed"), shown(told["Version"] or "without a version")
    author = shown(told["Author-email"] or told["Author"])
    folder = _folder(distribution)
    hidden = _hidden(distribution, told["Name"])
    for group, name, value in _entries(text):
        match = _VALUE.fullmatch(value)
        fault = "" if match else f"`{shown(value)}` is not the name of a module"
        module, attribute = (match["module"], match["attribute"] or "") if match else ("", "")
        yield Plugin(group, shown(name), module, attribute, package, version, folder, author, fault, hidden)


def _entries(text: str) -> Iterator[tuple[str, str, str]]:
    """(group, name, value) of our groups; importlib's own reader gives up on the first line that is not one."""
    group = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("[") and line.endswith("]"):
            group = line[1:-1].strip()
        elif group.startswith(PREFIX) and line and not line.startswith(("#", ";")):
            name, _, value = line.partition("=")
            yield group, name.strip(), value.partition("[")[0].strip()


def _folder(distribution: Distribution) -> str:
    try:
        told = json.loads(distribution.read_text("direct_url.json") or "{}")
        if told.get("dir_info", {}).get("editable"):
            return unquote(urlsplit(told["url"]).path)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass  # written by an installer, and only a better word for the place
    return str(distribution.locate_file(""))


def _hidden(distribution: Distribution, name: str) -> str:
    """Whether another version of the package comes first on the path, so that this one is never imported."""
    from importlib import metadata

    try:
        first = metadata.distribution(name)
    except (metadata.PackageNotFoundError, ValueError):
        return ""
    place = str(first.locate_file(""))
    if place == str(distribution.locate_file("")):
        return ""
    return f"it is hidden by {shown(name)} {shown(first.version)} in {place}, which comes first on the path"


def shown(text: object) -> str:
    """A stranger's words as they may stand on one line of a terminal."""
    line = "".join(each if each.isprintable() else ascii(each)[1:-1] for each in str(text))
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
