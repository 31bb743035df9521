"""Addresses and checksums that stand for something else: a manifest with one can never run, so it is not shared."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from mlmodelscope.errors import ManifestError, Problem
from mlmodelscope.manifest.reference import REFERENCE_KEYS

_RESERVED = re.compile(r"(^|\.)example\.(com|net|org)$")
"""Names that are kept for examples (RFC 2606): no files are there."""
_EMPTY = re.compile(r"(\w+:)?([0-9a-f])\2{31,}")


def refuse_placeholders(data: object, path: str = "") -> None:
    """Refuse what an example or a skeleton has in place of an address or a checksum."""
    if isinstance(data, list):
        for number, value in enumerate(data):
            refuse_placeholders(value, f"{path}[{number}]")
    if not isinstance(data, dict):
        return
    for key, value in data.items():
        where = f"{path}.{key}" if path else str(key)
        if isinstance(value, str):
            problem = _problem(str(key), value, where)
            if problem is not None:
                raise ManifestError(problem)
        elif key not in ("attributes", "references"):
            refuse_placeholders(value, where)


def _problem(key: str, value: str, where: str) -> Problem | None:
    if key in REFERENCE_KEYS and _RESERVED.search(urlsplit(value).hostname or ""):
        message = f"`{value}` is an address for examples, which has no files"
        return Problem(message, where, "<request>", hint="put the address of the real file there")
    if key.endswith("checksum") and _EMPTY.fullmatch(value.strip().lower()):
        message = f"`{value}` stands in place of a checksum"
        return Problem(message, where, "<request>", hint="put the file's own there: sha256sum FILE prints it")
    return None
