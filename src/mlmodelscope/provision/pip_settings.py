"""Where the user's own pip looks for packages: its configuration files and environment variables, and uv's."""

from __future__ import annotations

import configparser
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_MACHINES_OWN = Path("/etc/pip.conf")
_KEYS = ("index-url", "extra-index-url", "find-links", "cert", "no-index")


@dataclass(frozen=True)
class IndexSettings:
    """Where the user's own pip looks."""

    indexes: tuple[str, ...]
    find_links: tuple[str, ...]
    certificates: str | None


PUBLIC_INDEX = IndexSettings(("https://pypi.org/simple",), (), None)
"""The index that everybody has."""


def read_index_settings() -> IndexSettings:
    """The settings in pip's order of precedence: section by section, file by file, then the environment."""
    values: dict[str, str] = {}
    parsers = [_read(path) for path in _configuration_files()]
    for section in ("global", "install", "download"):
        for parser in parsers:
            if parser.has_section(section):
                values |= {key.replace("_", "-"): value for key, value in parser.items(section)}
    for key in _KEYS:
        given = os.environ.get("PIP_" + key.upper().replace("-", "_"))
        if given:
            values[key] = given
    index = values.get("index-url") or os.environ.get("UV_DEFAULT_INDEX") or os.environ.get("UV_INDEX_URL")
    extra = values.get("extra-index-url", "").split()
    uses_indexes = values.get("no-index", "").lower() not in ("y", "yes", "t", "true", "on", "1")
    return IndexSettings(
        indexes=(index or PUBLIC_INDEX.indexes[0], *extra) if uses_indexes else (),
        find_links=tuple(values.get("find-links", "").split()),
        certificates=values.get("cert") or None,
    )


def as_option(place: str) -> str:
    """A page or folder with packages as the value of `--find-links`: uv would cut a path at its commas."""
    return place if "://" in place else Path(place).absolute().as_uri()


def _read(path: Path) -> configparser.RawConfigParser:
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read(path, encoding="utf-8")
    except (configparser.Error, UnicodeDecodeError):
        return configparser.RawConfigParser()  # pip itself will tell the user; other files may hold what is needed
    return parser


def _configuration_files() -> Iterator[Path]:
    """Least important first. A file named by PIP_CONFIG_FILE takes the place of the user's own."""
    named = os.environ.get("PIP_CONFIG_FILE")
    if named == os.devnull:
        return
    folders = (os.environ.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(os.pathsep)
    yield from (Path(folder) / "pip" / "pip.conf" for folder in folders)
    yield _MACHINES_OWN
    if not (named and os.path.exists(named)):
        if sys.platform == "darwin":
            yield Path(os.path.expanduser("~/Library/Application Support/pip/pip.conf"))
        yield Path(os.path.expanduser("~/.pip/pip.conf"))
        yield Path(os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")) / "pip" / "pip.conf"
    yield Path(sys.prefix) / "pip.conf"
    if named:
        yield Path(named)
