"""Findings as GitHub's workflow commands, which show them in a pull request."""

from __future__ import annotations

from mlmodelscope.lint.finding import Finding
from mlmodelscope.lint.sarif import file_uri

_COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}


def annotation(found: Finding) -> str:
    """`::error file=…,line=…,col=…,title=…::message`."""
    place = {"file": found.file if found.file.startswith("<") else _plain(found.file)}
    if found.line:
        place |= {"line": str(found.line), "col": str(found.column)}
    place["title"] = found.code
    text = found.message + (f" (hint: {found.hint})" if found.hint else "")
    properties = ",".join(f"{key}={_property(value)}" for key, value in place.items())
    return f"::{_COMMANDS[found.severity or 'info']} {properties}::{_data(text)}"


def _plain(file: str) -> str:
    from urllib.parse import unquote

    return unquote(file_uri(file))


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
