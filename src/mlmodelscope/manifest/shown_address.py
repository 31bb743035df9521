"""Addresses as they may be shown and stored: without user, password, token or signature.

What is shown is chosen from a list of harmless parameters, since nobody knows every name that a secret may have.
"""

from __future__ import annotations

import re
from typing import Any

ARCHIVE = re.compile(r"\.(zip|whl|tar|tar\.gz|tgz|tar\.bz2|tbz2|tar\.xz|txz)$", re.IGNORECASE)
_USER = re.compile(r"(?<=//)[^/?#\s'\"]*@")
_HARMLESS = frozenset(
    ("file", "filename", "path", "version", "revision", "rev", "ref", "branch", "tag", "format", "download", "raw")
)
"""Parameters that say which file is meant."""
_SECRET_NAME = (
    r"(?:[\w.-]*(?:token|secret|signature|password|passwd|credential|api[-_]?key|access[-_]?key)[\w.-]*"
    r"|key|sig|auth|pwd|pass|x-(?:amz|goog|oss|cos|obs|ms)-[\w-]+)"
)
_SECRET = re.compile(rf"://[^/?#\s'\"]+@|[?&;#]{_SECRET_NAME}=", re.IGNORECASE)
_SECRET_MEMBER = re.compile(rf"(?:^|[&;]){_SECRET_NAME}=", re.IGNORECASE)


def without_secrets(url: str) -> str:
    """A URL as it may be shown and stored; the member of an archive stays, any other fragment goes."""
    head, mark, fragment = _USER.sub("", url).partition("#")
    address, asked, query = head.partition("?")
    is_archive = ARCHIVE.search(address) or ARCHIVE.search(head)
    if asked:
        head = f"{address}?{_harmless(query)}"
    if not mark:
        return head
    return f"{head}#{fragment}" if is_archive and not _SECRET_MEMBER.search(fragment) else f"{head}#…"


def _harmless(query: str) -> str:
    parameters = re.split("[&;]", query)
    kept = [each for each in parameters if each.partition("=")[0].lower() in _HARMLESS]
    # The mark comes first: the end of an address may say that it is an archive.
    return "&".join(["…", *kept] if len(kept) < len(parameters) else kept)


def holds_secret(text: str) -> bool:
    """Whether an address in this text certainly holds one: a password, or a parameter with the name of a secret."""
    return _SECRET.search(text) is not None


def is_concealed(url: str) -> bool:
    """Whether a part of it was left out: nobody can fetch it any more."""
    return re.search(r"[?&#]…", url) is not None


def conceal(value: Any) -> Any:
    """The same data without the secrets of addresses that certainly hold one."""
    if isinstance(value, str):
        return (
            re.sub(r"[^\s'\"]+//[^\s'\"]+", lambda found: _concealed(found[0]), value) if holds_secret(value) else value
        )
    if isinstance(value, dict):
        return {key: conceal(item) for key, item in value.items()}
    return [conceal(item) for item in value] if isinstance(value, list) else value


def _concealed(word: str) -> str:
    return without_secrets(word) if holds_secret(word) else word
