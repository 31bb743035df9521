"""What became of each job of a batch, and what the batch as a whole comes to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from mlmodelscope.claim.selection import Job
from mlmodelscope.record.checks import Check
from mlmodelscope.replicate.kind import EXIT_CODES, WORST_FIRST, Kind

How = Literal["checked", "checked before", "failed", "not finished"]
NO_VERDICT = 3


@dataclass(frozen=True)
class Result:
    """One job."""

    job: Job
    how: How
    checks: tuple[Check, ...] = ()
    message: str = ""
    """Why there is no verdict."""


def before(job: Job) -> Result:
    """A job that was done by an earlier command."""
    checks = tuple(each.standing.check for each in job.claims if each.standing.check is not None)
    return Result(job, "checked before", checks)


def exit_code(results: Sequence[Result]) -> int:
    """Of the worst verdict, as `replicate` has it; 3 where there is none, or all are reproduced and one failed."""
    kinds = {check.verdict for each in results for check in each.checks}
    worst: Kind | None = next((kind for kind in WORST_FIRST if kind in kinds), None)
    if worst is None:
        return NO_VERDICT
    code = EXIT_CODES[worst]
    return NO_VERDICT if code == 0 and any(each.how == "failed" for each in results) else code
