"""Variants that are tried on more samples as long as they may be the cause, the likeliest first.

All variants are tried on a few samples; the likeliest are tried on twice as many, and so on, until those that may be
the cause have seen all. Those that cannot reach the claim any more are out. A variant's number on the samples that it
has not seen is not needed to judge it: the plan's own answers are known for all of them, and variants mostly give the
same ones. So what counts is the difference to the plan, sample by sample, which is known far better than either number;
of two edits, the difference to the first alone. What was tried stays in the race while other variants join it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mlmodelscope.errors import MetricError
from mlmodelscope.plan.plan import Plan
from mlmodelscope.replicate.baseline import Baseline, baseline_of
from mlmodelscope.replicate.candidate import Candidate, half_of_two, judge, prior_of, rank, spoken
from mlmodelscope.replicate.goal import Goal
from mlmodelscope.replicate.pitfall import Variant
from mlmodelscope.replicate.trial import Trials
from mlmodelscope.report import words

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
"""Logarithm of how unlikely a variant must be to be dropped, set against the best, or where no cause is among those
that were tried: ten thousand times."""
Told = Callable[[str], None]
Tried = Callable[[int, Sequence[Mapping[str, Any]]], None]


class Race:
    """One search's variants, samples and calls."""

    def __init__(self, goal: Goal, trials: Trials, told: Told, tried: Tried) -> None:
        self.rounds: list[tuple[int, int]] = []
        self.is_undecided = False
        """Whether some that were tried might still be the cause when the calls ended."""
        self._goal, self._trials, self._told, self._tried = goal, trials, told, tried
        self._own = baseline_of(trials.plan, goal, trials)
        self._baselines: dict[int, Baseline] = {}
        self.total = len(self._own.sampling.order)
        self._sizes = _sizes(self.total)
        self._variants = Counter(name for each in trials.variants for name in each.pitfalls)
        self._runners: list[_Runner] = []
        self._alone: dict[tuple[str, str], _Runner] = {}
        """Single edits by pitfall and words."""
        self._untried = self._unfinished = 0

    @property
    def left_open(self) -> int:
        """Calls that would have finished what the calls did not suffice for."""
        return self._untried + self._unfinished

    @property
    def is_cut_short(self) -> bool:
        return self.left_open > 0

    def prior(self, variant: Variant) -> float:
        return prior_of(variant, self._variants) + self._halves(variant)

    def _halves(self, variant: Variant) -> float:
        """What either edit of two does alone, as far as it was tried: undoing one of two mistakes mostly helps."""
        if len(variant.pitfalls) != 2:
            return 0.0
        halves = zip(variant.pitfalls, variant.words.split("; ", 1), strict=False)
        known = (self._alone.get(half) for half in halves)
        return sum(half_of_two(each.judged, self._goal) for each in known if each is not None)

    def baseline(self, variant: Variant) -> Baseline:
        """The first of two edits, where its answers were known when the two were tried; else the plan."""
        base = variant.base
        if base is None:
            return self._own
        if id(base) not in self._baselines:
            is_known = self.has_finished(base)
            self._baselines[id(base)] = baseline_of(base, self._goal, self._trials) if is_known else self._own
        return self._baselines[id(base)]

    def has_finished(self, plan: Plan) -> bool:
        """Whether a plan has been tried on all samples in this race, whatever was kept from an earlier one."""
        return any(each.variant.plan is plan and each.judged.seen == self.total for each in self._runners)

    def run(self, variants: Iterable[Variant], until: float, is_last: bool = False) -> None:
        """Let more variants join; `until` is how many calls the trials may have made altogether.

        It ends where no variant is likely to be the cause, so that others can be tried; the last time, it does not.
        """
        start = self._trials.cost.calls
        fresh = list(variants)
        # Other names for the same classes need no call, and so no race.
        free = [each for each in fresh if self._trials.has_same_pipeline(each.plan, self.baseline(each).plan)]
        chosen, first = self._affordable([each for each in fresh if each not in free], until - start)
        self._advance([_Runner(each) for each in free], self.total)
        self._advance([_Runner(each) for each in chosen], first)
        self.is_undecided, self._unfinished = False, 0
        while group := self._next(until - start, is_last):
            affordable = int((until - self._trials.cost.calls) / self._increment(group[0].judged.seen))
            if affordable < 1:
                self.is_undecided = True
                self._unfinished = sum(self.total - each.judged.seen for each in self._open_ones())
                break
            self._advance(group[:affordable])

    def finish(self, plan: Plan, until: float) -> None:
        """Try a plan that is in the race on all samples, where that is affordable."""
        for runner in self._runners:
            left = self.total - runner.judged.seen
            if runner.variant.plan is plan and left and self._trials.cost.calls + left <= until:
                self._trials.ask([plan], self._trials.labelled)
                self.rounds.append((self.total, 1))
                runner.candidate = self._judge(runner.variant, self.total)

    def candidates(self) -> list[Candidate]:
        """All that were tried, the best first."""
        return sorted(self._merged(), key=rank)

    def _judge(self, variant: Variant, size: int) -> Candidate:
        baseline = self.baseline(variant)
        seen = baseline.sampling.order[:size]
        return judge(variant, self._goal, self._trials, seen, baseline, self.prior(variant))

    def _affordable(self, variants: list[Variant], calls: float) -> tuple[list[Variant], int]:
        """(the variants that can be tried at all, on how many samples first); the likeliest, where not all can."""
        for first in _FIRST:
            size = min(first, self.total)
            if len(variants) * size <= _FOR_FIRST * calls:
                return variants, size
        most = max(0, int(_FOR_FIRST * calls / size))
        if most < len(variants):
            self._untried += self.total * (len(variants) - most)
            variants = sorted(variants, key=lambda each: -self.prior(each))[:most]
        return variants, size

    def _merged(self) -> list[Candidate]:
        """Those that gave the very same answers to all that they have seen are one, with the others' names."""
        heads: list[tuple[Candidate, list[Variant]]] = []
        known: dict[tuple[object, ...], list[Variant]] = {}
        for each in sorted(self._runners, key=lambda each: (-each.judged.seen, *rank(each.judged))):
            keys = self._alike_by(each)
            alike = next((known[key] for key in keys if key in known), None)
            if alike is not None:
                alike.append(each.variant)
                continue
            alike = []
            heads.append((each.judged, alike))
            for key in keys:
                known.setdefault(key, alike)
            baseline = self.baseline(each.variant)
            for size in self._sizes:
                answers, others = (self._answers(plan, baseline, size) for plan in (each.variant.plan, baseline.plan))
                # Of two that have changed nothing so far, nobody can say that they are alike.
                if size <= each.judged.seen and answers != others:
                    known.setdefault((id(baseline), answers), alike)
        return [replace(candidate, alike=tuple(alike)) for candidate, alike in heads]

    def _alike_by(self, runner: _Runner) -> list[tuple[object, ...]]:
        """What it has in common with those that are like it: compared with the same plan, or seen everywhere."""
        variant, seen = runner.variant, runner.judged.seen
        baseline = self.baseline(variant)
        found: list[tuple[object, ...]] = [(id(baseline), self._answers(variant.plan, baseline, seen))]
        if seen == self.total and not runner.judged.is_idle:
            found.append((len(variant.pitfalls), self._answers(variant.plan, self._own, seen)))
        return found

    def _answers(self, plan: Plan, baseline: Baseline, size: int) -> tuple[object, ...]:
        """What is answered to the first samples: the classes, with their scores where the claim is about those."""
        found = (self._trials.answer(plan, at) for at in baseline.sampling.order[:size])
        return tuple(spoken(each, self._goal.claim.measure) for each in found)

    def _open_ones(self) -> list[_Runner]:
        """Those that may still be the cause and have not seen all samples."""
        best = max((each.judged.evidence for each in self._runners), default=0.0)
        return [
            each
            for each in self._runners
            if each.judged.seen < self.total and each.judged.is_possible and each.judged.evidence >= best + _HOPELESS
        ]

    def _next(self, calls: float, is_last: bool) -> list[_Runner]:
        """Those to be tried on more samples: the likeliest, and those like it that have seen as many."""
        open_ones = self._open_ones()
        if not open_ones:
            return []
        done = [each.judged for each in self._runners if each.judged.seen == self.total and each.judged.reaches]
        known = sum(math.exp(each.evidence) for each in done)
        if known and sum(math.exp(each.judged.evidence) for each in open_ones) < _SETTLED * known:
            return []
        first = max(open_ones, key=lambda each: each.judged.promise)
        # Whatever was thought before: two edits are rarer than one, and may be what the samples speak for.
        if not is_last and max(each.judged.promise - self.prior(each.variant) for each in open_ones) < _HOPELESS:
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

    def _advance(self, runners: Sequence[_Runner], first: int = 0) -> None:
        """Try them on the next number of samples; those that are new, on the first."""
        if not runners:
            return
        now = runners[0].candidate.seen if runners[0].candidate is not None else first - 1
        size = next(each for each in self._sizes if each > now)
        if first < self.total:
            self._told(f"{words.plural(len(runners), 'variant')} on {words.count(size)} samples")
        orders: dict[tuple[int, ...], list[Plan]] = {}
        for each in runners:
            orders.setdefault(self.baseline(each.variant).sampling.order[:size], []).append(each.variant.plan)
        for seen, plans in orders.items():
            self._trials.ask(plans, seen)
        possible = [each for each in runners if self._trials.is_possible(each.variant)]
        self.rounds.append((size, len(possible)))
        new = [each for each in possible if each.candidate is None]
        gone = [each for each in possible if not self._has_number(each, size)]
        self._runners = [each for each in (*self._runners, *new) if each not in gone]
        for each in new:
            if len(each.variant.pitfalls) == 1 and each not in gone:
                self._alone.setdefault((each.variant.pitfalls[0], each.variant.words), each)
        self._tried(size, _round([each for each in possible if each not in gone]))

    def _has_number(self, runner: _Runner, size: int) -> bool:
        """Judge it; one that answers nothing, or nothing that the claim's number can be computed of, explains none."""
        try:
            runner.candidate = self._judge(runner.variant, size)
        except MetricError:
            baseline = self.baseline(runner.variant)
            # Where the plan's own answers have none either, it is the samples' fault.
            self._goal.claim.measure.number(self._trials.rows(baseline.plan, baseline.sampling.order[:size]))
            return False
        return True


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


def _sizes(total: int) -> list[int]:
    sizes = [min(_FIRST[-1], total)]
    while sizes[-1] < total:
        # A last round for a handful of samples is not worth its name.
        sizes.append(2 * sizes[-1] if 3 * sizes[-1] <= total else total)
    return sizes
