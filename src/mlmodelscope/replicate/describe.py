"""Verdicts and causes in words."""

from __future__ import annotations

from collections.abc import Iterator

from mlmodelscope.replicate.search import Candidate, Found
from mlmodelscope.replicate.verdict import Verdict
from mlmodelscope.report import words


def describe_verdict(verdict: Verdict) -> str:
    """What was claimed, what was measured, and how sure that is."""
    claim, measured = verdict.claim, verdict.measured
    name = words.METRIC_NAMES[claim.metric]
    on = f" on {claim.dataset}" if claim.dataset else ""
    digits = max(2, len(claim.text.partition(".")[2]))
    number = f"{100 * measured.value:.{digits}f}"
    if verdict.population is not None and verdict.samples >= verdict.population:
        how = f"measured {number} % on all {words.count(verdict.samples)} samples"
    else:
        bounds = f"{100 * measured.low:.{digits}f} to {100 * measured.high:.{digits}f}"
        how = f"measured {number} % on {words.plural(verdict.samples, 'sample')} (95 %: {bounds})"
    said = f"{name} {claim.text} % is claimed{on}, {how}."
    if verdict.is_better:
        said += " It is better than claimed."
    if verdict.needed is not None:
        said += f" About {words.count(verdict.needed)} samples would decide it."
    if verdict.population is None:
        said += " How many samples the claim's dataset has is not known, so these count as a choice of endlessly many."
    return said


def describe_search(found: Found, verdict: Verdict) -> Iterator[str]:
    """What explains the gap, or that nothing does."""
    gap = 100 * verdict.gap
    if not found.explained:
        yield f"Nothing that was tried explains the gap of {gap:+.2f} points."
        return
    if len(found.explained) == 1:
        (cause,) = found.explained
        measured = f"with it, {100 * cause.expected:.2f} % is measured"
        yield f"{_spell(cause)} explains the gap of {gap:+.2f} points: {measured}."
        return
    yield f"{len(found.explained)} edits explain the gap of {gap:+.2f} points equally well:"
    for cause in found.explained:
        yield f"- {_spell(cause)}"


def _spell(candidate: Candidate) -> str:
    return f"{' and '.join(candidate.variant.pitfalls)} ({candidate.variant.words})"
