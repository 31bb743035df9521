"""Which edit of a plan explains a claimed number.

All variants are tried on a few samples, and those that cannot reach the claim any more are dropped; the others are
tried on twice as many, and so on, until few are left, which are tried on all. A variant's number on the samples that it
has not seen is not needed to judge it: the plan's own answers are known for all of them, and variants mostly give the
same ones. So what counts is the difference to the plan, sample by sample, which is known far better than either number.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

from mlmodelscope.dataset.sample import Dataset
from mlmodelscope.replicate.claim import Claim
from mlmodelscope.replicate.pitfall import Variant
from mlmodelscope.replicate.trial import Trials

_FIRST = 48
_SURVIVORS = {48: 20, 96: 12, 192: 6, 384: 4}
"""How many variants at the most go on when so many samples have been seen; beyond, two."""
_AT_LAST = 2
_SURE = 3.0  # standard deviations
_UNLIKELY = 1e-300


@dataclass(frozen=True)
class Candidate:
    """A variant, and what its number on all samples will be."""

    variant: Variant
    seen: int
    gained: int
    """Samples that it has right and the plan has wrong."""
    lost: int
    expected: float
    """Its share of right answers on all samples."""
    deviation: float
    """How far that may be off."""
    likelihood: float
    """Of the claimed number, were this variant what was measured."""
    agreement: float | None = None
    """Share of the claimant's own answers that it gives, where they are known."""

    @property
    def changes(self) -> int:
        return self.gained + self.lost


@dataclass(frozen=True)
class Found:
    """The end of a search: candidates, the best first."""

    candidates: tuple[Candidate, ...]
    explained: tuple[Candidate, ...]
    """Those whose number is the claimed one, as far as can be said; several cannot be told apart."""
    rounds: tuple[tuple[int, int], ...]
    """(samples, variants) of each round."""


Told = Callable[[str], None]


def search(claim: Claim, trials: Trials, margin: float, told: Told = lambda line: None) -> Found:
    """Find the single edit that explains a claim. The plan's own answers must be known for all samples."""
    samples = len(trials.dataset.samples)
    order = stratified_order(trials.dataset, trials.plan.seed)
    alive, dropped = list(trials.possible), []
    rounds = []
    seen = min(_FIRST, samples)
    while alive:
        told(f"{len(alive)} variants on {seen} samples")
        rounds.append((seen, len(alive)))
        trials.ask((each.plan for each in alive), order[:seen])
        found = sorted((judge(each, claim, trials, order[:seen], margin) for each in alive), key=_rank)
        possible = [each for each in found if is_possible(each, claim, margin)]
        keep = samples if seen == samples else _SURVIVORS.get(seen, _AT_LAST)
        kept = {each.variant.key for each in possible[:keep]}
        dropped += [each for each in found if each.variant.key not in kept]
        if seen == samples or not kept:
            alive_found = [each for each in found if each.variant.key in kept]
            explained = tuple(each for each in alive_found if abs(each.expected - claim.value) <= margin + 1e-12)
            return Found((*alive_found, *sorted(dropped, key=_rank)), explained, tuple(rounds))
        alive = [each for each in alive if each.key in kept]
        seen = min(2 * seen, samples)
    return Found((), (), ())


def judge(variant: Variant, claim: Claim, trials: Trials, seen: Sequence[int], margin: float) -> Candidate:
    k = 5 if claim.metric == "top5" else 1
    pairs = [(trials.is_right(trials.plan, at, k), trials.is_right(variant.plan, at, k)) for at in seen]
    gained = sum(now and not before for before, now in pairs)
    lost = sum(before and not now for before, now in pairs)
    samples = len(trials.dataset.samples)
    own = sum(trials.is_right(trials.plan, at, k) for at in range(samples)) / samples
    count = len(seen)
    difference = (gained - lost) / count
    left = math.sqrt((samples - count) / max(1, samples - 1))
    # Half a sample each way: of fifty that did not change, one in a hundred may.
    spread = math.sqrt(max(0.0, (gained + lost + 1) / count - difference**2) / count) * left
    expected = own + difference
    noise = max(spread, 0.5 / samples)
    curve = NormalDist(expected, noise)
    inside = curve.cdf(claim.value + margin) - curve.cdf(claim.value - margin)
    return Candidate(variant, count, gained, lost, expected, spread, max(inside, _UNLIKELY))


def is_possible(candidate: Candidate, claim: Claim, margin: float) -> bool:
    return abs(candidate.expected - claim.value) <= margin + _SURE * candidate.deviation + 1e-12


def stratified_order(dataset: Dataset, seed: int) -> list[int]:
    """All samples, so that every beginning of the list has its share of each class."""
    chance = random.Random(seed)
    by_class: dict[int | None, list[int]] = {}
    for at, sample in enumerate(dataset.samples):
        by_class.setdefault(sample.label, []).append(at)
    places: list[tuple[float, float, int]] = []
    for members in by_class.values():
        chance.shuffle(members)
        shift = chance.random()
        places += [((rank + shift) / len(members), chance.random(), at) for rank, at in enumerate(members)]
    return [at for _, _, at in sorted(places)]


def _rank(candidate: Candidate) -> tuple[float, float, int]:
    return -candidate.likelihood, candidate.deviation, candidate.changes
