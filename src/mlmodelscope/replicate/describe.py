"""Verdicts and causes in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mlmodelscope.replicate.candidate import Candidate
from mlmodelscope.replicate.search import Found
from mlmodelscope.replicate.verdict import Verdict
from mlmodelscope.report import words


def describe_verdict(verdict: Verdict) -> str:
    """What was claimed, what was measured, and how sure that is."""
    claim, measured = verdict.claim, verdict.measured
    on = f" on {claim.dataset}" if claim.dataset else ""
    digits = _digits(verdict)
    number = f"{100 * measured.value:.{digits}f}"
    where = f" of {verdict.stand_in}" if verdict.stand_in else ""
    if verdict.is_whole:
        how = f"measured {number} % on all {words.count(verdict.samples)} samples"
    else:
        bounds = f"{100 * measured.low:.{digits}f} to {100 * measured.high:.{digits}f}"
        how = f"measured {number} % on {words.plural(verdict.samples, 'sample')}{where} (95 %: {bounds})"
    said = [f"{claim.measure.title} {claim.text} % is claimed{on}, {how}.", *_apart(verdict), *_tied(verdict)]
    if verdict.needed is not None:
        said.append(f"About {words.count(verdict.needed)} samples would decide it.")
    if verdict.stand_in:
        said.append(
            f"The claim is about {claim.dataset}: {verdict.stand_in} is another dataset, and only stands in for it."
        )
    elif verdict.population is None:
        said.append(
            "How many samples the claim's dataset has is not known, so these count as a choice of endlessly many."
        )
    return " ".join(said)


def _apart(verdict: Verdict) -> Iterator[str]:
    """On a whole dataset, how many samples the difference is."""
    if not verdict.is_whole or verdict.kind == "reproduced" or verdict.claim.measure.outcome is None:
        return
    apart = verdict.samples_apart
    if apart:
        more = "more" if apart > 0 else "fewer"
        yield f"The difference is {words.count(abs(apart))} of {words.count(verdict.samples)} samples ({more})."
    elif apart is None:
        counts = verdict.counts
        below = counts.start - 1 if counts is not None else 0
        ends = (f"{each} would be {100 * each / verdict.samples:.{_digits(verdict)}f} %" for each in (below, below + 1))
        yield (
            f"No number of {words.count(verdict.samples)} samples comes to {verdict.claim.text} %: {', '.join(ends)}."
        )


def _tied(verdict: Verdict) -> Iterator[str]:
    """Both ends, where equal scores may matter."""
    tied = verdict.tied
    if tied is None:
        return
    digits = _digits(verdict)
    ends = (
        f"{100 * tied.against.value:.{digits}f} % with every tie broken against the label, "
        f"{100 * tied.favor.value:.{digits}f} % with every tie in its favor"
    )
    said = f"{words.plural(tied.samples, 'sample')} {'has' if tied.samples == 1 else 'have'} tied scores: {ends}."
    yield f"{said} The verdict depends on how ties are broken." if tied.decides else said


def _digits(verdict: Verdict) -> int:
    return max(2, len(verdict.claim.text.partition(".")[2]))


def describe_claims(verdicts: Iterable[Verdict], unchecked: Iterable[str]) -> Iterator[str]:
    """The verdicts on further claims, and the claims that have none."""
    for each in verdicts:
        yield f"{each.kind}: {describe_verdict(each)}"
    for line in unchecked:
        yield f"not checked: {line}."


def describe_paired(verdict: Verdict) -> Iterator[str]:
    """Our answers beside the claimant's own, where they are known."""
    paired = verdict.paired
    if paired is None:
        return
    yield (
        f"Of {words.count(paired.samples)} answers of the claimant, {100 * paired.agreement:.1f} % are the same; "
        f"{paired.only_theirs} are right only there and {paired.only_ours} only here "
        f"(McNemar's test: p = {paired.p_value:.2g})."
    )


def describe_search(found: Found, verdict: Verdict) -> Iterator[str]:
    """What explains the gap, or that nothing does."""
    gap = f"the gap of {100 * verdict.gap:+.2f} points"
    if len(found.explained) == 1:
        (cause,) = found.explained
        yield f"{_spell(cause)} explains {gap}: with it, {100 * cause.expected:.2f} % is measured."
        yield from _alike(cause)
    elif found.explained:
        yield f"{len(found.explained)} edits explain {gap} equally well:"
        for cause in found.explained:
            yield f"- {_spell(cause)}"
            yield from _alike(cause)
        yield from _separation(found)
    elif found.near is not None:
        near = found.near
        yield (
            f"Nothing that was tried explains {gap} exactly. Nearest is {_spell(near)}: with it, "
            f"{100 * near.expected:.2f} % is {'measured' if not near.deviation else 'expected'}, "
            f"which closes {100 * near.closes:.0f} % of it."
        )
        yield from _alike(near)
    else:
        yield f"Nothing that was tried explains {gap}."
    if found.is_cut_short:
        yield "Its budget was spent before the search was over: a larger one (`--budget`) resumes where it left off."


def _alike(cause: Candidate) -> Iterator[str]:
    if cause.alike:
        others = "; ".join(f"{' and '.join(each.pitfalls)} ({each.words})" for each in cause.alike)
        yield f"  The same answers, as far as they were tried, are given by: {others}."


def _separation(found: Found) -> Iterator[str]:
    if found.separation is None:
        yield "No sample of this dataset tells them apart by its answer."
        return
    answers = "; ".join(f"{words_} answers {number}" for words_, number in found.separation.answers)
    yield f"The claimant's answer to {found.separation.sample} would tell them apart: {answers}."


def _spell(candidate: Candidate) -> str:
    return f"{' and '.join(candidate.pitfalls)} ({candidate.variant.words})"
