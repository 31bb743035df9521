"""All rules over one file."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from mlmodelscope.errors import ManifestError
from mlmodelscope.lint.finding import SEVERITIES, Finding
from mlmodelscope.lint.rule import all_rules
from mlmodelscope.lint.subject import Subject


def check_text(
    raw: bytes | str, file: str = "<text>", folder: Path | None = None, codes: Collection[str] | None = None
) -> tuple[Subject, list[Finding]]:
    """What there is to say about a manifest given as text; of all rules, or of those with these codes."""
    subject = Subject(raw, file, folder)
    found: dict[Finding, None] = {}
    for rule in all_rules():
        if codes is None or rule.code in codes:
            found.update(dict.fromkeys(rule.run(subject)))
    return subject, sorted(found, key=_in_reading_order)


def check_unreadable(error: ManifestError, file: str) -> tuple[Subject, list[Finding]]:
    subject = Subject("a: b", file)
    subject.document = subject.manifest = None
    subject.unreadable, subject.problems, subject.text = error.problems, (), ""
    return subject, [found for rule in all_rules() if rule.code == "M000" for found in rule.run(subject)]


def _in_reading_order(found: Finding) -> tuple[int, int, int, str]:
    return found.line, found.column, SEVERITIES.index(found.severity or "info"), found.code
