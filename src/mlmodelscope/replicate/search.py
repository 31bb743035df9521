"""Which edit of a plan explains a claimed number, or which two.

All variants are tried on a few samples; the likeliest are tried on twice as many, and so on, until those that may be
the cause have seen all. Those that cannot reach the claim any more are out. A variant's number on the samples that it
has not seen is not needed to judge it: the plan's own answers are known for all of them, and variants mostly give the
same ones. So what counts is the difference to the plan, sample by sample, which is known far better than either number.

Where no single edit will do, the ones that come nearest are each tried with every other one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mlmodelscope.plan.plan import Plan
from mlmodelscope.replicate.candidate import Candidate, Goal, judge, prior_of, rank
from mlmodelscope.replicate.pitfall import PITFALLS, Variant, finer_variants, variants_of
from mlmodelscope.replicate.stratified_sampling import Sampling, by_class, by_closeness, in_one_stratum
from mlmodelscope.replicate.trial import Trials
from mlmodelscope.report import words
from mlmodelscope.worker.variants import Answer

_FIRST = 32
_ALLOWANCE = 5.8
"""Evaluations of the whole dataset that a race may take, unless a budget says otherwise."""
_FEW_CALLS = 5800
"""Calls of the model that it may take in any case: a small dataset is soon tried."""
_TOGETHER = 2
"""Variants that are tried on more samples at a time, at the least; more where an even share of the calls allows it."""
_NO_WORSE = 1.5
"""Logarithm of how much less likely a variant may be than the one that it is tried with."""
_SETTLED = 0.05
"""How likely it may be, set against an explanation, that there is another one nobody has looked at."""
_HOPELESS = -9.2
"""Logarithm of how much less likely than the best a variant must be to be dropped: ten thousand times."""
_BASES = 3
"""Single edits that are tried with every other one."""
_WORTH_TELLING = 0.45
"""Share of the gap that an edit closes which is told where nothing closes all of it."""

Told = Callable[[str], None]
Tried = Callable[[int, Sequence[Mapping[str, Any]]], None]


@dataclass(frozen=True)
class Separation:
    """A sample to which two explanations give different answers: who knows the claimant's knows the cause."""

    sample: str
    answers: tuple[tuple[str, int | None], ...]
    """(variant in words, the class that it answers)."""


@dataclass(frozen=True)
class Found:
    """The end of a search: candidates, the best first."""

    candidates: tuple[Candidate, ...]
    explained: tuple[Candidate, ...]
    """Those whose number is the claimed one, as far as can be said; several cannot be told apart."""
    rounds: tuple[tuple[int, int], ...]
    """(samples, variants) of each round."""
    separation: Separation | None = None
    """What would tell several explanations apart."""
    is_cut_short: bool = False
    """Whether the budget ended before the search did."""

    @property
    def near(self) -> Candidate | None:
        """What closes most of the gap where nothing closes all of it."""
        best = self.candidates[0] if self.candidates and not self.explained else None
        return best if best is not None and best.closes >= _WORTH_TELLING else None


def search(
    goal: Goal,
    trials: Trials,
    told: Told = lambda line: None,
    budget: float | None = None,
    tried: Tried = lambda samples, variants: None,
) -> Found:
    """Find the edit that explains a claim, or two. The plan's own answers must be known for all samples.

    `budget` is in evaluations of the whole dataset.
    """
    race = Race(goal, trials, told, budget, tried)
    variants = [each for each in trials.possible if _can_matter(each, goal)]
    about_stack = [each for each in variants if _is_about_stack(each)]
    found = race.run(each for each in variants if not _is_about_stack(each))
    # What needs the model opened anew comes after what shares one, and two mistakes come last.
    stages: tuple[Callable[[Sequence[Candidate]], list[Variant]], ...] = (_finer, lambda _: about_stack, _pairs)
    for stage in stages:
        if race.is_cut_short or any(each.explains for each in found):
            break
        fresh = stage(found)
        trials.add(each for each in fresh if each not in about_stack)
        found = sorted((*found, *race.run(fresh)), key=rank)
    explained = _best_of(each for each in found if each.explains and each.seen == race.total)
    # Two mistakes that come out exactly are no better than one that nearly does: there are so many pairs.
    if explained and found[0].is_near and len(found[0].pitfalls) < len(explained[0].pitfalls):
        explained = ()
    order = {each.variant.key: place for place, each in enumerate(explained)}
    found = sorted(found, key=lambda each: (order.get(each.variant.key, len(order)), *rank(each)))
    return Found(tuple(found), explained, tuple(race.rounds), _separation(explained, trials), race.is_cut_short)


def _can_matter(variant: Variant, goal: Goal) -> bool:
    """Softmax keeps the order of the answers, so that nothing but their scores can show it."""
    return variant.pitfalls != ("softmax",) or goal.claim.measure.needs_scores or goal.theirs is not None


def _is_about_stack(variant: Variant) -> bool:
    return any(name in PITFALLS and PITFALLS[name].is_about_stack for name in variant.pitfalls)


class Race:
    """Variants that are tried on more samples as long as they may be the cause, the likeliest first."""

    def __init__(self, goal: Goal, trials: Trials, told: Told, budget: float | None, tried: Tried) -> None:
        self.rounds: list[tuple[int, int]] = []
        self.is_cut_short = False
        self._goal, self._trials, self._told, self._tried = goal, trials, told, tried
        self._sampling = sampling_of(trials, goal)
        self.total = len(self._sampling.order)
        self._sizes = _sizes(self.total)
        self._calls = max(_ALLOWANCE * self.total, _FEW_CALLS)
        self._end = None if budget is None else trials.cost.calls + budget * self.total
        self._variants = Counter(name for each in trials.variants for name in each.pitfalls)

    def run(self, variants: Iterable[Variant]) -> list[Candidate]:
        """All of them, the best first."""
        start = self._trials.cost.calls
        runners = self._advance([_Runner(each) for each in variants])
        while group := self._next(runners):
            affordable = int(self._left(start) / self._increment(group[0].judged.seen))
            if affordable < 1:
                self.is_cut_short = True
                break
            group = group[:affordable]
            others = [each for each in runners if each not in group]
            runners = [*others, *self._advance(group)]
        return sorted(self._merged(runners), key=rank)

    def _merged(self, runners: Sequence[_Runner]) -> list[Candidate]:
        """Those that gave the very same answers to all that they have seen are one, with the others' names."""
        heads: list[tuple[Candidate, list[Variant]]] = []
        known: dict[tuple[Answer | None, ...], list[Variant]] = {}
        for each in sorted(runners, key=lambda each: (-each.judged.seen, *rank(each.judged))):
            answers = self._answers(each.variant.plan, each.judged.seen)
            if answers in known:
                known[answers].append(each.variant)
                continue
            alike: list[Variant] = []
            heads.append((each.judged, alike))
            for size in self._sizes:
                # Of two that have changed nothing so far, nobody can say that they are alike.
                if size <= each.judged.seen and answers[:size] != self._answers(self._trials.plan, size):
                    known.setdefault(answers[:size], alike)
            known.setdefault(answers, alike)
        return [replace(candidate, alike=tuple(alike)) for candidate, alike in heads]

    def _answers(self, plan: Plan, size: int) -> tuple[Answer | None, ...]:
        return tuple(self._trials.answer(plan, at) for at in self._sampling.order[:size])

    def _left(self, start: int) -> float:
        """Calls that may still be made."""
        return (start + self._calls if self._end is None else self._end) - self._trials.cost.calls

    def _next(self, runners: Sequence[_Runner]) -> list[_Runner]:
        """Those to be tried on more samples: the likeliest, and those like it that have seen as many."""
        best = max((each.judged.evidence for each in runners), default=0.0)
        open_ones = [
            each
            for each in runners
            if each.judged.seen < self.total and each.judged.is_possible and each.judged.evidence >= best + _HOPELESS
        ]
        if not open_ones:
            return []
        done = [each.judged for each in runners if each.judged.seen == self.total and each.judged.explains]
        known = sum(math.exp(each.evidence) for each in done)
        if known and sum(math.exp(each.judged.evidence) for each in open_ones) < _SETTLED * known:
            return []
        first = min(open_ones, key=lambda each: rank(each.judged))
        equals = [
            each
            for each in open_ones
            if each.judged.seen == first.judged.seen and each.judged.evidence >= first.judged.evidence - _NO_WORSE
        ]
        return sorted(equals, key=lambda each: rank(each.judged))[: self._room(first.judged.seen)]

    def _room(self, seen: int) -> int:
        """How many go on together: many while samples are few and say little, few in the end."""
        return max(_TOGETHER, int(self._calls / len(self._sizes) / self._increment(seen)))

    def _increment(self, seen: int) -> int:
        return next(each for each in self._sizes if each > seen) - seen

    def _advance(self, runners: Sequence[_Runner]) -> list[_Runner]:
        """Try them on the next number of samples."""
        if not runners:
            return []
        now = runners[0].candidate.seen if runners[0].candidate is not None else 0
        size = next(each for each in self._sizes if each > now)
        seen, trials = self._sampling.order[:size], self._trials
        self._told(f"{words.plural(len(runners), 'variant')} on {words.count(size)} samples")
        trials.ask((each.variant.plan for each in runners), seen)
        runners = [each for each in runners if trials.is_possible(each.variant)]
        self.rounds.append((size, len(runners)))
        for each in runners:
            prior = prior_of(each.variant, self._variants)
            each.candidate = judge(each.variant, self._goal, trials, seen, self._sampling, prior)
        self._tried(size, _round(runners))
        return runners


def _round(runners: Sequence[_Runner]) -> list[dict[str, Any]]:
    """How they stand, which of them are out, and why."""
    best = max((each.judged.evidence for each in runners), default=0.0)
    found = []
    for each in runners:
        judged, why = each.judged, None
        if not judged.is_possible:
            why = "changes nothing" if not judged.changes else "cannot reach the claim"
        elif judged.evidence < best + _HOPELESS:
            why = "another one is far likelier"
        found.append(
            {
                "pitfalls": list(each.variant.pitfalls),
                "words": each.variant.words,
                "expected": judged.expected,
                "deviation": judged.deviation,
                "gained": judged.gained,
                "lost": judged.lost,
                "out": why is not None,
                "why": why,
            }
        )
    return found


@dataclass(eq=False)
class _Runner:
    variant: Variant
    candidate: Candidate | None = None

    @property
    def judged(self) -> Candidate:
        assert self.candidate is not None
        return self.candidate


def sampling_of(trials: Trials, goal: Goal) -> Sampling:
    labelled, seed = trials.labelled, trials.plan.seed
    if goal.claim.measure.outcome is None:
        known = set(labelled)
        return in_one_stratum([at for at in by_class(trials.dataset, seed) if at in known])
    answers = {at: trials.answer(trials.plan, at) for at in labelled}
    return by_closeness(trials.dataset, answers, labelled, seed)


def _sizes(total: int) -> list[int]:
    sizes = [min(_FIRST, total)]
    while sizes[-1] < total:
        # A last round for a handful of samples is not worth its name.
        sizes.append(2 * sizes[-1] if 3 * sizes[-1] <= total else total)
    return sizes


def _bases(found: Sequence[Candidate]) -> list[Candidate]:
    """The nearest of each pitfall: with two mistakes, undoing one of them mostly helps."""
    best: dict[tuple[str, ...], Candidate] = {}
    for each in sorted(found, key=lambda each: -each.closes):
        best.setdefault(each.pitfalls, each)
    return [each for each in best.values() if not _is_about_stack(each.variant)][:_BASES]


def _finer(found: Sequence[Candidate]) -> list[Variant]:
    """More edits like the best one, where it comes near: there are more crops than anybody could list."""
    best = found[0] if found else None
    if best is None or best.closes < _WORTH_TELLING or len(best.pitfalls) > 1:
        return []
    known = {each.variant.key for each in found}
    return [each for each in finer_variants(best.variant) if each.key not in known]


def _pairs(found: Sequence[Candidate]) -> list[Variant]:
    """The variants that come nearest, each with a second edit of another pitfall."""
    pairs: dict[str, Variant] = {}
    if found and found[0].is_near:
        return []
    for base in (each.variant for each in _bases(found)):
        for each in variants_of(base.plan):
            if each.pitfalls[0] not in base.pitfalls and not _is_about_stack(each):
                names = (*base.pitfalls, *each.pitfalls)
                pairs.setdefault(each.key, Variant(names, f"{base.words}; {each.words}", each.plan))
    return list(pairs.values())


def _best_of(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """Of those that explain a claim, the simplest; where the claimant's answers are known, the most like them."""
    found = list(candidates)
    fewest = min((len(each.pitfalls) for each in found), default=0)
    found = [each for each in found if len(each.pitfalls) == fewest]
    agreement = max((each.agreement for each in found if each.agreement is not None), default=None)
    return tuple(each for each in found if agreement is None or each.agreement == agreement)


def _separation(explained: Sequence[Candidate], trials: Trials) -> Separation | None:
    if len(explained) < 2:
        return None
    for at in trials.labelled:
        answers = [trials.answer(each.variant.plan, at) for each in explained]
        best = [answer.classes[0] if answer is not None and answer.classes else None for answer in answers]
        if len(set(best)) > 1:
            words = (each.variant.words for each in explained)
            return Separation(trials.dataset.samples[at].id, tuple(zip(words, best, strict=True)))
    return None
