"""What there is to say about a file, for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlmodelscope.lint.finding import Finding

_OF_A_PROBLEM = ("message", "path", "file", "line", "column", "known", "hint")


def plain_result(file: str, findings: Sequence[Finding], fixed: Sequence[Finding] = ()) -> dict[str, Any]:
    """Errors as problems, and everything as findings; `fixed` are those that are no more."""
    errors = [found for found in findings if found.severity == "error"]
    return {
        "file": file,
        "problems": [{name: getattr(found, name) for name in _OF_A_PROBLEM} for found in errors],
        "findings": [plain_finding(found) for found in findings],
        "fixed": [plain_finding(found) for found in fixed],
        "mended": [plain_finding(found) for found in fixed],  # its former name, for one more minor version
    }


def plain_finding(found: Finding) -> dict[str, Any]:
    return {**vars(found), "fix": [vars(edit) for edit in found.fix]}
