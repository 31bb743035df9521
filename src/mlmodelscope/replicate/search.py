"""Which edit of a plan explains a claimed number, or which two.

Single edits race first. Where the best of them comes near, finer ones like it are tried; then what runs the model, the
samples being the same; and where no single edit will do, those that come nearest are each tried with every other one,
in turn. Where nothing comes to the claim, all that may be the cause race on until the calls are spent. What reproduces
the claimed number explains it only if the paired difference of the answers is significant.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from mlmodelscope.measure.facts import facts_of
from mlmodelscope.plan.plan import Plan
from mlmodelscope.replicate.assess import assess
from mlmodelscope.replicate.candidate import Candidate, rank
from mlmodelscope.replicate.confusion import consistency, other_orders
from mlmodelscope.replicate.goal import Goal
from mlmodelscope.replicate.pitfall import PITFALLS, Variant, finer_variants, variants_of
from mlmodelscope.replicate.race import Race, Told, Tried
from mlmodelscope.replicate.trial import Trials

_SINGLE, _ALL = 5.8, 11.8
"""Evaluations of the whole dataset that single edits, and all edits, may take unless a budget says otherwise."""
_FEW_CALLS = 2950
"""Calls of the model that they may take in any case: twelve evaluations of 250 samples."""
_BASES = 3
"""Single edits that are tried with every other one."""
_FOR_BASES = 0.7
"""Share of the calls left by single edits that pairs may take before the likeliest of them all go on."""
_MANY_CLASSES = 5
"""With fewer, almost any mistake looks like another order of the classes, so that this is asked last."""
_WORTH_TELLING = 0.45
"""Share of the gap that an edit closes which is told where nothing closes all of it."""


@dataclass(frozen=True)
class Separation:
    """A sample to which two explanations give different answers: who knows the claimant's knows the cause."""

    sample: str
    answers: tuple[tuple[str, int | None], ...]
    """(variant in words, the class that it answers)."""
    samples: int = 1
    """Samples whose answers would tell all of them apart."""


@dataclass(frozen=True)
class Found:
    """The end of a search: candidates, the best first."""

    candidates: tuple[Candidate, ...]
    explained: tuple[Candidate, ...]
    """Those that come to the claimed number, which is no coincidence; several cannot be told apart by that number."""
    rounds: tuple[tuple[int, int], ...]
    """(samples, variants) of each round."""
    separation: Separation | None = None
    """What would tell several explanations apart."""
    is_cut_short: bool = False
    """Whether the budget ended before the search did."""
    compatible: tuple[Candidate, ...] = ()
    """Those that come to the claimed number as well, which may be a coincidence; with `near`, on from there."""
    near: Candidate | None = None
    """What closes most of the gap, for certain, where nothing closes all of it."""
    budget: int | None = None
    """Where it was cut short: evaluations that would suffice, as far as can be said."""


@dataclass
class _State:
    """What is known in the course of a search."""

    race: Race
    goal: Goal
    trials: Trials
    single: float
    """How many calls the trials may have made when single edits have been tried."""
    all: float
    found: list[Candidate] = field(default_factory=list)

    @property
    def has_reached(self) -> bool:
        return any(each.reaches and each.seen == self.race.total for each in self.found)

    @property
    def has_single(self) -> bool:
        """Whether one edit alone comes to the claim."""
        return any(each.reaches and each.seen == self.race.total and len(each.pitfalls) == 1 for each in self.found)

    def run(self, variants: Sequence[Variant], until: float, is_last: bool = False) -> None:
        self.race.run(variants, until, is_last)
        self.found = self.race.candidates()

    def finish(self, plan: Plan) -> None:
        """Try it on all samples, where that is affordable."""
        self.race.finish(plan, self.all)
        self.found = self.race.candidates()

    def assess(self) -> None:
        self.found = assess(self.found, self.goal, self.trials, self.race)


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
    race = Race(goal, trials, told, tried)
    start, total = trials.cost.calls, race.total
    if budget is None:
        single, all_ = (start + max(share * total, _FEW_CALLS) for share in (_SINGLE, _ALL))
    else:
        single = all_ = start + budget * total
    state = _State(race, goal, trials, single, all_)
    variants = [each for each in trials.possible if _can_matter(each, goal)]
    about_stack = [each for each in variants if _is_about_stack(each)]
    state.run([each for each in variants if not _is_about_stack(each)], single)
    # What needs the model opened anew comes after what shares one.
    orders = other_orders(goal, trials)
    is_early = len(orders) > 0 and _classes(trials) >= _MANY_CLASSES
    stages: tuple[Callable[[Sequence[Candidate]], list[Variant]], ...] = (
        lambda _: orders if is_early else [],
        _finer,
        lambda _: about_stack,
    )
    for stage in stages:
        _go_on(state, stage, about_stack)
    if not state.has_reached:
        state.assess()
        _try_pairs(state, _nearest(state), len(orders) > 0)
    if orders and not is_early:
        _go_on(state, lambda _: orders, about_stack)
    state.assess()
    if not any(each.explains for each in state.found):
        # As long as calls are left, what may be the cause is not left open, nor what comes to the claim as well.
        state.run((), all_, is_last=True)
        state.assess()
    near = None if state.has_single else _nearest(state)
    spent = trials.cost.calls - start
    needed = math.ceil((spent + race.left_open) / total) if race.is_cut_short else None
    return _conclude(state, near, needed)


def _go_on(state: _State, stage: Callable[[Sequence[Candidate]], list[Variant]], known: Sequence[Variant]) -> None:
    """Try what a stage makes of what was found, where nothing comes to the claim yet."""
    if state.has_reached:
        return
    fresh = stage(state.found)
    if state.race.is_cut_short and not _needs_no_call(fresh):
        return
    state.trials.add(each for each in fresh if each not in known)
    state.run(fresh, state.single)


def _needs_no_call(variants: Sequence[Variant]) -> bool:
    """Another order of the classes reads the same answers otherwise."""
    return all(each.pitfalls == ("label-order",) for each in variants)


def _classes(trials: Trials) -> int:
    return len({trials.dataset.samples[at].label for at in trials.labelled})


def _nearest(state: _State) -> Candidate | None:
    """What closes most of the gap for certain, and has seen all samples.

    One edit, or two where they leave next to nothing of the gap and neither does alone.
    """
    singles = [each for each in state.found if len(each.pitfalls) == 1]
    pairs = [] if state.has_reached else [each for each in state.found if len(each.pitfalls) > 1 and each.is_near]
    chosen = [each for some in (singles, pairs) for each in sorted(some, key=lambda each: -each.closes)[:_BASES]]
    for each in sorted(chosen, key=lambda each: (not each.is_near, len(each.pitfalls), -each.closes)):
        if each.variant.base is not None:  # what the second of two adds shows where the first's answers are known
            state.finish(each.variant.base)
        elif not _is_worth_telling(each, state.goal):
            continue
        state.finish(each.variant.plan)
        state.assess()
        again = next((other for other in state.found if other.variant is each.variant), None)
        if again is None or not _is_worth_telling(again, state.goal):
            continue
        if again.is_near or len(again.pitfalls) == 1:
            return again
    return None


def _is_worth_telling(each: Candidate, goal: Goal) -> bool:
    """Whether it closes much of the gap for certain; what goes far beyond the claim does not explain it."""
    is_short = (goal.claim.value - each.expected) * goal.gap >= 0
    return each.closes >= _WORTH_TELLING and each.is_significant and (is_short or each.is_near)


def _try_pairs(state: _State, near: Candidate | None, is_ordered: bool) -> None:
    """Go on from what comes nearest, with a second edit of another pitfall; then from what comes next.

    `is_ordered`: the answers speak for another order of the classes. Then a number does not tell what an edit is worth,
    and the order is read off the answers of each.
    """
    race, cost = state.race, state.trials.cost
    if race.is_cut_short:
        return
    first = [near] if near is not None else []
    bases = [*first, *(each for each in _bases(state, is_ordered) if each.variant is not (near and near.variant))]
    known: set[tuple[str, ...]] = set()
    end = cost.calls + _FOR_BASES * (state.all - cost.calls)
    for base in bases:
        if state.has_reached:
            break
        least = 0.0 if base is bases[0] else _WORTH_TELLING
        if _closes_surely(base, state.goal) > least or is_ordered:
            # What a second edit changes is known best where the first one's answers are.
            state.finish(base.variant.plan)
        _try_seconds(state, base, known, cost.calls + _share(base, bases, near) * (state.all - cost.calls))
    for base in _common_bases(state, bases):
        if state.has_reached or race.is_cut_short or cost.calls >= end:
            break
        _try_seconds(state, base, known, end)
    if not state.has_reached:
        again = _of_two(_other_firsts(state.found), state.trials)
        again = [each for each in again if (*sorted(each.pitfalls), each.key) not in known]
        state.trials.add(again)
        state.run(again, state.all)
    reached = [each.variant.base for each in state.found if each.reaches and each.seen == race.total]
    for made in {id(each): each for each in reached if each is not None}.values():
        state.trials.ask([made], state.trials.labelled)


def _try_seconds(state: _State, base: Candidate, known: set[tuple[str, ...]], until: float) -> None:
    """Try an edit with every second one that it was not tried with yet."""
    race = state.race
    orders = other_orders(state.goal, state.trials, base.variant) if race.has_finished(base.variant.plan) else []
    fresh = [*orders, *_of_two(_pairs([base.variant], state.goal, state.trials), state.trials)]
    fresh = [each for each in fresh if (*sorted(each.pitfalls), each.key) not in known]
    known |= {(*sorted(each.pitfalls), each.key) for each in fresh}
    state.trials.add(fresh)
    state.run(fresh, until)


def _common_bases(state: _State, bases: Sequence[Candidate]) -> list[Candidate]:
    """The commonest edit of each other pitfall, the commonest pitfall first.

    Where two mistakes leave nothing right, neither does undoing one of them, so that no answer need have changed. A
    number that is no share of samples moves with nearly every edit, and none is hidden like that.
    """
    if state.goal.claim.measure.outcome is None:
        return []
    tried = {each.pitfalls for each in bases}
    best: dict[tuple[str, ...], Candidate] = {}
    for each in sorted(state.found, key=lambda each: -state.race.prior(each.variant)):
        if len(each.pitfalls) == 1 and each.pitfalls not in tried and not _is_about_stack(each.variant):
            best.setdefault(each.pitfalls, each)
    return list(best.values())


def _of_two(pairs: Sequence[Variant], trials: Trials) -> list[Variant]:
    """Those that are two edits: where the second overrides the first, it is one, which was tried by itself."""
    singles = [each.plan for each in trials.variants if len(each.pitfalls) == 1]

    def is_one(pair: Variant) -> bool:
        # Other names for the classes come out of the same pipeline.
        is_renamed = not {"label-offset", "label-order"}.isdisjoint(pair.pitfalls)
        return not is_renamed and any(trials.has_same_pipeline(pair.plan, plan) for plan in singles)

    return [each for each in pairs if not is_one(each)]


def _share(base: Candidate, bases: Sequence[Candidate], near: Candidate | None) -> float:
    """How much of what is left a base may take: the nearest comes first, and the others are not forgotten.

    Nor is what has been tried already: in the end the likeliest of all bases go on.
    """
    if base is bases[-1]:
        return 0.7
    return 0.75 if base is near else 0.5


def _conclude(state: _State, near: Candidate | None, needed: int | None) -> Found:
    found, race = state.found, state.race
    reached = [each for each in found if each.reaches and each.seen == race.total]
    # As long as others that were tried may be the cause, none is said to be it.
    explained = () if race.is_undecided else _best_of(each for each in reached if each.explains)
    compatible = () if explained else _best_of(reached)
    seconds = [each.variant.base for each in compatible if each.variant.base is not None]
    if explained or (near is not None and seconds and all(base is not near.variant.plan for base in seconds)):
        near = None  # what comes to the claim does not go on from there
    if state.goal.claim.measure.outcome is None:
        near = None  # nearly every edit moves such a number for certain, so that most of a gap is closed by coincidence
    named = [*explained, *([near] if near is not None else ()), *compatible]
    order = {each.variant.key: place for place, each in enumerate(named)}
    kinds = _evidence_of_kinds(found)

    def place(each: Candidate) -> tuple[float, ...]:
        # What changes no answer explains none, however little was seen of it.
        is_out = each.is_idle or not each.is_possible
        return order.get(each.variant.key, len(order)), is_out, -kinds[frozenset(each.pitfalls)], *rank(each)

    found = sorted(found, key=place)
    several = explained or compatible
    return Found(
        tuple(found),
        explained,
        tuple(race.rounds),
        _separation(several, state.trials),
        race.is_cut_short,
        compatible,
        near,
        needed,
    )


def _evidence_of_kinds(found: Sequence[Candidate]) -> dict[frozenset[str], float]:
    """Logarithm of how likely each kind of mistake is: that of all its variants together, as one of them is meant."""
    members: dict[frozenset[str], list[float]] = {}
    for each in found:
        members.setdefault(frozenset(each.pitfalls), []).append(each.evidence)
    return {
        kind: max(some) + math.log(sum(math.exp(each - max(some)) for each in some)) for kind, some in members.items()
    }


def _can_matter(variant: Variant, goal: Goal) -> bool:
    """Softmax keeps the order of the answers, so that nothing but their scores can show it."""
    return variant.pitfalls != ("softmax",) or goal.claim.measure.needs_scores or goal.theirs is not None


def _is_about_stack(variant: Variant) -> bool:
    return any(name in PITFALLS and PITFALLS[name].is_about_stack for name in variant.pitfalls)


def _bases(state: _State, is_ordered: bool) -> list[Candidate]:
    """The nearest of each pitfall: with two mistakes, undoing one of them mostly helps.

    Where two mistakes hide one another, undoing either makes it worse, so the commonest mistake is one of them, too;
    where the order of the classes is one of them, no number tells what undoing the other is worth, but how consistent
    its answers are.
    """

    def gained(plan: Plan) -> float:
        trials = state.trials
        seen = [at for at in trials.labelled if trials.is_known(plan, at)]
        return consistency(trials, plan, seen) - consistency(trials, trials.plan, seen)

    gains = {id(each.variant): gained(each.variant.plan) for each in state.found} if is_ordered else {}

    def gain(each: Candidate) -> float:
        return gains.get(id(each.variant), 0.0)

    def nearness(each: Candidate) -> tuple[float, bool, float]:
        surely = _closes_surely(each, state.goal)
        return gain(each), surely > 0, surely if surely > 0 else each.closes

    def prior(each: Candidate) -> float:
        return state.race.prior(each.variant)

    best: dict[tuple[str, ...], Candidate] = {}
    for each in sorted(state.found, key=nearness, reverse=True):
        if not _is_about_stack(each.variant) and len(each.pitfalls) == 1 and not each.is_idle:
            best.setdefault(each.pitfalls, each)
    near = list(best.values())
    if is_ordered:
        clearest = [each for each in near[:1] if gain(each) > 0]
        others = [each for each in near if each not in clearest]
        return [*clearest, *sorted(others, key=prior, reverse=True)][:_BASES]
    return [*near[:_BASES], *sorted(near[_BASES:], key=prior, reverse=True)[:1]]


def _closes_surely(each: Candidate, goal: Goal) -> float:
    """Share of the gap that it closes even if the samples it has seen flatter it by a standard deviation."""
    return each.closes - each.deviation / abs(goal.gap)


def _finer(found: Sequence[Candidate]) -> list[Variant]:
    """More edits like the best one, where it comes near: there are more crops than anybody could list."""
    best = found[0] if found else None
    if best is None or best.closes < _WORTH_TELLING or len(best.pitfalls) > 1:
        return []
    known = {each.variant.key for each in found}
    return [each for each in finer_variants(best.variant) if each.key not in known]


def _pairs(bases: Sequence[Variant], goal: Goal, trials: Trials) -> list[Variant]:
    """Each of these edits with a second one of another pitfall."""
    pairs: dict[tuple[str, ...], Variant] = {}
    for base in bases:
        for each in variants_of(base.plan, described=trials.described):
            names = (*base.pitfalls, *each.pitfalls)
            if len(set(names)) == len(names) and not _is_about_stack(each) and _can_matter(each, goal):
                common = base.commonness * each.commonness
                made = Variant(names, f"{base.words}; {each.words}", each.plan, base.plan, common)
                pairs.setdefault((*sorted(names), each.key), made)
    return list(pairs.values())


def _other_firsts(found: Sequence[Candidate]) -> list[Variant]:
    """The best two edits with another first one of its kind: which of them is right shows only with the second.

    Of each of the nearest kinds of two: one that is read off the answers, as another order of the classes is, may come
    as near as the truth.
    """
    best: dict[frozenset[str], Candidate] = {}
    for each in sorted(found, key=lambda each: -each.closes):
        if len(each.pitfalls) == 2 and each.variant.base is not None and each.closes >= _WORTH_TELLING:
            best.setdefault(frozenset(each.pitfalls), each)
    known = {each.variant.key for each in found}
    made = [each for pair in list(best.values())[:_BASES] for each in _with_other_first(pair.variant)]
    return [each for each in made if each.key not in known]


def _with_other_first(pair: Variant) -> list[Variant]:
    second = pair.words.partition("; ")[2]
    return [
        Variant(pair.pitfalls, f"{each.words}; {second}", each.plan, pair.base)
        for each in variants_of(pair.plan, pair.pitfalls[:1])
    ]


def _best_of(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """Of those that come to a claim, the simplest; where the claimant's answers are known, the most like them."""
    found = list(candidates)
    fewest = min((len(each.pitfalls) for each in found), default=0)
    found = [each for each in found if len(each.pitfalls) == fewest]
    agreement = max((each.agreement for each in found if each.agreement is not None), default=None)
    return tuple(each for each in found if agreement is None or each.agreement == agreement)


def _said(answer: Any) -> int | None:
    """The class that is answered, or how good an answer is that is more than a class, in thousandths."""
    if isinstance(answer, bytes):
        return round(1000 * float(facts_of(answer).get("quality", 0.0)))
    return int(answer.classes[0]) if answer is not None and answer.classes else None


def _separation(several: Sequence[Candidate], trials: Trials) -> Separation | None:
    if len(several) < 2:
        return None
    first = None
    known: list[tuple[int | None, ...]] = [() for _ in several]
    needed = 0
    for at in trials.labelled:
        answers = [trials.answer(each.variant.plan, at) for each in several]
        best = [_said(answer) for answer in answers]
        longer = [(*before, now) for before, now in zip(known, best, strict=True)]
        if len(set(longer)) > len(set(known)):
            known, needed = longer, needed + 1
            words = (each.variant.words for each in several)
            first = first or Separation(trials.dataset.samples[at].id, tuple(zip(words, best, strict=True)))
            if len(set(known)) == len(several):
                break
    return replace(first, samples=needed) if first is not None else None
