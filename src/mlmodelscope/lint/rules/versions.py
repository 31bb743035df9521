"""Versions that other programs will read as something else."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mlmodelscope.lint.finding import Edit, Finding
from mlmodelscope.lint.rule import rule
from mlmodelscope.lint.subject import DataPath, Subject
from mlmodelscope.manifest.source import SourceFloat, SourceInt, SourceMap

_PLACES = ("version", "driver_version", "python")


@rule("M030", "version-is-a-number", "warning")
def version_is_a_number(subject: Subject) -> Iterator[Finding]:
    """A version is written as a number.

    To YAML `1.10` is the number 1.1, so most programs see another version than the one that was written. Here the
    spelling is kept, but quotes make it a text for everybody. `--fix` puts them there and changes nothing else.

    Wrong:

        framework: {name: tensorflow, version: 1.10}

    Right:

        framework: {name: tensorflow, version: '1.10'}
    """
    for holder, key, path in _versions(subject):
        value = holder[key]
        if not isinstance(value, (SourceFloat, SourceInt)):
            continue
        span = holder.spans.get(key)
        exact = span is not None and subject.text[slice(*span)] == value.text
        fix = (Edit(*span, f"'{value.text}'"),) if span is not None and exact else ()
        read = _as_others_read(value)
        lost = f"; other programs read {read}" if read != value.text else ""
        yield subject.finding_at(
            holder.places[key], f"the version {value.text} is a number, not a text{lost}", _spell(path), fix=fix
        )


@rule("M031", "short-version", "info")
def short_version(subject: Subject) -> Iterator[Finding]:
    """The manifest's own version is not of the form x.y.z.

    A semantic version has three numbers: the third changes when the manifest is corrected, the second when something
    is added, the first when answers may change. `1.0` leaves open whether a corrected manifest is another one.

    Wrong:

        version: '1.0'

    Right:

        version: 1.0.0
    """
    version = subject.written.get("version")
    text = getattr(version, "text", version)
    if isinstance(text, str) and text.strip() and not re.fullmatch(r"v?\d+\.\d+\.\d+([-+._a-z].*)?", text.strip()):
        yield subject.finding_at(
            subject.written.places["version"], f"the version `{text[:40]}` is not of the form x.y.z", "version"
        )


def _versions(subject: Subject) -> Iterator[tuple[SourceMap, str, DataPath]]:
    for holder, key, path in subject.entries:
        inside = path[0] in ("attributes", "hyperparameters", "environment", "options", "envvars", "env")
        if key in _PLACES and not inside and not isinstance(holder[key], bool):
            yield holder, key, path


def _as_others_read(value: float) -> str:
    """How the number looks when a program that forgot its spelling writes it again."""
    return repr(float(value)) if isinstance(value, float) else repr(int(value))


def _spell(path: DataPath) -> str:
    from mlmodelscope.manifest.source import spell_path

    return spell_path(path)
