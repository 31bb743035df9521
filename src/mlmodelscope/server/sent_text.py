"""Manifests that came from another machine: the files that they name, and what no server may keep of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from mlmodelscope.errors import ManifestError, Problem
from mlmodelscope.manifest.load import parse_document
from mlmodelscope.manifest.reference import REFERENCE_KEYS, parse_reference
from mlmodelscope.manifest.shown_address import holds_secret
from mlmodelscope.manifest.source import SourceMap
from mlmodelscope.manifest.strangers import why_not
from mlmodelscope.settings import Settings

FILE = "<request>"
NOWHERE = Path("/nonexistent")
_UPLOAD = "give its URL, or upload it as an artifact: the editor and `mlmodelscope evaluate --server` do"
_PLAIN = re.compile(r"[A-Za-z0-9:/._+-]+")


@dataclass(frozen=True)
class Named:
    """A file that a manifest names."""

    where: str
    reference: str
    sha256: str | None
    """What the manifest says of its content, beside it."""
    line: int = 0
    column: int = 0
    span: tuple[int, int] | None = None
    """Where the reference stands in the text; None where an older form spells it otherwise."""

    @property
    def is_local(self) -> bool:
        """Whether it is a path, which means nothing on another machine."""
        try:
            return parse_reference(self.reference).is_local
        except ValueError:
            return False  # the schema has said what is wrong with it

    @property
    def name(self) -> str:
        return re.split(r"[/\\]", self.reference.partition("#")[0])[-1]

    def problem(self, message: str, hint: str) -> Problem:
        return Problem(message, self.where, FILE, self.line, self.column, hint=hint)


def named_files(text: str) -> list[Named]:
    """Every file that a manifest names; ManifestError where it is no manifest."""
    return list(_named(parse_document(text, FILE, NOWHERE).data, text))


def _named(data: object, text: str, path: str = "") -> Iterator[Named]:
    if isinstance(data, dict):
        for key, value in data.items():
            where = f"{path}.{key}" if path else str(key)
            if key in REFERENCE_KEYS and isinstance(value, str):
                yield _file(data, str(key), value, where, text)
            yield from _named(value, text, where)
    elif isinstance(data, list):
        for number, value in enumerate(data):
            yield from _named(value, text, f"{path}[{number}]")


def _file(holder: Mapping[str, object], key: str, value: str, where: str, text: str) -> Named:
    beside = holder.get("checksum" if key in ("url", "root") else f"{key.rsplit('_', 1)[0]}_checksum")
    digest = re.fullmatch(r"sha256:([0-9a-f]{64})", beside.strip().lower()) if isinstance(beside, str) else None
    if not isinstance(holder, SourceMap):
        return Named(where, value, digest[1] if digest else None)
    span = holder.spans.get(key)
    is_there = span is not None and text[span[0] : span[1]].strip("\"' \n") == value
    return Named(
        where, value, digest[1] if digest else None, *holder.places.get(key, (0, 0)), span if is_there else None
    )


def with_references(text: str, found: Mapping[Named, str]) -> str:
    """The text with other references in place of those."""
    for named in sorted(found, key=lambda each: each.span or (0, 0), reverse=True):
        assert named.span is not None
        start, end = named.span
        reference = found[named]
        text = text[:start] + (reference if _PLAIN.fullmatch(reference) else json.dumps(reference)) + text[end:]
    return text


def refused_files(text: str, settings: Settings) -> Iterator[Problem]:
    """Only what strangers may name: nothing that the libraries of the server's machine could open besides."""
    for named in named_files(text):
        if named.is_local or named.reference.startswith("debian:"):
            continue
        try:
            reason = why_not(parse_reference(named.reference), settings.stores, settings.packages)
        except ValueError:
            continue
        if reason is not None:
            yield named.problem(reason, _UPLOAD)


def refused_paths(text: str) -> Iterator[Problem]:
    """Files of the author's machine, which no server has."""
    for named in named_files(text):
        if named.is_local:
            message = f"`{named.reference[:200]}` is a file of your machine, which nobody else has"
            yield named.problem(message, _UPLOAD)


def refuse_secrets(text: str) -> None:
    """A server keeps manifests, shows them to all its readers and hands them to agents: no place for a password."""
    for number, line in enumerate(text.splitlines(), 1):
        if holds_secret(line):
            raise ManifestError(
                Problem(
                    "an address holds a password, a token or a signature, which every reader of this server would see",
                    file=FILE,
                    line=number,
                    column=1,
                    hint="leave it out: agents take credentials from netrc or their environment; or upload the file",
                )
            )
