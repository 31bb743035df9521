"""Variants that are tried on more samples as long as they may be the cause, the likeliest first.

All variants are tried on a few samples; the likeliest are tried on twice as many, and so on, until those that may be
the cause have seen all. Those that cannot reach the claim any more are out. A variant's number on the samples that it
has not seen is not needed to judge it: the plan's own answers are known for all of them, and variants mostly give the
same ones. So what counts is the difference to the plan, sample by sample, which is known far better than either number.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mlmodelscope.plan.plan import Plan
from mlmodelscope.replicate.candidate import Candidate, Goal, judge, prior_of, rank
from mlmodelscope.replicate.pitfall import Variant
from mlmodelscope.replicate.stratified_sampling import Sampling, by_class, by_closeness, in_one_stratum
from mlmodelscope.replicate.trial import Trials
from mlmodelscope.report import words
from mlmodelscope.worker.variants import Answer

_FIRST = (32, 16, 8)
"""Samples that all variants are tried on: the most of these that leaves enough to try the likely ones on more."""
_FOR_FIRST = 0.5
"""Share of the calls that may go into that."""
_TOGETHER = 2
"""Variants that are tried on more samples at a time, at the least; more where an even share of the calls allows it."""
_NO_WORSE = 1.5
"""Logarithm of how much less likely a variant may be than the one that it is tried with."""
_SETTLED = 0.05
"""How likely it may be, set against an explanation, that there is another one nobody has looked at."""
_HOPELESS = -9.2
"""Logarithm of how much less likely than the best a variant must be to be dropped: ten thousand times."""
_UNLIKELY = -11.5
"""How promising the best must be, as a logarithm: below that, a cause not among them is a hundred times likelier."""

_NO_END = 1 << 40
"""Calls that nobody will ever make."""

Told = Callable[[str], None]
Tried = Callable[[int, Sequence[Mapping[str, Any]]], None]


class Race:
    """One search's variants, samples and calls."""

    def __init__(self, goal: Goal, trials: Trials, told: Told, tried: Tried) -> None:
        self.rounds: list[tuple[int, int]] = []
        self.left_open = 0
        """Calls that would have finished what the calls did not suffice for."""
        self.is_undecided = False
        """Whether some that were tried might still be the cause when the calls ended."""
        self._goal, self._trials, self._told, self._tried = goal, trials, told, tried
        self.sampling = sampling_of(trials, goal)
        self.total = len(self.sampling.order)
        self._sizes = _sizes(self.total)
        self._variants = Counter(name for each in trials.variants for name in each.pitfalls)

    @property
    def is_cut_short(self) -> bool:
        return self.left_open > 0

    def prior(self, variant: Variant) -> float:
        return prior_of(variant, self._variants)

    def run(self, variants: Iterable[Variant], until: float) -> list[Candidate]:
        """All of them, the best first; `until` is how many calls the trials may have made altogether."""
        start = self._trials.cost.calls
        until = min(until, start + _NO_END)
        chosen, first = self._affordable(list(variants), until - start)
        runners = self._advance([_Runner(each) for each in chosen], first)
        while group := self._next(runners, until - start):
            affordable = int((until - self._trials.cost.calls) / self._increment(group[0].judged.seen))
            if affordable < 1:
                self.is_undecided = True
                self.left_open += sum(self.total - each.judged.seen for each in self._open_ones(runners))
                break
            group = group[:affordable]
            others = [each for each in runners if each not in group]
            runners = [*others, *self._advance(group)]
        return sorted(self._merged(runners), key=rank)

    def finish(self, candidate: Candidate, until: float) -> Candidate:
        """The same candidate, once it has seen all samples; as it is where that is not affordable."""
        if candidate.seen == self.total or self._trials.cost.calls + self.total - candidate.seen > until:
            return candidate
        order = self.sampling.order
        self._trials.ask([candidate.variant.plan], order)
        self.rounds.append((self.total, 1))
        prior = self.prior(candidate.variant)
        judged = judge(candidate.variant, self._goal, self._trials, order, self.sampling, prior)
        return replace(judged, alike=candidate.alike)

    def _affordable(self, variants: list[Variant], calls: float) -> tuple[list[Variant], int]:
        """(the variants that can be tried at all, on how many samples first); the likeliest, where not all can."""
        for first in _FIRST:
            size = min(first, self.total)
            if len(variants) * size <= _FOR_FIRST * calls:
                return variants, size
        most = max(0, int(_FOR_FIRST * calls / size))
        if most < len(variants):
            self.left_open += self.total * (len(variants) - most)
            variants = sorted(variants, key=lambda each: -self.prior(each))[:most]
        return variants, size

    def _merged(self, runners: Sequence[_Runner]) -> list[Candidate]:
        """Those that gave the very same answers to all that they have seen are one, with the others' names."""
        heads: list[tuple[Candidate, list[Variant]]] = []
        known: dict[tuple[Answer | tuple[int, ...] | None, ...], list[Variant]] = {}
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

    def _answers(self, plan: Plan, size: int) -> tuple[Answer | tuple[int, ...] | None, ...]:
        """What is answered to the first samples: the classes, with their scores where the claim is about those."""
        found = (self._trials.answer(plan, at) for at in self.sampling.order[:size])
        if self._goal.claim.measure.needs_scores:
            return tuple(found)
        return tuple(None if each is None else each.classes for each in found)

    def _open_ones(self, runners: Sequence[_Runner]) -> list[_Runner]:
        """Those that may still be the cause and have not seen all samples."""
        best = max((each.judged.evidence for each in runners), default=0.0)
        return [
            each
            for each in runners
            if each.judged.seen < self.total and each.judged.is_possible and each.judged.evidence >= best + _HOPELESS
        ]

    def _next(self, runners: Sequence[_Runner], calls: float) -> list[_Runner]:
        """Those to be tried on more samples: the likeliest, and those like it that have seen as many."""
        open_ones = self._open_ones(runners)
        if not open_ones:
            return []
        done = [each.judged for each in runners if each.judged.seen == self.total and each.judged.reaches]
        known = sum(math.exp(each.evidence) for each in done)
        if known and sum(math.exp(each.judged.evidence) for each in open_ones) < _SETTLED * known:
            return []
        first = max(open_ones, key=lambda each: each.judged.promise)
        if first.judged.promise < _UNLIKELY:
            return []
        equals = [
            each
            for each in open_ones
            if each.judged.seen == first.judged.seen and each.judged.promise >= first.judged.promise - _NO_WORSE
        ]
        # Many go on together while samples are few and say little, few in the end.
        room = max(_TOGETHER, int(calls / len(self._sizes) / self._increment(first.judged.seen)))
        return sorted(equals, key=lambda each: -each.judged.promise)[:room]

    def _increment(self, seen: int) -> int:
        return next(each for each in self._sizes if each > seen) - seen

    def _advance(self, runners: Sequence[_Runner], first: int = 0) -> list[_Runner]:
        """Try them on the next number of samples."""
        if not runners:
            return []
        now = runners[0].candidate.seen if runners[0].candidate is not None else first - 1
        size = next(each for each in self._sizes if each > now)
        seen, trials = self.sampling.order[:size], self._trials
        self._told(f"{words.plural(len(runners), 'variant')} on {words.count(size)} samples")
        trials.ask((each.variant.plan for each in runners), seen)
        runners = [each for each in runners if trials.is_possible(each.variant)]
        self.rounds.append((size, len(runners)))
        for each in runners:
            each.candidate = judge(each.variant, self._goal, trials, seen, self.sampling, self.prior(each.variant))
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
    sizes = [min(_FIRST[-1], total)]
    while sizes[-1] < total:
        # A last round for a handful of samples is not worth its name.
        sizes.append(2 * sizes[-1] if 3 * sizes[-1] <= total else total)
    return sizes
