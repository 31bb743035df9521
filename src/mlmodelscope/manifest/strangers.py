"""What a manifest from another machine may name: a list of what is allowed, since fsspec alone knows dozens of ways."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase

from mlmodelscope.manifest.reference import FileReference

PUBLIC = "public"
"""Among packages: those of the public indexes, whatever index this machine has."""
_WEB = ("https", "http", "artifact")
_PACKAGES = ("pypi", "npm")
_STORE = re.compile(r"(s3|gs|az)://[^/?#\s]+(/[^?#\s]*)?")


def why_not(reference: FileReference, stores: Sequence[str], packages: Sequence[str]) -> str | None:
    """Why a stranger may not name this file; None where they may."""
    if reference.scheme in _WEB:
        return None
    if reference.scheme in _PACKAGES:
        if not packages or PUBLIC in packages or is_listed(reference, packages):
            return None
        return f"`{reference.scheme}:{reference.location}` is not among the packages that may be named here"
    if any(_is_inside(reference.location, store) for store in stores):
        return None
    return f"`{reference.scheme}:` is not fetched for somebody on another machine"


def is_listed(reference: FileReference, packages: Sequence[str]) -> bool:
    """Whether a package is on the list by its name, so that this machine's own index is asked for it."""
    name = f"{reference.scheme}:{_plain(reference.location)}"
    return any(fnmatchcase(name, _plain(each)) for each in packages)


def check_store(text: str) -> str:
    """ValueError where it is not the address of an object store that strangers may be let into."""
    if not _STORE.fullmatch(text):
        raise ValueError(f"`{text}` is not of the form s3://bucket/prefix, gs://… or az://…")
    return text


def check_package(text: str) -> str:
    """ValueError where it is not the name of packages."""
    if text != PUBLIC and not re.fullmatch(r"(pypi|npm):[A-Za-z0-9@/._*-]+", text):
        raise ValueError(f"`{text}` is not `{PUBLIC}`, `pypi:NAME` or `npm:NAME`; a `*` stands for anything")
    return text


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _is_inside(location: str, store: str) -> bool:
    root = store.rstrip("/") + "/"
    return location.startswith(root) and "/../" not in f"{location}/" and "::" not in location
