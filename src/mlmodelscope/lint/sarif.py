"""Findings as SARIF 2.1.0, which code hosts and editors show beside the text."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from mlmodelscope.lint.finding import Finding
from mlmodelscope.lint.rule import Rule
from mlmodelscope_worker import __version__

_LEVELS = {"error": "error", "warning": "warning", "info": "note"}


def sarif_log(findings: Iterable[Finding], rules: list[Rule]) -> dict[str, Any]:
    """One run of all rules."""
    numbers = {rule.code: number for number, rule in enumerate(rules)}
    driver = {
        "name": "mlmodelscope",
        "version": __version__,
        "semanticVersion": __version__,
        "rules": [_rule(rule) for rule in rules],
    }
    return {
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "columnKind": "unicodeCodePoints",
                "results": [_result(found, numbers[found.code]) for found in findings],
            }
        ],
    }


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.code,
        "name": "".join(word.title() for word in rule.name.split("-")),
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": (rule.page.split("\n\n") + [rule.summary])[1].replace("\n", " ")},
        "help": {"text": rule.page, "markdown": rule.page},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _result(found: Finding, number: int) -> dict[str, Any]:
    location: dict[str, Any] = {"artifactLocation": {"uri": file_uri(found.file)}}
    if found.line:
        location["region"] = {"startLine": found.line, "startColumn": found.column}
    result: dict[str, Any] = {
        "ruleId": found.code,
        "ruleIndex": number,
        "level": _LEVELS[found.severity or "info"],
        "message": {"text": found.message + (f" ({found.hint})" if found.hint else "")},
        "locations": [{"physicalLocation": location}],
    }
    if found.path:
        result["locations"][0]["logicalLocations"] = [{"fullyQualifiedName": found.path}]
    if found.fix:
        replacements = [
            {
                "deletedRegion": {"charOffset": edit.start, "charLength": edit.end - edit.start},
                "insertedContent": {"text": edit.text},
            }
            for edit in found.fix
        ]
        change = {"artifactLocation": {"uri": file_uri(found.file)}, "replacements": replacements}
        result["fixes"] = [{"description": {"text": found.message}, "artifactChanges": [change]}]
    return result


def file_uri(file: str) -> str:
    """Relative to the working folder wherever the file lies, as the hosts want it."""
    if file.startswith("<"):
        return quote(file.strip("<>"))
    return quote(os.path.relpath(file).replace(os.sep, "/")) if "\0" not in file else "odd"
