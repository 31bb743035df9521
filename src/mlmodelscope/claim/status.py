"""The status of a claim: what all checks of it come to.

unchecked             nobody has held the published number against its own dataset
reproduced            these four are the verdicts of `replicate`; the newest that decides counts, and one that
better than claimed   is undecided counts only where none decides
not reproduced
undecided
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from mlmodelscope.errors import UsageError
from mlmodelscope.record.checks import Check
from mlmodelscope.replicate.kind import WORST_FIRST

UNCHECKED = "unchecked"
STATUSES: tuple[str, ...] = (UNCHECKED, *reversed(WORST_FIRST))
_ALSO = {"better": "better than claimed", "not checked": UNCHECKED}


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a claim stands, and the evidence."""

    status: str = UNCHECKED
    check: Check | None = None
    """The check that the status rests on."""
    checks: int = 0
    contradicted: int = 0
    """Checks that decided otherwise."""


NOT_CHECKED = Standing()


def standings(checks: Iterable[Check]) -> dict[str, Standing]:
    """By the claim's key."""
    by_claim: dict[str, list[Check]] = {}
    for each in checks:
        by_claim.setdefault(each.claim, []).append(each)
    return {claim: _standing(found) for claim, found in by_claim.items()}


def _standing(checks: Sequence[Check]) -> Standing:
    newest = sorted(checks, key=lambda each: each.checked_at, reverse=True)
    deciding = [each for each in newest if each.verdict != "undecided"]
    chosen = (deciding or newest)[0]
    against = sum(each.verdict != chosen.verdict for each in deciding)
    return Standing(chosen.verdict, chosen, len(checks), against)


def standing_of(claim: str, known: Mapping[str, Standing]) -> Standing:
    return known.get(claim, NOT_CHECKED)


def status_named(text: str) -> str:
    """`not-reproduced`, `better` and the like; UsageError names what there is."""
    word = " ".join(text.lower().replace("-", " ").replace("_", " ").split())
    word = _ALSO.get(word, word)
    if word not in STATUSES:
        raise UsageError(f"there is no status `{text[:40]}`\nknown: {', '.join(STATUSES)}")
    return word
