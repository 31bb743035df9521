"""Verdicts and causes in words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from mlmodelscope.diff.result import Difference
from mlmodelscope.replicate.candidate import Candidate
from mlmodelscope.replicate.inside import Inside
from mlmodelscope.replicate.search import Found
from mlmodelscope.replicate.verdict import Verdict
from mlmodelscope.report import words

_MOST = 0.8
"""Share of a dataset's samples that tells apart what comes to the same number on fewer."""


def describe_verdict(verdict: Verdict) -> str:
    """What was claimed, what was measured, and how sure that is."""
    claim, measured = verdict.claim, verdict.measured
    on = f" on {claim.dataset}" if claim.dataset else ""
    number = claim.spelled(measured.value)
    where = f" of {verdict.stand_in}" if verdict.stand_in else ""
    if verdict.is_whole:
        how = f"measured {number} on all {words.count(verdict.samples)} samples"
    else:
        bounds = " to ".join(f"{claim.factor * end:.{claim.digits(2)}f}" for end in (measured.low, measured.high))
        how = f"measured {number} on {words.plural(verdict.samples, 'sample')}{where} (95 %: {bounds})"
    said = [f"{claim.measure.title} {claim.published} is claimed{on}, {how}.", *_apart(verdict), *_tied(verdict)]
    if verdict.is_partial:
        of = f" of {words.count(verdict.population)}" if verdict.population is not None else ""
        said.append(
            f"It is computed on {words.count(verdict.samples)}{of} samples, and {claim.measure.title} of some samples "
            "is not an estimate of that of all: only the whole dataset decides it."
        )
    elif verdict.needed is not None:
        said.append(f"About {words.count(verdict.needed)} samples would decide it.")
    if verdict.is_other_split:
        said.append(
            f"The claim is about {claim.dataset}, and {verdict.stand_in} was measured: a number of another split does "
            "not decide it."
        )
    elif verdict.stand_in:
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
        spelled = verdict.claim.spelled
        ends = (f"{each} would be {spelled(each / verdict.samples)}" for each in (below, below + 1))
        said = f"No number of {words.count(verdict.samples)} samples comes to {verdict.claim.published}"
        yield f"{said}: {', '.join(ends)}."


def _tied(verdict: Verdict) -> Iterator[str]:
    """Both ends, where equal scores may matter."""
    tied = verdict.tied
    if tied is None:
        return
    spelled = verdict.claim.spelled
    ends = (
        f"{spelled(tied.against.value)} with every tie broken against the label, "
        f"{spelled(tied.favor.value)} with every tie in its favor"
    )
    said = f"{words.plural(tied.samples, 'sample')} {'has' if tied.samples == 1 else 'have'} tied scores: {ends}."
    yield f"{said} The verdict depends on how ties are broken." if tied.decides else said


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
    """What explains the gap, what may, or that nothing does."""
    gap, spelled = f"the gap of {verdict.claim.apart(verdict.gap, signed=True)}", verdict.claim.spelled
    if len(found.explained) == 1:
        (cause,) = found.explained
        yield f"{_spell(cause)} explains {gap}: with it, {spelled(cause.expected)} is measured."
        yield f"  {_capital(_split(cause, found))}."
        yield from _alike(cause)
    elif found.explained:
        yield f"One of {len(found.explained)} edits explains {gap}; they come to the same number, the likeliest first:"
        yield from _listed(found.explained, found)
        yield from _separation(found, verdict)
    elif found.near is not None:
        near = found.near
        how = "measured" if not near.deviation else "expected"
        yield (
            f"{_spell(near)} explains {100 * near.closes:.0f} % of {gap}: with it, {spelled(near.expected)} is {how}."
        )
        yield f"  {_capital(_split(near, found))}."
        yield from _alike(near)
        yield from _rest(found, near, verdict)
    else:
        yield f"Nothing that was tried explains {gap}."
        if found.compatible:
            yield "It is compatible with the following, which come to the claimed number, as chance alone might:"
            yield from _listed(found.compatible, found)
            yield from _separation(found, verdict)
    if found.is_cut_short:
        enough = f": `--budget {found.budget}` would let it finish, and" if found.budget else "; a larger `--budget`"
        yield f"The search ran out of budget{enough} resumes where it left off."


def describe_inside(inside: Inside, verdict: Verdict) -> Iterator[str]:
    """What a reference implementation, or the claimant's answers, say about the model itself."""
    distance = inside.answers
    if distance is not None and distance.judgment in ("same bits", "rounding"):
        yield (
            f"Our answers to {words.plural(distance.samples, 'sample')} are the claimant's but for rounding "
            f"({distance.words}): neither the pipeline nor the model explains the gap."
        )
    elif distance is not None:
        yield f"Our answers are not the claimant's: {distance.words}."
    if inside.note:
        yield inside.note
    if inside.difference is not None:
        yield from _inside(inside, inside.difference, verdict)


def _inside(inside: Inside, found: Difference, verdict: Verdict) -> Iterator[str]:
    beside = f"Layer by layer beside {inside.reference}"
    if found.outcome == "same":
        yield f"{beside}: {found.sentence}. The model is not at fault."
        return
    if found.outcome != "different":
        yield f"{beside}, nothing was found out: {found.sentence.rstrip('.')}."
        return
    if inside.layer is not None and found.first is not None:
        kind = f" ({found.first.pair.kind})" if found.first.pair.kind else ""
        what = "is the first layer that differs"
        at = "" if inside.layer == found.first.pair.name else f", seen at {found.first.pair.name}"
        yield f"{beside}, {inside.layer}{kind if not at else ''} {what}{at}: it {found.first.words}."
        if inside.fault is not None:
            yield f"  It looks like {inside.fault.kind}: {inside.fault.words}."
    others = [part for part in found.parts if part.verdict == "differs" and part.part != "model"]
    for part in others:
        yield f"{beside}, the {part.part} differs: {part.words}."
    if inside.layer is None and not others:
        yield f"{beside}: {found.sentence}."
    yield from _reference_measures(inside, verdict)


def _reference_measures(inside: Inside, verdict: Verdict) -> Iterator[str]:
    if inside.measured is None:
        return
    said = f"{inside.reference} measures {verdict.claim.spelled(inside.measured)} on the same samples"
    if inside.reaches:
        yield f"{said}, which is what was claimed: the difference explains the gap."
    else:
        yield f"{said}, which is not what was claimed: the difference is not all of the gap."


def _listed(candidates: tuple[Candidate, ...], found: Found) -> Iterator[str]:
    for each in candidates:
        yield f"- {_spell(each)}: {_split(each, found)}"
        yield from _alike(each)


def _rest(found: Found, near: Candidate, verdict: Verdict) -> Iterator[str]:
    """What may explain what the nearest leaves open."""
    left = verdict.claim.apart(abs(near.expected - verdict.claim.value))
    seconds = [each for each in found.compatible if each.variant.base is not None]
    if not seconds:
        yield f"Nothing that was tried with it explains the other {left}."
        return
    yield f"The other {left} are compatible with a second edit, as chance alone might make them:"
    yield from _listed(tuple(seconds), found)


def _split(cause: Candidate, found: Found) -> str:
    """How sure it is, by the samples that tell it from the manifest, or a second edit from the first."""
    split, tried = cause.split, len(found.candidates)
    said = f"p = {cause.chance:.2g}" if cause.chance is not None and cause.chance >= 1e-6 else "p < 1e-6"
    if split is None:
        return f"by chance alone {said}, corrected for {words.plural(tried, 'variant')}"
    what = "second edit" if cause.variant.base is not None else "edit"
    return (
        f"{split.toward} of the {words.plural(split.size, 'sample')} that the {what} changes speak for it "
        f"({said}, corrected for {words.plural(tried, 'variant')})"
    )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _alike(cause: Candidate) -> Iterator[str]:
    if cause.alike:
        others = "; ".join(f"{' and '.join(each.pitfalls)} ({each.words})" for each in cause.alike)
        yield f"  The same answers, as far as they were tried, are given by: {others}."


def _separation(found: Found, verdict: Verdict) -> Iterator[str]:
    """What would tell several apart."""
    if verdict.population is not None and verdict.samples < verdict.population:
        # What two of them differ by on all samples is seen once those left out weigh less than half of it.
        yield f"About {words.count(math.ceil(_MOST * verdict.population))} samples would tell them apart."
    separation = found.separation
    if separation is None:
        if len(found.explained or found.compatible) > 1:
            yield "No sample of this dataset tells them apart by its answer."
        return
    answers = "; ".join(f"{words_} answers {number}" for words_, number in separation.answers)
    if separation.samples == 1:
        yield f"The claimant's answer to {separation.sample} would tell them apart: {answers}."
    else:
        yield (
            f"The claimant's answers to {separation.samples} samples would tell them apart, "
            f"such as that to {separation.sample}: {answers}."
        )


def _spell(candidate: Candidate) -> str:
    return f"{' and '.join(candidate.pitfalls)} ({candidate.variant.words})"
